"""What to buy next: half-widths that shrink as the standard errors of the split do."""

import pytest

from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.variance import split_variance
from passband.stats.interval.estimation import estimate
from passband.summary.findings.uncertainty import uncertainty_of
from passband.summary.summary import Request


def test_half_widths_follow_the_variance_split() -> None:
    outcomes = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
    now = estimate(outcomes, "pass@1")
    split = split_variance(outcomes, "pass@1")
    found = uncertainty_of(outcomes, "pass@1", now, Request(), cost=2.5)
    assert found is not None
    assert now.low is not None
    assert now.high is not None
    assert split.se
    half = (now.high - now.low) / 2
    widths = {one.what: one.half_width for one in found.purchases}
    assert widths["now"] == half
    assert widths["problems"] == pytest.approx(half / 2**0.5)
    assert split.se_double_trials is not None
    assert widths["trials"] == pytest.approx(half * split.se_double_trials / split.se)
    assert [one.what for one in found.purchases if one.is_useful] == ["problems"]
    assert (found.more_trials, found.price) == (320, 2.5)


def test_one_problem_shows_no_parts() -> None:
    outcomes = Outcomes.from_counts([3], 8)
    now = estimate(outcomes, "pass@1", over="trials")
    found = uncertainty_of(outcomes, "pass@1", now, Request(), cost=0.0)
    assert found is None or found.share_problems is None
