"""Populations drawn from a pilot: around it, and less so the smaller it is."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.decision.planning.simulation import (
    Laws,
    SimulatedWidths,
    draw_laws,
    simulated_widths,
)
from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import fit_mixture, posterior_of_betas
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


PILOT = Outcomes.from_counts([0, 0, 0, 1, 3, 5, 8, 0, 0, 2], 8)


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("metric", ["pass@1", "pass@4", "pass^4", "mg-pass@4", "bayes@1"])
def test_a_simulated_run_has_the_width_of_its_estimate(
    over: Any, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = parse_metric("bayes" if metric == "bayes@1" else metric)
    widths = simulated_widths(PILOT, wanted, over, 0.9)
    widths = replace(widths, laws=replace(widths.laws, margin=1.0))
    kept: list[np.ndarray] = []
    plain = SimulatedWidths._counts

    def counts(self: SimulatedWidths, *given: Any) -> Any:
        kept.append(plain(self, *given))
        return kept[-1]

    monkeypatch.setattr(SimulatedWidths, "_counts", counts)
    found = widths.at(12 if over == "problems" else None, 6)
    for row in range(0, 400, 57):
        successes = np.repeat(np.arange(7), kept[0][row].astype(int))
        result = estimate(Outcomes.from_counts(successes, 6), wanted.name, over=over, level=0.9)
        assert result.low is not None
        assert result.high is not None
        assert found[row] == pytest.approx((result.high - result.low) / 2.0, abs=1e-9)


def test_large_designs_are_scaled() -> None:
    widths = simulated_widths(PILOT, parse_metric("pass@1"), "problems", 0.95)
    assert widths.at(80_000, 4) == pytest.approx(widths.at(20_000, 4) / 2.0)
    over = simulated_widths(PILOT, parse_metric("pass@1"), "trials", 0.95)
    assert over.at(None, 256) == pytest.approx(over.at(None, 64) / 2.0)
    assert (over.at(20, 128) < over.at(20, 64)).all()
