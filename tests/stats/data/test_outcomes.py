"""Outcomes: every way in gives the same evidence, and nobody can change it afterwards."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from passband import InvalidInput, NotEnoughData, Outcomes
from passband.errors import WrongType

RAGGED: list[Any] = [[1, 0, 1, 1], [0, None, 0], [], [None]]


def counts(outcomes: Outcomes) -> tuple[list[int], list[int] | None]:
    successes = outcomes.successes
    return outcomes.trials.tolist(), None if successes is None else successes.tolist()


def inner_arrays(outcomes: Outcomes) -> list[np.ndarray]:
    found = [outcomes.trials, *outcomes.unscored.values()]
    if outcomes.successes is not None:
        found.append(outcomes.successes)
    if outcomes.graded is not None:
        found += [outcomes.graded.values, outcomes.graded.offsets]  # type: ignore[list-item]
    return found


# -- matrices --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "matrix",
    [
        np.array([[1, 0, 1], [0, 0, 1]]),
        np.array([[True, False, True], [False, False, True]]),
        np.array([[1, 0, 1], [0, 0, 1]], dtype=np.int8),
        np.array([[1, 0, 1], [0, 0, 1]], dtype=np.uint64),
        np.array([[1, 0, 1], [0, 0, 1]], dtype=np.float32),
        np.array([[1, 0, 1], [0, 0, 1]], dtype=object),
        np.asfortranarray([[1, 0, 1], [0, 0, 1]]),
        np.array([[1, 9, 0, 9, 1], [0, 9, 0, 9, 1]])[:, ::2],
        np.ma.masked_array([[1, 0, 1], [0, 0, 1]]),
        [[1, 0, 1], [0, 0, 1]],
        [(1.0, 0.0, 1.0), (False, False, True)],
        [np.array([1, 0, 1]), np.array([0, 0, 1])],
        pd.DataFrame({"first": [1, 0], "second": [0, 0], "third": [1, 1]}),
        pd.DataFrame({"1": [1, 0], "0": [0, 0], "2": [1, 1]}),
    ],
)
def test_every_kind_of_matrix_is_read_alike(matrix: Any) -> None:
    outcomes = Outcomes.from_array(matrix)
    assert counts(outcomes) == ([3, 3], [2, 1])
    assert outcomes.is_binary
    assert list(outcomes.problems) == ["0", "1"]
    assert outcomes.n_unscored == 0


def test_rows_may_come_from_iterators() -> None:
    outcomes = Outcomes.from_array(iter(row) for row in [[1, 0], [1, None, 1]])  # type: ignore[arg-type]
    assert counts(outcomes) == ([2, 2], [1, 2])
    assert outcomes.status_counts == {"ok": 4, "missing": 1}


def test_a_ragged_object_array_is_a_list_of_rows() -> None:
    rows = np.empty(2, dtype=object)
    rows[:] = [[1, 0, 1], [None]]
    outcomes = Outcomes.from_array(rows)
    assert counts(outcomes) == ([3, 0], [2, 0])
    assert outcomes.unscored["missing"].tolist() == [0, 1]


def test_ragged_rows_are_not_padded_with_missing_trials() -> None:
    outcomes = Outcomes.from_array(RAGGED)
    assert counts(outcomes) == ([4, 2, 0, 0], [3, 0, 0, 0])
    assert outcomes.unscored["missing"].tolist() == [0, 1, 0, 1]
    assert repr(outcomes) == "Outcomes(4 problems, 0-4 trials each, 6 scored, 2 missing)"


@pytest.mark.parametrize(
    "matrix",
    [
        np.array([[1, np.nan], [0, 1]]),
        np.array([[1, None], [0, 1]], dtype=object),
        np.ma.masked_array([[1, 1], [0, 1]], mask=np.array([[0, 1], [0, 0]], bool)),
        np.ma.masked_array([[1, np.inf], [0, 1]], mask=np.array([[0, 1], [0, 0]], bool)),
        np.ma.masked_array([[True, True], [False, True]], mask=np.array([[0, 1], [0, 0]], bool)),
        np.ma.masked_array([[1, 7], [0, 1]], mask=np.array([[0, 1], [0, 0]], bool), dtype=object),
        [np.ma.masked_array([1, 1], mask=np.array([0, 1], bool)), [0, 1]],
        [[1, np.nan], [0, 1]],
        [[1, None], [0, 1]],
        [[1, pd.NA], [0, 1]],
        pd.DataFrame({"first": [1, 0], "second": [None, 1]}),
        pd.DataFrame({"first": [1, 0], "second": [None, 1]}, dtype="Int64"),
    ],
)
def test_a_missing_trial_is_counted_and_never_scored(matrix: Any) -> None:
    outcomes = Outcomes.from_array(matrix)
    assert counts(outcomes) == ([1, 2], [1, 1])
    assert outcomes.status_counts == {"ok": 3, "missing": 1}
    assert outcomes.unscored["missing"].tolist() == [1, 0]


def test_masked_and_missing_add_up() -> None:
    scores = np.ma.masked_array([[1.0, np.nan, 0.0, 1.0]], mask=np.array([[0, 0, 1, 0]], bool))
    outcomes = Outcomes.from_array(scores)
    assert counts(outcomes) == ([2], [2])
    assert outcomes.n_unscored == 2


@given(
    npst.arrays(np.int8, npst.array_shapes(min_dims=2, max_dims=2), elements=st.integers(0, 1)),
    st.data(),
)
def test_mask_none_nan_and_lists_agree(values: np.ndarray, data: st.DataObject) -> None:
    mask = data.draw(npst.arrays(bool, values.shape))
    with_nan = np.where(mask, np.nan, values)
    with_none = [
        [None if hidden else int(score) for score, hidden in zip(*pair, strict=True)]
        for pair in zip(values, mask, strict=True)
    ]
    expected = (~mask).sum(axis=1).tolist(), (values * ~mask).sum(axis=1).tolist()
    for scores in (np.ma.masked_array(values, mask), with_nan, with_none):
        outcomes = Outcomes.from_array(scores)
        assert counts(outcomes) == expected
        assert outcomes.n_unscored == mask.sum()


def test_graded_scores_are_kept_trial_by_trial() -> None:
    outcomes = Outcomes.from_array([[0.5, None, 2], [], [-1]])  # type: ignore[arg-type]
    assert not outcomes.is_binary
    assert outcomes.successes is None
    assert outcomes.graded is not None
    assert outcomes.graded.values.tolist() == [0.5, 2, -1]
    assert outcomes.graded.offsets.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([], "at least one problem"),
        ([[], []], "at least one trial"),
        (np.zeros((0, 3)), "at least one problem"),
        (np.zeros((3, 0)), "at least one trial"),
        (np.zeros(3), r"two dimensions.*got 1.*scores\[:, None\]"),
        (np.zeros((2, 2, 2)), "two dimensions.*got 3"),
        (np.array([["1", "0"]]), "must be numbers; got an array of <U1"),
        (np.array([[1j]]), "must be numbers; got an array of complex"),
        (np.array([[1, np.inf]]), "infinite"),
        ([[1, float("-inf")]], "infinite"),
        ([1, 0, 1], "problem 0 must be a list of scores; got 1"),
        ([[1, 0], 5], "problem 1 must be a list of scores; got 5"),
        (["10", "01"], "problem 0 must be a list of scores; got '10'"),
        ([[1, "1"]], "problem 0 has '1'"),
        ([[1], [0, "yes"]], "problem 1 has 'yes'"),
        ([[1, [0]]], r"problem 0 has \[0\]"),
        ([[1, 10**400]], "problem 0 has 1000"),
        (7, "one list per problem; got int"),
        (None, "one list per problem; got NoneType"),
    ],
)
def test_what_is_not_a_matrix_is_refused(matrix: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Outcomes.from_array(matrix)


# -- counts ----------------------------------------------------------------------------------


def test_counts() -> None:
    outcomes = Outcomes.from_counts([3, 0], [8, 2], unscored={"timeout": [0, 6], "refused": [0, 0]})
    assert counts(outcomes) == ([8, 2], [3, 0])
    assert outcomes.status_counts == {"ok": 10, "timeout": 6}
    assert counts(Outcomes.from_counts([3, 0], 8)) == ([8, 8], [3, 0])
    assert counts(Outcomes.from_counts(3, 8)) == ([8], [3])
    assert counts(Outcomes.from_counts([3.0, 0.0], np.uint8(8))) == ([8, 8], [3, 0])


@pytest.mark.parametrize(
    ("successes", "trials", "message"),
    [
        ([3], [2], "problem 0 has 3 of 2"),
        ([1, 2], [2, 2, 2], "must match; got 2 and 3"),
        ([0.5], 2, "successes must be whole numbers of at least 0; got 0.5"),
        ([-1], 2, "at least 0; got -1"),
        ([1], -2, "trials must be whole numbers of at least 0; got -2"),
        ([float("nan")], 2, "got nan"),
        ([float("inf")], 2, "got inf"),
        ([1], 1e300, "got 1e"),
        (["1"], 2, "successes must be a list of whole numbers"),
        ([True], 2, "successes must be a list of whole numbers"),
        ([[1]], 2, "successes must be a list of whole numbers"),
        ([], [], "at least one problem"),
        (np.ma.masked_array([1, 1], mask=np.array([0, 1], bool)), 2, "successes.*masked"),
        ([1, 1], np.ma.masked_array([2, 2], mask=np.array([0, 1], bool)), "trials.*masked"),
    ],
)
def test_counts_that_cannot_be_are_refused(successes: Any, trials: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Outcomes.from_counts(successes, trials)


def test_unscored_counts_name_every_problem() -> None:
    with pytest.raises(InvalidInput, match=r"unscored\['timeout'\] must have 2 entries; got 1"):
        Outcomes.from_counts([1, 1], 2, unscored={"timeout": [1]})


# -- names -----------------------------------------------------------------------------------


def test_names_and_clusters() -> None:
    outcomes = Outcomes.from_array(
        [[1], [0], [1]], problems=[7, "b", 2.5], clusters=["x", "y", "x"]
    )
    assert outcomes.problems == ("7", "b", "2.5")
    assert outcomes.clusters == ("x", "y", "x")
    assert "3 problems, 2 clusters" in repr(outcomes)


def test_problems_without_names_are_numbered() -> None:
    names = Outcomes.from_counts(np.zeros(1000), 1).problems
    assert len(names) == 1000
    assert (names[0], names[-1], names[2:4]) == ("0", "999", ("2", "3"))
    with pytest.raises(IndexError):
        names[1000]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"problems": ["a"]}, "problems must name all 2 problems; got 1"),
        ({"problems": []}, "problems must name all 2 problems; got 0"),
        ({"clusters": ["a", "b", "c"]}, "clusters must name all 2 problems; got 3"),
        ({"problems": ["a", "a"]}, "must be distinct; 'a' is duplicated"),
        ({"problems": [1, "1"]}, "must be distinct; '1' is duplicated"),
    ],
)
def test_names_must_fit(labels: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Outcomes.from_array([[1], [0]], **labels)


# -- frozen ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given_array",
    [
        np.array([[1, 0], [0, 1]]),
        np.array([[1, 0], [0, 1]], dtype=bool),
        np.array([[1.0, np.nan], [0.0, 1.0]]),
        np.array([[0.5, 2.0], [0.0, 1.0]]),
        np.array([[5, 2], [0, 1]]),
        np.array([[0.5, np.nan], [0.0, 1.0]]),
        np.ma.masked_array([[1, 0], [0, 1]], mask=np.array([[0, 1], [0, 0]], bool)),
        np.array([[1, None], [0, 1]], dtype=object),
    ],
)
def test_arrays_of_the_caller_and_of_the_outcomes_are_apart(given_array: np.ndarray) -> None:
    scores, before = given_array.copy(), given_array.copy()
    outcomes = Outcomes.from_array(scores)
    frozen = [array.copy() for array in inner_arrays(outcomes)]
    assert scores.flags.writeable
    np.testing.assert_array_equal(np.ma.getdata(scores), np.ma.getdata(before))
    np.testing.assert_array_equal(np.ma.getmaskarray(scores), np.ma.getmaskarray(before))
    scores[:] = 0
    for array, copy in zip(inner_arrays(outcomes), frozen, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_counts_of_the_caller_are_copied() -> None:
    c, n, lost = np.array([1, 2]), np.array([4, 4]), np.array([0, 3])
    outcomes = Outcomes.from_counts(c, n, unscored={"lost": lost})
    for array in (c, n, lost):
        array += 1
    assert counts(outcomes) == ([4, 4], [1, 2])
    assert outcomes.unscored["lost"].tolist() == [0, 3]
    assert not any(array.flags.writeable for array in inner_arrays(outcomes))


def test_nothing_can_be_assigned() -> None:
    outcomes = Outcomes.from_array([[1, None]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        outcomes.trials = np.array([5])
    with pytest.raises(TypeError):
        outcomes.unscored["missing"] = np.array([5])  # type: ignore[index]


# -- other outcomes from these ---------------------------------------------------------------


def test_binarize_keeps_everything_but_the_grades() -> None:
    graded = Outcomes.from_array(
        [[0.2, 0.9, None], [], [0.5, 0.1]], problems="abc", clusters=["x", "x", "y"]
    )
    binary = graded.binarize(0.5)
    assert counts(binary) == ([2, 0, 2], [1, 0, 1])
    assert binary.status_counts == graded.status_counts
    assert (binary.problems, binary.clusters) == (graded.problems, graded.clusters)
    assert counts(graded.binarize(9)) == ([2, 0, 2], [0, 0, 0])


def test_binarize_leaves_binary_scores_alone() -> None:
    binary = Outcomes.from_array([[1, 0]])
    assert binary.binarize(0.5) is binary
    for threshold in (0, 1.5):
        with pytest.raises(InvalidInput, match=r"0 or 1 already; threshold must be in \(0, 1\]"):
            binary.binarize(threshold)
    for threshold in (float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match="threshold must be a finite number"):
            Outcomes.from_array([[0.5]]).binarize(threshold)


def test_policies() -> None:
    outcomes = Outcomes.from_counts([2, 1], [4, 1], unscored={"timeout": [0, 2], "lost": [1, 0]})
    assert outcomes.under("drop") is outcomes
    failed = outcomes.under("fail")
    assert counts(failed) == ([5, 3], [2, 1])
    assert failed.n_unscored == 0
    with pytest.raises(InvalidInput, match=r"2 timeout, 1 lost without a score.*'error'"):
        outcomes.under("error")
    with pytest.raises(InvalidInput, match="'drop', 'fail' or 'error'; got 'ignore'"):
        outcomes.under("ignore")  # type: ignore[arg-type]
    complete = Outcomes.from_counts([2], 4)
    assert complete.under("error") is complete


@given(st.lists(st.lists(st.none() | st.floats(0, 2), max_size=5), min_size=1, max_size=6))
def test_failed_trials_of_graded_scores_are_zeros(rows: list[list[float | None]]) -> None:
    if not any(rows):
        return
    failed = Outcomes.from_array(rows).under("fail")
    expected = Outcomes.from_array([[score or 0.0 for score in row] for row in rows])
    assert failed.trials.tolist() == expected.trials.tolist()
    if failed.graded is None or expected.graded is None:
        return
    for got, wanted in zip(failed.graded.groups, expected.graded.groups, strict=True):
        assert got.problem.tolist() == wanted.problem.tolist()
        assert got.ordered.tolist() == wanted.ordered.tolist()


# -- refusals --------------------------------------------------------------------------------


def test_a_binary_metric_names_the_values_and_a_threshold() -> None:
    with pytest.raises(InvalidInput, match=r"got 1, 2, 5\. .*\.binarize\(3\).*--threshold 3\."):
        _ = Outcomes.from_array([[1, 5, 2]]).histogram
    with pytest.raises(InvalidInput, match=r"got 0, 1, 2, 3, 4 and 4 more\. "):
        _ = Outcomes.from_array([list(range(9))]).histogram
    with pytest.raises(InvalidInput, match=r"binarize\(1e\+308\)"):
        _ = Outcomes.from_array([[1e308, 1e308]]).histogram


def test_too_few_trials() -> None:
    outcomes = Outcomes.from_array([[1, 0], [1]])
    outcomes.require(2)
    with pytest.raises(NotEnoughData, match="got k=3, and the most trials of any problem is 2"):
        outcomes.require(3)


def test_no_trials_at_all() -> None:
    outcomes = Outcomes.from_array([[None, None], []])
    with pytest.raises(NotEnoughData, match=r"no trial has a score \(2 missing\)"):
        outcomes.require(1)
    with pytest.raises(NotEnoughData, match="no trial has a score"):
        _ = outcomes.histogram


def test_wrong_types_are_type_errors_too() -> None:
    with pytest.raises(TypeError):
        Outcomes.from_array([["a"]])
    assert issubclass(WrongType, ValueError)
