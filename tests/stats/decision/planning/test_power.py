"""The problems that a power takes: known variances, and those of a pilot."""

import numpy as np
import pytest
from scipy.special import ndtr

from passband import Outcomes
from passband.stats.decision.comparison import compare
from passband.stats.decision.planning.plans import plan_difference, problems_for_power
from passband.stats.interval.default.wilson import student_quantile


def test_the_mean_power_by_hand() -> None:
    variances = np.array([0.05, 0.1, 0.2])
    m = problems_for_power(variances, 0.06, 0.95, 0.8, None)
    t = student_quantile(0.95, m - 1.0)
    assert ndtr(0.06 * np.sqrt(m / variances) - t).mean() == pytest.approx(0.8)
    sure = problems_for_power(variances, 0.06, 0.95, 0.8, 0.999)
    assert sure == pytest.approx(
        problems_for_power(variances[-1:], 0.06, 0.95, 0.8, None), rel=0.01
    )
    assert m < sure


def test_the_power_from_pilots() -> None:
    """Pilots of 30 x 8 from 0.1 + 0.7 Beta(.7, .7); benchmarks/plan.py has more."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        pilot = rng.binomial(8, 0.1 + 0.7 * rng.beta(0.7, 0.7, 30))
        plan = plan_difference(0.1, pilot=Outcomes.from_counts(pilot, 8), trials=4)
        a, other = 0.1 + 0.7 * rng.beta(0.7, 0.7, (2, plan.problems))
        b = np.where(rng.random(plan.problems) < 0.5, a, other) + 0.1
        sides = [Outcomes.from_counts(rng.binomial(4, side), 4) for side in (a, b)]
        found.append((compare(*sides, "pass@1").low or 0.0) > 0.0)
    assert 0.65 <= np.mean(found) <= 0.95  # 0.8, and three standard errors
