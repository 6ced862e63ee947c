"""Populations drawn from a pilot: around it, and less so the smaller it is."""

import numpy as np
import pytest

from passband import Outcomes
from passband.stats.decision.planning.simulation import Laws, draw_laws, posterior_of_betas
from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import fit_mixture
from passband.stats.metric.registry import parse_metric


def drawn(problems: int, share: float = 1.0) -> Laws:
    rng = np.random.default_rng(problems)
    pilot = Outcomes.from_counts(rng.binomial(8, rng.beta(0.5, 0.7, problems)), 8)
    return draw_laws(pilot.histogram, 400, np.random.default_rng(0), share=share)


def test_draws_are_distributions() -> None:
    laws = drawn(30)
    assert laws.weights.sum(axis=1) == pytest.approx(1.0)
    assert (laws.weights > 0.0).all()
    assert (laws.problems.sum(axis=1) == 30).all()


def test_a_large_pilot_fixes_the_population() -> None:
    metric = parse_metric("pass@1")
    large, small, loose = (drawn(3000), drawn(30), drawn(30, 0.5))
    between = 0.5 / 1.2 * 0.7 / 1.2 / 2.2  # of a Beta(.5, .7)
    assert large.between(metric).mean() == pytest.approx(between, rel=0.05)
    assert large.within(metric, 4).mean() == pytest.approx(between * 1.2 / 4, rel=0.05)
    spreads = [(laws.weights @ points()).std() for laws in (large, small, loose)]
    assert spreads == sorted(spreads)


def test_the_betas_are_weighted_as_the_interval_weights_them() -> None:
    grid = CountGrid((4,))
    counts = np.array([[5.0, 0.0, 2.0, 1.0, 2.0], [0.0, 10.0, 0.0, 0.0, 0.0]])
    predictive = posterior_of_betas(grid, counts) @ grid.beta_binomial
    assert predictive == pytest.approx(fit_mixture(grid, counts).predictive)
