"""The least number whose width is small enough, against looking at every number."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passband import InvalidInput, NotEnoughData, Outcomes, estimate
from passband.errors import WrongType
from passband.stats.data.evidence import BOTH, Evidence, Finding
from passband.stats.decision.planning.file import Plan
from passband.stats.decision.planning.plans import detectable, plan_difference
from passband.stats.decision.planning.widths import least, plan_width
from passband.stats.interval.default.wilson import student_quantile


@settings(max_examples=30)
@given(
    st.floats(0.01, 30.0), st.floats(0.0, 5.0), st.floats(0.001, 5.0),
    st.floats(1.0, 1e9), st.integers(1, 50),
)  # fmt: skip
def test_against_every_number(
    scale: float, extra: float, target: float, start: float, low: int
) -> None:
    def width(number: int) -> float:
        return scale * number**-0.5 + extra / number

    result = least(width, target, start, low, 2_000)
    enough = [number for number in range(low, 2_001) if width(number) <= target]
    if not enough:
        assert result is None
        return
    assert result is not None
    assert result[1] == width(result[0]) <= target
    assert enough[0] <= result[0] <= max(enough[0], math.ceil(1.01 * enough[0]))


def test_a_width_that_never_falls() -> None:
    asked: list[int] = []

    def width(number: int) -> float:
        asked.append(number)
        return 1.0

    assert least(width, 1e-300, 5, 1, 10**15) is None
    assert len(asked) == 2  # the start, and the end


PILOT = Outcomes.from_counts([0, 1, 3, 5, 8, 8, 2, 7] * 10, 8)
SPARSE = Outcomes.from_counts([0] * 26 + [1, 2, 1, 0], 8)


def half_width(outcomes: Outcomes, metric: str, over: Any = "problems") -> float:
    result = estimate(outcomes, metric, over=over)
    assert result.low is not None
    assert result.high is not None
    return (result.high - result.low) / 2.0


def test_a_pilot_whose_data_allow_no_interval_makes_no_plan() -> None:
    copied = Finding("copied-trials", "invalid", "pairs of trials agree", {"trials": 1})
    pilot = replace(PILOT, found=Evidence((copied,)))
    said = "the pilot allows no plan: pairs of trials agree .*accept 'copied-trials'"
    with pytest.raises(InvalidInput, match=said):
        plan_width(0.05, pilot=pilot, over="trials")
    assert plan_width(0.05, pilot=pilot).options == plan_width(0.05, pilot=PILOT).options
    both = replace(PILOT, found=Evidence((replace(copied, targets=BOTH),)))
    for refused in (
        lambda: plan_width(0.05, pilot=both),
        lambda: plan_difference(0.05, pilot=both),
        lambda: detectable(both, "pass@1"),
    ):
        with pytest.raises(InvalidInput, match="pairs of trials agree"):
            refused()
    accepted = both.accepting(["copied-trials"])
    assert plan_width(0.05, pilot=accepted).problems == plan_width(0.05, pilot=PILOT).problems
    assert detectable(accepted, "pass@1").delta == detectable(PILOT, "pass@1").delta


# -- assumed variances -----------------------------------------------------------------------------


def test_a_width_from_assumed_variances_by_hand() -> None:
    plan = plan_width(0.05, between=0.08, within=0.12)
    for design in plan.options:
        t = student_quantile(0.95, design.exact - 1.0)
        assert design.exact == pytest.approx(t**2 * (0.08 + 0.12 / design.trials) / 0.05**2)
        assert design.total == design.problems * design.trials
    assert (plan.problems, plan.trials) == (149, 8)  # doubling 8 saves less than a tenth
    assert str(plan) == "149 x 8 for an interval of ±0.05 at level 0.95"
    assert [note.code for note in plan.notes] == ["plan-by-numbers"]
    assert plan.assurance is None
    trials = plan_width(0.05, within=0.12, over="trials")
    assert trials.trials == 2  # one trial of each shows no noise
    t = student_quantile(0.95, 4.0 * trials.exact)
    assert trials.exact == pytest.approx(t**2 * 0.06 / 0.05**2)
    assert trials.between is None


def test_few_problems_pay_for_students_t() -> None:
    assert plan_width(0.4, between=0.08, within=0.0).problems == 5  # z alone would say 2


def test_a_fixed_number_of_problems_asks_for_trials() -> None:
    plan = plan_width(0.05, between=0.08, within=0.12, problems=200)
    assert (plan.problems, plan.trials) == (200, 3)
    assert plan.exact <= 200
    assert plan_width(0.02, within=0.2, over="trials", problems=100).trials == 20
    with pytest.raises(NotEnoughData, match="the spread of the problems alone asks for 126"):
        plan_width(0.05, between=0.08, within=0.12, problems=100)
    with pytest.raises(NotEnoughData, match="even 4096 trials"):
        plan_width(0.05, between=0.08, within=50.0, problems=127)


# -- a pilot ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["pass@1", "pass@4"])
def test_the_plan_is_about_the_printed_interval(metric: str) -> None:
    """On the pilot's own shape, repeated as often as planned, the interval is close to the goal."""
    plan = plan_width(0.06, pilot=PILOT, metric=metric, assurance=0.5)
    at_eight = next(design for design in plan.options if design.trials == 8)
    times = at_eight.problems / 80
    counts = np.repeat([0, 1, 3, 5, 8, 8, 2, 7], round(10 * times))
    assert half_width(Outcomes.from_counts(counts, 8), metric) == pytest.approx(0.06, rel=0.12)


def test_no_plan_is_too_small_for_a_run_without_success() -> None:
    plan = plan_width(0.05, pilot=SPARSE)
    assert plan.problems >= 36
    failed = Outcomes.from_counts([0] * plan.problems, plan.trials)
    assert half_width(failed, "pass@1") <= 0.05
    assert [note.code for note in plan.notes] == ["pilot-few-informative"]


def test_more_assurance_and_closer_widths_cost_more() -> None:
    plain = plan_width(0.05, pilot=PILOT)
    assert plain.assurance == 0.8
    assert plan_width(0.05, pilot=PILOT, assurance=0.95).problems > plain.problems
    assert plan_width(0.04, pilot=PILOT).problems > plain.problems
    assert plan_width(0.05, pilot=PILOT, level=0.99).problems > plain.problems
    assert plan_width(0.05, pilot=PILOT) == plain
    exact = [design.exact for design in plain.options]
    assert exact == sorted(exact, reverse=True)
    assert plan_width(0.05, pilot=PILOT, metric="pass@4").options[0].trials == 4


def test_a_wide_metric_offers_its_own_numbers_of_trials() -> None:
    wide = Outcomes.from_counts([0, 10, 40, 99] * 5, 100)
    options = plan_width(0.1, pilot=wide, metric="pass@70").options
    assert [design.trials for design in options] == [70, 140, 280]


def test_over_trials_keeps_to_the_problems() -> None:
    plan = plan_width(0.02, pilot=PILOT, over="trials")
    assert plan.problems == 80
    assert plan.options == ()
    assert plan.between is None
    run = Outcomes.from_counts(np.round(PILOT.required_successes() * plan.trials / 8), plan.trials)
    assert half_width(run, "pass@1", "trials") == pytest.approx(0.02, rel=0.2)
    more = plan_width(0.02, pilot=PILOT, over="trials", problems=400)
    assert (more.problems, more.trials < plan.trials) == (400, True)
    far = plan_width(0.004, pilot=PILOT, over="trials")
    assert far.trials == pytest.approx(25 * plan.trials, rel=0.2)
    with pytest.raises(NotEnoughData, match=r"80 problems cannot give ±0\.001: even 4096 trials"):
        plan_width(0.001, pilot=PILOT, over="trials")


def test_a_fixed_number_of_problems_from_a_pilot() -> None:
    plan = plan_width(0.06, pilot=PILOT, problems=170)
    assert plan.problems == 170
    assert 2 <= plan.trials <= 64
    with pytest.raises(NotEnoughData, match="the spread of the problems alone asks for"):
        plan_width(0.06, pilot=PILOT, problems=50)


@pytest.mark.parametrize(
    ("population", "metric", "over"),
    [((0.1, 2.0), "pass@4", "problems"), ((0.5, 0.7), "pass@1", "trials")],
)
def test_the_promise_is_kept(population: tuple[float, float], metric: str, over: Any) -> None:
    """Ten pilots of 30 x 8 each; benchmarks/plan.py has the full table."""
    rng = np.random.default_rng(7)
    met = []
    for _ in range(10):
        rates = rng.beta(*population, 30)
        pilot = Outcomes.from_counts(rng.binomial(8, rates), 8)
        plan = plan_width(0.06, pilot=pilot, metric=metric, over=over)
        for _ in range(4):
            again = rates if over == "trials" else rng.beta(*population, plan.problems)
            run = Outcomes.from_counts(rng.binomial(plan.trials, again), plan.trials)
            met.append(half_width(run, metric, over) <= 0.06)
    assert np.mean(met) >= 0.65  # 0.8, and two standard errors over pilots


# -- corners ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [[0] * 10, [8] * 10])
def test_a_pilot_of_equal_problems(counts: list[int]) -> None:
    plan = plan_width(0.05, pilot=Outcomes.from_counts(counts, 8))
    assert plan.problems >= 36
    assert [note.code for note in plan.notes] == ["pilot-all-same-value"]
    again = plan_width(0.05, pilot=Outcomes.from_counts(counts, 8), over="trials")
    assert again.problems == 10


def test_a_pilot_of_one_problem() -> None:
    one = Outcomes.from_counts([3], 8)
    with pytest.raises(NotEnoughData, match="single problem"):
        plan_width(0.1, pilot=one)
    plan = plan_width(0.1, pilot=one, over="trials")
    assert plan.problems == 1
    assert 150 < plan.trials < 600  # 93 for a rate of one half and z, which one problem has not
    with pytest.raises(NotEnoughData, match="single problem"):
        plan_width(0.1, pilot=Outcomes.from_counts([1], 1))


def test_a_pilot_of_single_trials() -> None:
    plan = plan_width(0.1, pilot=Outcomes.from_counts([0, 1, 1, 0, 1] * 6, 1))
    assert plan.options[0].problems == pytest.approx(100, rel=0.15)
    assert "pilot-one-trial" in [note.code for note in plan.notes]


@pytest.mark.parametrize("width", [0.5, 0.7, 3])
def test_a_width_beyond_the_range(width: float) -> None:
    with pytest.raises(InvalidInput, match=r"half_width must be below 0\.5, half of the range"):
        plan_width(width, pilot=PILOT)


def test_tiny_widths() -> None:
    assert plan_width(1e-5, pilot=PILOT).problems > 10**9
    for over in ("problems", "trials"):
        with pytest.raises((InvalidInput, NotEnoughData)):
            plan_width(1e-300, pilot=PILOT, over=over)


def test_clusters_are_planned_by_moments() -> None:
    rng = np.random.default_rng(3)
    rates = np.repeat(rng.beta(0.5, 0.5, 20), 5)
    scores = (rng.random((100, 4)) < rates[:, None]).astype(int)
    clusters = [str(number // 5) for number in range(100)]
    clustered = Outcomes.from_array(scores, clusters=clusters)
    plan = plan_width(0.05, pilot=clustered)
    assert plan.problems > 2 * plan_width(0.05, pilot=Outcomes.from_array(scores)).problems
    assert {"clustered-problems", "plan-by-moments"} <= {note.code for note in plan.notes}


def test_blends_are_planned_by_moments() -> None:
    plan = plan_width(0.05, pilot=PILOT, metric="geom-ds@4")
    assert "plan-by-moments" in [note.code for note in plan.notes]
    assert plan.options[0].trials == 4
    assert isinstance(plan, Plan)


def test_assurance_must_be_a_number() -> None:
    with pytest.raises(WrongType, match="assurance"):
        plan_width(0.1, pilot=PILOT, assurance="high")  # type: ignore[arg-type]


def test_a_pilot_that_stopped_at_successes_is_refused_unless_accepted() -> None:
    pilot = Outcomes.from_counts([1, 1, 1, 1, 1, 0] * 7, [1, 2, 3, 4, 5, 5] * 7)
    for plan in (plan_width, plan_difference):
        with pytest.raises(InvalidInput, match="accept 'stopped-by-outcome'"):
            plan(0.1, pilot=pilot)
        known = plan(0.1, pilot=pilot.accepting(["stopped-by-outcome"]))
        assert "stopped-by-outcome" in {note.code for note in known.notes}


def test_votes_are_not_planned() -> None:
    pilot = Outcomes.from_answers([["1", "1"], ["2", "3"], ["4", "5"]], targets=["1", "2", "6"])
    for plan in (plan_width, plan_difference):
        with pytest.raises(InvalidInput, match=r"vote@2 cannot be planned .* pass@1"):
            plan(0.1, pilot=pilot, metric="vote@2")
