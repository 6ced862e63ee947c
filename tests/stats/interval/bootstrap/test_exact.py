"""The distribution of a sum over many unlike problems, beside the one on a lattice."""

import numpy as np
import pytest

from passband import Outcomes
from passband.stats.interval.bootstrap.exact import (
    TrialGroup,
    distribution_of_groups,
    distribution_of_mean,
)
from passband.stats.interval.bootstrap.units import trial_groups, trial_pools, units_of
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric


def ragged(problems: int, most: int) -> Outcomes:
    rng = np.random.default_rng(problems)
    n = rng.integers(1, most + 1, problems)
    return Outcomes.from_counts(rng.binomial(n, rng.beta(0.5, 0.7, problems)), n)


def asked(outcomes: Outcomes, metric: str) -> IntervalRequest:
    return IntervalRequest(outcomes, parse_metric(metric), (0.5,), 0.5, "trials", 0.95, None)


@pytest.mark.parametrize("metric", ["pass@1", "pass@4", "pass^3"])
def test_it_is_the_distribution_on_a_lattice(metric: str) -> None:
    request = asked(ragged(300, 20), metric)
    divisor = request.outcomes.histogram.at_least(request.k).n_problems
    exact = distribution_of_mean(trial_pools(request), divisor)
    found = distribution_of_groups(trial_groups(request), divisor)
    assert found.mean == pytest.approx(exact.mean)
    assert found.sd == pytest.approx(exact.sd)
    for tail in (0.005, 0.025, 0.2, 0.5):
        assert abs(found.lower(tail) - exact.lower(tail)) < 0.005 * exact.sd
        assert abs(found.upper(tail) - exact.upper(tail)) < 0.005 * exact.sd


def test_skewness_is_kept() -> None:
    # 400 draws that are 1 with probability 0.02: between 3 and 14 in 95 of 100
    rare = TrialGroup(np.array([0.0, 1.0]), np.array([[0.98, 0.02]]), np.array([400]))
    found = distribution_of_groups([rare], 1)
    assert found.mean == pytest.approx(8.0)
    third = float(found.masses @ ((found.points - 8.0) / found.sd) ** 3)
    assert third == pytest.approx((1 - 2 * 0.02) / found.sd, rel=1e-3)


def test_without_noise_it_is_a_point() -> None:
    sure = TrialGroup(np.array([0.0, 1.0]), np.array([[0.0, 1.0]]), np.array([3]))
    found = distribution_of_groups([sure], 3)
    assert (found.points.tolist(), found.sd) == ([1.0], 0.0)


def test_many_values_are_gathered_on_levels() -> None:
    units = units_of(asked(ragged(4000, 60), "pass@1"))
    few = units.gathered()
    assert len(few.rows) <= 256 < len(units.rows)
    for each in (units, few):
        assert each.shares.sum() == pytest.approx(1)
    totals, gathered = (each.draws * each.shares @ each.with_squares for each in (units, few))
    assert gathered[0] == pytest.approx(totals[0])
    assert few.standard_error(gathered) == pytest.approx(units.standard_error(totals), rel=1e-4)
    some = units_of(asked(ragged(40, 4), "pass@1"))
    assert some.gathered() is some
