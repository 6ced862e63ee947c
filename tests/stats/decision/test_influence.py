"""Which problems carry a difference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, compare
from support.fuzz.properties import one_in

counts = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=14)


@one_in(4)
@given(counts)
def test_each_named_problem_is_left_out(pairs: list[tuple[int, int]]) -> None:
    a, b = (Outcomes.from_counts(side, 6) for side in zip(*pairs, strict=True))
    whole = compare(a, b, "pass@1")
    assert whole.influence is not None
    shifts = []
    for one in whole.influence.problems:
        rest = np.array([i for i in range(len(pairs)) if i != int(one.problem)])
        found = compare(a.take(rest), b.take(rest), "pass@1")
        assert one.difference == pytest.approx(found.value)
        assert one.verdict == found.decision.verdict
        shifts.append(abs(found.value - whole.value))
    assert (np.diff(shifts) < 1e-9).all()
    every = np.abs(np.array([(y - x) / 6 for x, y in pairs]) - whole.value) / (len(pairs) - 1)
    assert max(shifts, default=0.0) == pytest.approx(every.max())


@one_in(4)
@given(counts)
def test_the_fewest_problems_that_change_the_verdict(pairs: list[tuple[int, int]]) -> None:
    a, b = (Outcomes.from_counts(side, 6) for side in zip(*pairs, strict=True))
    whole = compare(a, b, "pass@1")
    influence = whole.influence
    assert influence is not None
    needed = len(influence.dropped)
    if not needed:
        assert influence.becomes is None
        return
    order = np.argsort([y - x for x, y in pairs], kind="stable")
    verdicts = []
    for kept in (order[needed:], order[:-needed]):
        rest = compare(a.take(np.sort(kept)), b.take(np.sort(kept)), "pass@1")
        verdicts.append(rest.decision.verdict)
    assert influence.becomes in verdicts
    assert influence.becomes != whole.decision.verdict


def test_a_difference_that_hangs_on_a_few_problems() -> None:
    a = Outcomes.from_counts([4] * 30, 8, problems=[f"p{i}" for i in range(30)])
    b = Outcomes.from_counts([8] * 7 + [4] * 23, 8, problems=a.problems)
    found = compare(a, b, "pass@1")
    assert found.influence is not None
    assert [one.problem for one in found.influence.problems] == ["p0", "p1", "p2", "p3", "p4"]
    assert found.influence.tied == 2
    assert found.decision.verdict == "better"
    assert found.influence.becomes == "undecided"
    assert str(found.influence).endswith("the verdict would be 'undecided'")
    assert set(found.influence.dropped) < {f"p{i}" for i in range(7)}


def test_a_difference_that_does_not() -> None:
    a, b = Outcomes.from_counts([1, 2] * 50, 8), Outcomes.from_counts([5, 4] * 50, 8)
    found = compare(a, b, "pass@1").influence
    assert found is not None
    assert found.dropped == ()
    assert str(found).startswith("the verdict holds without the 10 problems")


def test_nothing_to_leave_out() -> None:
    one = Outcomes.from_counts([1], 4)
    assert compare(one, one, "pass@1").influence is None
    assert compare(*[Outcomes.from_counts([1, 2], 4)] * 2, "pass@1", paired=False).influence is None  # type: ignore[arg-type]
    same = compare(*[Outcomes.from_counts([1, 2], 4)] * 2, "pass@1").influence  # type: ignore[arg-type]
    assert same is not None
    assert (same.problems, same.tied) == ((), 0)
