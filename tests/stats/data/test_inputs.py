"""Names of problems: given, or numbers made when needed."""

import pickle

import pytest

from passband import InvalidInput
from passband.stats.data.inputs import Numbered, as_labels, check_labels, problem_labels


def test_numbers_are_names() -> None:
    names = Numbered(12)
    assert (len(names), names[3], names[-1], names[:2]) == (12, "3", "11", ("0", "1"))
    assert names == tuple(str(number) for number in range(12))
    assert tuple(names) == names
    assert names != Numbered(11)
    assert pickle.loads(pickle.dumps(names)) == names
    assert hash(Numbered(2)) == hash(("0", "1"))
    with pytest.raises(IndexError):
        names[12]


def test_anything_is_kept_as_text() -> None:
    assert as_labels([1, "a", True]) == ("1", "a", "True")
    assert as_labels(None) is None
    assert problem_labels(None, 3) == Numbered(3)
    assert problem_labels([7], 1) == ("7",)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_label_is_no_name(missing: object) -> None:
    with pytest.raises(InvalidInput, match="every problem must have a label; that of problem 1"):
        as_labels(["a", missing])


def test_labels_name_every_problem() -> None:
    with pytest.raises(InvalidInput, match="clusters must name all 3 problems; got 2 names"):
        check_labels("clusters", ("a", "a"), 3, distinct=False)
    check_labels("clusters", ("a", "a", "b"), 3, distinct=False)
    with pytest.raises(InvalidInput, match="problems must be distinct; 'a' is duplicated"):
        check_labels("problems", ("a", "b", "a"), 3, distinct=True)
