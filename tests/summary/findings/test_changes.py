"""Problems on which two models differ: which are named, in which order, and how many there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes
from passband.summary.findings.changes import Stack, changes_of

counts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)


def outcomes(successes: list[int], trials: int | list[int], names: str) -> Outcomes:
    return Outcomes.from_counts(successes, trials, problems=list(names))


def test_the_largest_change_comes_first_and_more_trials_before_fewer() -> None:
    a = outcomes([0, 4, 0, 3], [2, 8, 8, 4], "pqrs")
    b = outcomes([1, 8, 4, 3], [2, 8, 8, 4], "pqrs")
    found = changes_of(a, b)
    assert [one.problem for one in found.most] == ["q", "r", "p"]  # all by 1/2; s is unchanged
    assert found.most[0].a == Stack(0.5, 8, 4)
    assert (found.improved, found.worsened) == (3, 0)
    assert (found.flipped_up, found.flipped_down) == (2, 0)  # q was in the upper half already
    assert [one.is_flip for one in found.most] == [False, True, True]


def test_only_shared_problems_count() -> None:
    found = changes_of(outcomes([0, 4], 4, "pq"), outcomes([4, 4], 4, "pz"))
    assert found.n_problems == 1
    assert [one.problem for one in found.most] == ["p"]
    with pytest.raises(InvalidInput, match="no problem is on both sides"):
        changes_of(outcomes([0], 4, "p"), outcomes([4], 4, "z"))


def test_graded_scores_have_means_and_no_counts() -> None:
    a = Outcomes.from_array([[1.0, 2.0], [9.0, 9.0]])
    b = Outcomes.from_array([[8.0, 9.0], [9.0, 9.0]])
    (only,) = changes_of(a, b).most
    assert (only.a, only.b) == (Stack(1.5, 2, None), Stack(8.5, 2, None))
    assert only.is_flip


@given(counts)
def test_changes_add_up_and_turn_around(pairs: list[tuple[int, int]]) -> None:
    a, b = (Outcomes.from_counts([pair[side] for pair in pairs], 4) for side in (0, 1))
    there, back = changes_of(a, b), changes_of(b, a)
    unchanged = sum(x == y for x, y in pairs)
    assert there.improved + there.worsened + unchanged == there.n_problems == len(pairs)
    assert (there.improved, there.flipped_up) == (back.worsened, back.flipped_down)
    assert [one.problem for one in there.most] == [one.problem for one in back.most]
    sizes = [abs(one.b.value - one.a.value) for one in there.most]
    assert sizes == sorted(sizes, reverse=True)
    assert 0.0 not in sizes
