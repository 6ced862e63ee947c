"""Plans: published numbers, inverses of each other, nonsense refused, files that cannot drift."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from passband import InvalidInput, NotEnoughData, Outcomes
from passband.errors import WrongType
from passband.stats.decision.comparison import compare
from passband.stats.decision.planning.file import Plan, save_content
from passband.stats.decision.planning.plans import (
    detectable,
    plan,
    plan_difference,
    problems_for_power,
)
from passband.stats.decision.planning.widths import plan_width
from passband.stats.decision.variance import split_variance
from passband.stats.interval.default.wilson import student_quantile

PILOT = Outcomes.from_counts([0, 1, 3, 5, 8, 8, 2, 7] * 10, 8)


# -- a difference --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("within", "trials", "expected"), [(0, 1, "969.0"), (1 / 6, 1, "3876.0"), (1 / 6, 10, "1259.7")]
)
def test_published_numbers(within: float, trials: int, expected: str) -> None:
    plan = plan_difference(0.03, between=1 / 9, within_a=within, trials=trials)
    assert f"{plan.exact:.1f}" == expected
    assert plan.problems == int(np.ceil(plan.exact))
    assert (plan.level, plan.power, plan.trials) == (0.95, 0.8, trials)


def test_both_sides_have_their_own_noise() -> None:
    both = plan_difference(0.05, between=0.1, within_a=0.2, within_b=0.1, trials=4)
    one = plan_difference(0.05, between=0.1, within_a=0.3, within_b=0.0, trials=4)
    assert both.exact == pytest.approx(one.exact)
    assert both.within == (0.05, 0.025)


def test_more_of_anything_costs_problems() -> None:
    plain = plan_difference(0.05, between=0.1, within_a=0.1)
    assert plan_difference(0.04, between=0.1, within_a=0.1).problems > plain.problems
    assert plan_difference(0.05, between=0.1, within_a=0.1, power=0.9).problems > plain.problems
    assert plan_difference(0.05, between=0.1, within_a=0.1, level=0.99).problems > plain.problems
    assert plan_difference(0.05, between=0.1, within_a=0.1, trials=2).problems < plain.problems
    assert [d.trials for d in plain.options] == [1, 2, 4, 8, 16, 32, 64]
    assert (
        str(plain) == f"{plain.problems} x 1 for a difference of 0.05 at level 0.95 with power 0.8"
    )


def test_the_planned_power_is_reached() -> None:
    # one trial, 14% won and 6% lost: the variance of d is 0.2 - 0.08^2
    plan = plan_difference(0.08, between=0.2 - 0.08**2)
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(300):
        u = rng.random(plan.problems)
        b = np.where(u < 0.14, 1, 0)
        a = np.where((u >= 0.14) & (u < 0.2), 1, 0)
        done = compare(Outcomes.from_counts(a, 1), Outcomes.from_counts(b, 1), "pass@1")
        assert done.low is not None
        found += done.low > 0
    assert 0.68 <= found / 300 <= 0.92  # 0.8, and 5 standard deviations


@pytest.mark.parametrize("counts", [[3], [0, 0, 0, 0], [8, 8, 8, 8]])
def test_a_pilot_without_spread(counts: list[int]) -> None:
    pilot = Outcomes.from_counts(counts, 8)
    for ask in (lambda: plan_difference(0.1, pilot=pilot), lambda: detectable(pilot, "pass@1")):
        with pytest.raises(NotEnoughData, match=r"single problem|same value"):
            ask()


def test_a_pilot_has_its_say() -> None:
    assert plan_width(0.1, pilot=PILOT, metric="pass@6").notes
    found = plan_difference(0.1, pilot=PILOT, correlation=0.6, trials=8)
    split = split_variance(PILOT, "pass@1")
    assert split.between is not None
    assert split.within is not None
    by_hand = plan_difference(0.1, between=0.8 * split.between, within_a=8 * split.within, trials=8)
    # more than for variances that are known, by t for z and by what the pilot leaves open
    assert 1.0 < found.exact / by_hand.exact < 1.2
    sure = plan_difference(0.1, pilot=PILOT, correlation=0.6, trials=8, assurance=0.9)
    assert sure.exact > found.exact
    assert (found.assurance, sure.assurance) == (None, 0.9)
    assert any("correlation 0.6" in note.text for note in found.notes)
    half = plan_difference(0.1, pilot=PILOT, trials=8)
    assert half.exact > found.exact
    with pytest.raises(InvalidInput, match="needs 4 trials"):
        plan_difference(0.1, pilot=PILOT, metric="pass@4", trials=2)


def test_one_function_for_both() -> None:
    assert plan(half_width=0.05, pilot=PILOT) == plan_width(0.05, pilot=PILOT)
    assert plan(difference=0.1, pilot=PILOT) == plan_difference(0.1, pilot=PILOT)
    wrong: list[dict[str, Any]] = [
        {},
        {"half_width": 0.1, "difference": 0.1},
        {"half_width": 0.1, "pilot": PILOT, "trials": 3},
        {"difference": 0.1, "between": 0.1, "problems": 3},
        {"difference": 0.1, "between": 0.1, "correlation": 0.3},
        {"difference": 0.1, "between": 0.1, "pilot": PILOT},
        {"difference": 0.1},
        {"difference": 0.1, "between": 0.1, "assurance": 0.8},
    ]
    for given in wrong:
        with pytest.raises(InvalidInput):
            plan(**given)


def test_numbers_of_numpy() -> None:
    given: dict[str, Any] = {"between": np.float32(0.125), "level": np.float32(0.95)}
    found = plan_difference(np.float64(0.1), trials=np.int64(2), **given)  # type: ignore[arg-type]
    assert found == plan_difference(0.1, between=0.125, trials=2)
    assert json.dumps(found.level) == "0.95"
    with pytest.raises(WrongType, match="delta must be a number"):
        plan_difference("0.1", between=0.1)  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="between must be a number"):
        plan_difference(0.1, between="a")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no feasible design"):
        plan_width(1e-300, between=0.1, within=0.1)
    for delta in (1e-300, 1e-200, 1e-9):
        with pytest.raises(InvalidInput, match="no feasible design"):
            plan_difference(delta, between=0.1)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none.json: cannot be read"):
        Plan.load(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match=r"p.json: cannot be written"):
        plan_difference(0.1, between=0.1).save(tmp_path / "none" / "p.json")


# -- what one has --------------------------------------------------------------------------


def test_the_detectable_difference_is_the_inverse_of_the_plan() -> None:
    split = split_variance(PILOT, "pass@1")
    found = detectable(PILOT, "pass@1", correlation=0.6)
    assert split.between is not None
    assert split.within is not None
    plan = plan_difference(found.delta, between=0.8 * split.between, within_a=split.within)
    assert plan.exact == pytest.approx(found.n_problems)
    assert detectable(PILOT, "pass@1", correlation=0.9).delta < found.delta
    assert any("correlation 0.6" in note.text for note in found.notes)


def test_a_second_model_tells_its_own_variance() -> None:
    other = Outcomes.from_counts([1, 2, 3, 6, 8, 7, 4, 7] * 10, 8)
    se = compare(PILOT, other, "pass@1").se
    found = detectable(PILOT, "pass@1", against=other)
    assert se is not None
    assert found.delta == pytest.approx((1.959964 + 0.841621) * se, rel=1e-6)
    with pytest.raises(NotEnoughData, match="the spread is unknown"):
        detectable(PILOT, "pass@1", against=PILOT)


def test_one_trial_uses_the_whole_variance() -> None:
    single = Outcomes.from_counts([0, 1, 1, 0] * 10, 1)
    found = detectable(single, "pass@1", correlation=0.0)
    se = split_variance(single, "pass@1").se
    assert se is not None
    assert found.variance == pytest.approx(2 * 40 * se**2)
    assert any("one trial" in note.text for note in found.notes)


# -- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan", [plan_difference(0.03, between=1 / 9, within_a=1 / 6), plan_width(0.04, pilot=PILOT)]
)
def test_a_plan_comes_back_from_its_file(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    again = Plan.load(path)
    assert again == plan
    assert again.sha256 == plan.sha256
    assert json.loads(path.read_text("utf-8"))["sha256"] == plan.sha256


def test_a_plan_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan_difference(0.03, between=1 / 9).save(path)
    whole = json.loads(path.read_text("utf-8"))
    for edit in ({"problems": 500}, {"power": 0.5}):
        path.write_text(json.dumps(whole | {"plan": whole["plan"] | edit}), "utf-8")
        with pytest.raises(
            InvalidInput, match=r"plan.json: the plan was changed after it was saved"
        ):
            Plan.load(path)
    path.write_text(json.dumps(whole, indent=7), "utf-8")  # the layout does not matter
    assert Plan.load(path).problems == 969


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be JSON"),
        ("[1]", "not a plan"),
        ('{"format": "other"}', "not a plan"),
        ('{"format": "passband plan 3", "plan": {"goal": "width"}}', "exactly the fields"),
        ('{"format": "passband plan 3"}', "exactly the fields"),
    ],
)
def test_a_file_that_is_no_plan(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=message):
        Plan.load(path)


def test_options_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan_difference(0.03, between=1 / 9).save(path)
    whole = json.loads(path.read_text("utf-8"))
    for options in (3, [{"problems": 3}]):
        save_content(path, whole["format"], whole["plan"] | {"options": options})
        with pytest.raises(InvalidInput, match="cannot be read"):
            Plan.load(path)


def test_a_plan_is_checked_against_what_was_done() -> None:
    plan = plan_width(0.1, between=0.06, within=0.17, problems=50)
    assert (plan.problems, plan.trials) == (50, 3)
    whole = Outcomes.from_counts([1] * 50, 3)
    assert plan.check(whole) == "planned 50 x 3, done 50 x 3"
    assert plan.check(Outcomes.from_counts([1] * 60, 4)) == "planned 50 x 3, done 60 x 4"
    assert plan.check(Outcomes.from_counts([1] * 50, 2)) == (
        "planned 50 x 3, done 50 x 2: 50 trials are missing"
    )
    ragged = Outcomes.from_counts([1] * 48, [5] * 40 + [1] * 8)
    assert plan.check(ragged) == (
        "planned 50 x 3, done 48 x 1-5: 2 problems and 22 trials are missing"
    )


# -- nonsense ------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0, -0.1, float("nan"), float("inf")])
def test_a_size_must_be_positive(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta must be a number above 0"):
        plan_difference(delta, between=0.1)
    with pytest.raises(InvalidInput, match="half_width must be a number above 0"):
        plan_width(delta, between=0.1, within=0.1)


@pytest.mark.parametrize("share", [0, 1, -1, 95, float("nan")])
def test_level_and_power_are_shares(share: float) -> None:
    for ask in (
        lambda: plan_difference(0.1, between=0.1, power=share),
        lambda: detectable(PILOT, "pass@1", power=share),
    ):
        with pytest.raises(InvalidInput, match="power"):
            ask()
    for ask in (
        lambda: plan_difference(0.1, between=0.1, level=share),
        lambda: plan_width(0.1, between=0.1, within=0.1, level=share),
        lambda: detectable(PILOT, "pass@1", level=share),
    ):
        with pytest.raises(InvalidInput, match="level"):
            ask()


def test_other_nonsense() -> None:
    with pytest.raises(InvalidInput, match="within_b is a variance"):
        plan_difference(0.1, between=0.1, within_b=-1)
    with pytest.raises(InvalidInput, match="must not all be 0"):
        plan_difference(0.1, between=0)
    with pytest.raises(InvalidInput, match="trials must be at least 1"):
        plan_difference(0.1, between=0.1, trials=0)
    with pytest.raises(WrongType, match="trials must be a whole number"):
        plan_difference(0.1, between=0.1, trials=1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="problems must be at least 1"):
        plan_width(0.1, between=0.1, within=0.1, problems=0)
    with pytest.raises(InvalidInput, match="give a pilot"):
        plan_width(0.1, between=0.1)
    with pytest.raises(InvalidInput, match="not both"):
        plan_width(0.1, pilot=PILOT, between=0.1)
    with pytest.raises(InvalidInput, match="must not both be 0"):
        plan_width(0.1, between=0, within=0)
    with pytest.raises(InvalidInput, match="over"):
        plan_width(0.1, pilot=PILOT, over="runs")  # type: ignore[arg-type]
    with pytest.raises(NotEnoughData, match="does not determine the variances: one trial"):
        plan_difference(0.1, pilot=Outcomes.from_counts([0, 1, 1], 1))
    for share in (0, 1, 80):
        with pytest.raises(InvalidInput, match="assurance must be a number between 0 and 1"):
            plan_width(0.1, pilot=PILOT, assurance=share)
        with pytest.raises(InvalidInput, match="assurance must be a number between 0 and 1"):
            plan_difference(0.1, pilot=PILOT, assurance=share)
    with pytest.raises(InvalidInput, match="assurance does not apply"):
        plan_difference(0.1, between=0.1, assurance=0.8)
    with pytest.raises(InvalidInput, match="correlation"):
        detectable(PILOT, "pass@1", correlation=2)
    with pytest.raises(NotEnoughData, match="the variance of avg is unknown"):
        detectable(Outcomes.from_array([[0.5, 0.5]] * 3), "avg")


def test_a_pilot_whose_trials_ended_with_a_success_is_refused_unless_accepted() -> None:
    stopped = Outcomes.from_counts([1] * 12, [1, 1, 2, 3, 1, 5, 8, 1, 2, 2, 4, 1])
    with pytest.raises(InvalidInput, match="the pilot allows no plan: every problem with fewer"):
        plan_width(0.2, pilot=stopped)
    with pytest.raises(InvalidInput, match="these trials tell no difference: every problem"):
        detectable(stopped, "pass@1")
    known = stopped.accepting(["stopped-by-outcome"])
    for found in (plan_width(0.2, pilot=known), detectable(known, "pass@1")):
        assert "stopped-by-outcome" in [note.code for note in found.notes]


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
        found.append((compare(*sides, "pass@1").low or 0.0) > 0.0)  # type: ignore[arg-type]
    assert 0.65 <= np.mean(found) <= 0.95  # 0.8, and three standard errors
