"""Value objects travel: every public dataclass pickles, copies, compares, hashes and unfolds."""

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import passband
from passband import Outcomes
from passband.notes import Note
from passband.readers.groups import Group, Groups
from passband.readers.log import Source
from passband.stats.data.graded import GradedScores
from passband.stats.interval.registry import Interval
from passband.summary.from_sources import summarize
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow


def counts(shift: int = 0) -> Outcomes:
    return Outcomes.from_counts(
        [3, 0, 8, 5 - shift] * 3, 8, clusters=["x", "y"] * 6, unscored={"timeout": [1, 0] * 6}
    )


def voted(shift: int = 0) -> Outcomes:
    return Outcomes.from_answers(
        [["a", "b", None], ["b", "b", "a"]], targets=["a", "ab"[shift % 2]]
    )


def graded(shift: int = 0) -> Outcomes:
    return Outcomes.from_array([[0.5, 0.25], [1.0, None], [0.125 * shift, 0.75]])


def ranking(shift: int = 0) -> passband.Ranking:
    return passband.compare_all({"base": counts(), "new": counts(1 + shift)}, "pass@1")


def log(shift: int = 0) -> passband.Log:
    problems = [ProblemRow(position=0, key="a", record="{}")]
    trials = [TrialRow(0, 0, "ok", text="1", scores=[ScoreRow(0, float(shift))])]
    source = Source("table", "a.csv", "0" * 64)
    return passband.Log("arithmetic", "base", source, problems, trials, ("exact_match",))


Make = Callable[[int], Any]

#: For each public dataclass, how to make one; another argument makes another value.
PUBLIC: dict[str, Make] = {
    "Abilities": lambda shift: passband.rank_models(
        {"x": counts(), "y": counts(1 + shift)}, "pass@1"
    ),
    "Band": lambda shift: passband.band(counts(shift), "pass@*"),
    "Certificate": lambda shift: (
        passband.estimate(counts(shift), "pass@1", over="trials", certify=True).certificate
    ),
    "Comparison": lambda shift: passband.compare(counts(), counts(1 + shift), "pass@1"),
    "Curve": lambda shift: passband.curve(counts(shift), "pass@*"),
    "Detectable": lambda shift: passband.detectable(counts(shift), "pass@1"),
    "Estimate": lambda shift: passband.estimate(counts(shift), "pass@1"),
    "Extrapolation": lambda shift: passband.extrapolate(counts(shift), "pass@16"),
    "Groups": lambda shift: Groups("a.csv", ("model",), (Group(("base",), counts(shift)),)),
    "Log": log,
    "Measurement": lambda shift: passband.measure(counts(shift), "pass@1"),
    "Outcomes": counts,
    "Plan": lambda shift: passband.plan_width(0.05, pilot=counts(shift)),
    "Ranking": ranking,
    "Scale": lambda shift: passband.Scale(0.0, 1.0 + shift),
    "Stratified": lambda shift: passband.combine(
        {"a": counts(shift), "b": Outcomes.from_counts([1, 0, 3], 4)}, "pass@1"
    ),
    "Summary": lambda shift: summarize([[1, 0, shift], [1, 1, 1]], ["pass@2"]),
    "VarianceSplit": lambda shift: passband.split_variance(counts(shift), "pass@1"),
}
MORE: dict[str, Make] = {
    "GradedScores": lambda shift: graded(shift).graded,
    "Votes": lambda shift: voted(shift).votes,
    "Outcomes with votes": lambda shift: voted(shift),
    "Histogram": lambda shift: counts(shift).histogram,
    "Interval": lambda shift: Interval(0.0, 1.0, 0.5 + shift, (Note("a", "b"),)),
    "Outcomes of graded scores": graded,
    "Pair": lambda shift: ranking(shift).pairs[0],
    "ScoreGroup": lambda shift: graded(shift).required_graded().groups[-1],
    "Standing": lambda shift: ranking(shift).standings[1],
}
CASES = [pytest.param(make, id=name) for name, make in (PUBLIC | MORE).items()]
HASHABLE = [case for case in CASES if case.id not in ("Log", "Summary")]  # hold lists and dicts


def test_every_public_dataclass_has_a_case() -> None:
    named = ((name, getattr(passband, name)) for name in passband.__all__)  # type: ignore[attr-defined]
    assert {name for name, thing in named if dataclasses.is_dataclass(thing)} == set(PUBLIC)


@pytest.mark.parametrize("make", CASES)
def test_it_compares(make: Make) -> None:
    one, twin, other = make(0), make(0), make(1)
    assert one == twin
    assert one != other
    assert one != "something else"


@pytest.mark.parametrize("make", HASHABLE)
def test_it_is_a_key(make: Make) -> None:
    one, twin, other = make(0), make(0), make(1)
    assert {one: 1}[twin] == 1
    assert len({one, twin, other}) == 2


@pytest.mark.parametrize("make", CASES)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_it_pickles(make: Make, protocol: int) -> None:
    one = make(0)
    travelled = pickle.loads(pickle.dumps(one, protocol))
    assert travelled == one
    assert not any(array.flags.writeable for array in arrays_of(travelled))


@pytest.mark.parametrize("make", CASES)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_it_copies(make: Make, duplicate: Callable[[Any], Any]) -> None:
    one = make(0)
    assert duplicate(one) == one
    assert not any(array.flags.writeable for array in arrays_of(duplicate(one)))


@pytest.mark.parametrize("make", CASES)
def test_it_unfolds_into_a_dict(make: Make) -> None:
    one = make(0)
    unfolded = dataclasses.asdict(one)
    assert list(unfolded) == [field.name for field in dataclasses.fields(one)]
    json.dumps(unfolded, default=listed)


@pytest.mark.parametrize("make", CASES)
def test_it_cannot_be_assigned_to(make: Make) -> None:
    one = make(0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, dataclasses.fields(one)[0].name, None)


def listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else list(value)


def arrays_of(value: Any) -> list[np.ndarray]:
    """Return the arrays of outcomes and of graded scores, which are read-only."""
    if isinstance(value, Outcomes):
        nested = [value.trials, value.successes, value.graded, *value.unscored.values()]
        return [array for each in nested if each is not None for array in arrays_of(each)]
    if isinstance(value, GradedScores):
        return [value.values, value.offsets]
    return [value] if isinstance(value, np.ndarray) else []


# -- outcomes ----------------------------------------------------------------------------------


def test_only_the_fields_of_outcomes_travel() -> None:
    outcomes = counts()
    passband.estimate(outcomes, "pass@1")
    assert outcomes.memo
    assert not pickle.loads(pickle.dumps(outcomes)).memo
    assert not copy.deepcopy(outcomes).memo
    assert len(pickle.dumps(outcomes)) == len(pickle.dumps(counts()))


def test_numbered_problems_are_named_by_number() -> None:
    numbered = Outcomes.from_counts([1, 2], 4)
    named = Outcomes.from_counts([1, 2], 4, problems=["0", "1"])
    assert numbered == named == numbered
    assert hash(numbered) == hash(named)
    assert numbered != Outcomes.from_counts([1, 2], 4, problems=["a", "b"])


def test_the_arrays_of_a_caller_stay_the_caller_s() -> None:
    trials, successes, lost = np.array([4, 4]), np.array([1, 2]), np.array([0, 3])
    outcomes = Outcomes(("a", "b"), trials, successes, unscored={"lost": lost})
    values, offsets = np.array([0.5, 0.25]), np.array([0, 1, 2])
    scores = GradedScores(values, offsets)
    for array in (trials, successes, lost, values, offsets):
        assert array.flags.writeable
        array += 1
    assert (outcomes.trials.tolist(), outcomes.successes.tolist()) == ([4, 4], [1, 2])
    assert outcomes.unscored["lost"].tolist() == [0, 3]
    assert (scores.values.tolist(), scores.offsets.tolist()) == ([0.5, 0.25], [0, 1, 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"successes": np.array([1])}, r"successes must have 2 entries, one per problem"),
        ({"successes": None}, "either successes or graded scores"),
        ({"clusters": ("x",)}, "clusters must name all 2 problems; got 1"),
        ({"unscored": {"lost": np.array([1])}}, r"unscored\['lost'\] must have 2 entries"),
    ],
)
def test_outcomes_made_directly_are_checked(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "problems": ("a", "b"),
        "trials": np.array([4, 4]),
        "successes": np.array([1, 2]),
    }
    with pytest.raises(passband.InvalidInput, match=message):
        Outcomes(**(given | arguments))


def test_a_status_may_have_any_name() -> None:
    outcomes = Outcomes.from_counts([1, 2], 4, unscored={"trials": [3, 0], "successes": [0, 2]})
    assert outcomes.trials.tolist() == [4, 4]
    assert outcomes.status_counts == {"ok": 8, "trials": 3, "successes": 2}
