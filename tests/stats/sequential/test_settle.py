"""Repeated looks at two models: the plan, its levels, and the verdicts."""

import json
from pathlib import Path

import pytest

from passband import Outcomes, Scale, compare
from passband.errors import InvalidInput
from passband.stats.sequential.settle import LookPlan, geometric_looks, plan_looks, take_look

PLAN = plan_looks(8, tolerance=0.1)
ERRORS = Scale(0.0, 1.0, lower_is_better=True)


def sides(a: list[int], b: list[int], rounds: int) -> tuple[Outcomes, Outcomes]:
    return Outcomes.from_counts(a * 20, rounds), Outcomes.from_counts(b * 20, rounds)


def test_looks_are_distinct_and_end_with_the_budget() -> None:
    for rounds in range(2, 200):
        looks = geometric_looks(rounds)
        assert looks == tuple(sorted(set(looks)))
        assert looks[0] >= 2
        assert looks[-1] == rounds
        assert len(looks) <= 9
    assert plan_looks(32, tolerance=0.1, metric="pass@4").looks[0] == 5


def test_levels_are_those_of_the_boundaries() -> None:
    levels = plan_looks(32, tolerance=0.02).levels()
    assert [round(level, 4) for level in levels] == [
        0.9992, 0.9991, 0.9989, 0.9976, 0.9966, 0.9930, 0.9898, 0.9789, 0.9688,
    ]  # fmt: skip


def test_the_interval_of_a_look_is_that_of_compare() -> None:
    a, b = sides([3, 0, 4, 1], [2, 0, 4, 1], 4)
    number = PLAN.looks.index(4) + 1
    result = take_look(PLAN, number, a, b)
    expected = compare(a, b, "pass@1", over="trials", level=PLAN.levels()[number - 1])
    assert (result.low, result.high) == (expected.low, expected.high)
    assert result.value == pytest.approx(-1 / 16)


@pytest.mark.parametrize(
    ("a", "b", "tolerance", "verdict"),
    [
        ([8, 6, 7], [1, 0, 2], 0.1, "regression"),
        ([4, 4, 4], [4, 4, 5], 0.2, "no-regression"),
        ([4, 4, 4], [4, 3, 4], 0.1, "undecided"),
        ([4, 8, 4], [2, 8, 4], 0.3, "worse-within-tolerance"),
    ],
)
def test_verdicts(a: list[int], b: list[int], tolerance: float, verdict: str) -> None:
    plan = plan_looks(8, tolerance=tolerance, metric="avg", comparisons=3)
    result = take_look(plan, len(plan.looks), *sides(a, b, 8))
    assert result.verdict == verdict
    assert not result.is_early
    errors = [
        Outcomes.from_counts([8 - count for count in counts] * 20, 8, scale=ERRORS)
        for counts in (a, b)
    ]
    mirrored = take_look(plan, len(plan.looks), *errors)
    assert mirrored.verdict == verdict
    assert (mirrored.low, mirrored.high) == pytest.approx((-result.high, -result.low))


def test_a_last_look_before_its_time_spends_what_is_left() -> None:
    a, b = sides([3, 0, 4, 1], [2, 0, 4, 1], 4)
    number = PLAN.looks.index(4) + 1
    planned, last = (take_look(PLAN, number, a, b, is_last=is_last) for is_last in (False, True))
    assert 0.95 < last.level < planned.level
    only = LookPlan((4,), 0.1)
    assert take_look(only, 1, a, b, is_last=True).level == pytest.approx(0.95)


def test_several_comparisons_are_stricter_about_regressions_only() -> None:
    a, b = sides([3, 0, 4, 1], [2, 0, 4, 1], 4)
    one, five = (LookPlan((2, 4), 0.1, comparisons=count) for count in (1, 5))
    single, several = (take_look(plan, 2, a, b) for plan in (one, five))
    assert several.low == single.low
    assert several.high is not None
    assert single.high is not None
    assert several.high > single.high
    assert several.regression_level > several.level


def test_a_plan_is_kept_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "looks.json"
    PLAN.save(path)
    assert LookPlan.load(path) == PLAN
    assert LookPlan.load(path).sha256 == PLAN.sha256
    changed = json.loads(path.read_text())
    changed["plan"]["tolerance"] = 0.2
    path.write_text(json.dumps(changed))
    with pytest.raises(InvalidInput, match="changed after it was saved"):
        LookPlan.load(path)


def test_rounds_must_be_complete_though_trials_may_have_no_score() -> None:
    whole = Outcomes.from_array([[1, 0], [1, 1], [0, 1]])
    lost = Outcomes.from_array([[1, 0], [1, None], [0, 1]])
    assert take_look(PLAN, 1, whole, lost).rounds == 2
    ragged = Outcomes.from_counts([1, 1, 0], [2, 1, 2])
    with pytest.raises(InvalidInput, match="b has 1 of problem"):
        take_look(PLAN, 1, whole, ragged)


def test_what_is_refused(tmp_path: Path) -> None:
    a, b = sides([3, 0, 4, 1], [2, 0, 4, 1], 4)
    with pytest.raises(InvalidInput, match="look 1 is after 2 trials of every problem; a has 4"):
        take_look(PLAN, 1, a, b)
    with pytest.raises(InvalidInput, match="is after 6 trials of every problem; a has 4"):
        take_look(PLAN, PLAN.looks.index(6) + 1, a, b)
    with pytest.raises(InvalidInput, match="has looks 1 to"):
        take_look(PLAN, 9, a, b)
    for looks in ((2, 2, 4), (4, 3), ()):
        with pytest.raises(InvalidInput, match="looks must be at"):
            LookPlan(looks, 0.1)
    with pytest.raises(InvalidInput, match="tolerance must be a number above 0"):
        plan_looks(8, tolerance=0.0)
    with pytest.raises(InvalidInput, match="at least 2 rounds"):
        plan_looks(1, tolerance=0.1)
    for text, message in (
        ("{", "must be JSON"), ("{}", "not a plan of looks"),
        ('{"format": "passband looks 1", "plan": {}}', "exactly the fields"),
    ):  # fmt: skip
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(InvalidInput, match=message):
            LookPlan.load(tmp_path / "x.json")
    with pytest.raises(InvalidInput, match="cannot be read"):
        LookPlan.load(tmp_path / "none.json")
