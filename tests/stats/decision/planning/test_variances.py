"""Half-widths from moments: graded scores, and what a pilot leaves open."""

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.decision.planning.plans import plan_difference
from passband.stats.decision.planning.variances import moment_widths
from passband.stats.decision.planning.widths import plan_width
from passband.stats.metric.registry import parse_metric


def graded(rng: np.random.Generator, problems: int) -> Outcomes:
    centre = rng.normal(0.0, 1.0, problems)
    return Outcomes.from_array(centre[:, None] + rng.normal(0.0, 1.0, (problems, 4)))


def test_a_large_pilot_gives_the_width_of_its_own_interval() -> None:
    pilot = graded(np.random.default_rng(1), 2000)
    for over in ("problems", "trials"):
        result = estimate(pilot, "avg", over=over)
        widths = moment_widths(pilot, parse_metric("avg"), over, 0.95)
        printed = (result.high - result.low) / 2.0
        assert np.median(widths.at(2000, 4)) == pytest.approx(printed, rel=0.05)
        assert widths.at(None, 4) == pytest.approx(widths.at(2000, 4))


def test_graded_scores_keep_the_promise() -> None:
    rng = np.random.default_rng(4)
    met = []
    for _ in range(60):
        plan = plan_width(0.3, pilot=graded(rng, 30), metric="avg")
        run = rng.normal(0.0, 1.0, plan.problems)[:, None]
        scores = run + rng.normal(0.0, 1.0, (plan.problems, plan.trials))
        result = estimate(Outcomes.from_array(scores), "avg")
        assert result.low is not None
        assert result.high is not None
        met.append((result.high - result.low) / 2.0 <= 0.3)
    assert np.mean(met) >= 0.7
    assert "plan-by-moments" in [note.code for note in plan.notes]


def test_a_difference_of_graded_scores() -> None:
    plan = plan_difference(0.3, pilot=graded(np.random.default_rng(5), 60), metric="avg", trials=4)
    known = plan_difference(0.3, between=1.0, within_a=1.0, trials=4)
    assert plan.problems == pytest.approx(known.problems, rel=0.35)
