"""The note on problems with too few trials that are unlike the others."""

from passband import Outcomes, estimate
from passband.stats.evidence.collect import left_out_notes


def codes(outcomes: Outcomes, k: int = 1) -> list[str]:
    return [note.code for note in left_out_notes(outcomes, k)]


def test_equal_trials_have_none() -> None:
    assert codes(Outcomes.from_counts([0, 3, 4] * 20, 4)) == []
    assert codes(Outcomes.from_counts([0, 3, 0], [4, 4, 0])) == []


def test_problems_left_out_that_are_easier_than_the_rest() -> None:
    outcomes = Outcomes.from_counts([2] * 10 + [1, 2, 0, 1] * 10, [2] * 10 + [8] * 40)
    (note,) = left_out_notes(outcomes, 4)
    assert note.code == "left-out-differ"
    assert "10 problems with fewer than 4 trials" in note.text
    assert "their pass@1 is 1.000, that of the others 0.125" in note.text
    assert codes(outcomes, 2) == []  # nothing is left out
    assert note in estimate(outcomes, "pass@4").notes


def test_problems_left_out_that_are_like_the_rest() -> None:
    assert codes(Outcomes.from_counts([1] * 10 + [4] * 40, [2] * 10 + [8] * 40), 4) == []


def test_one_problem_left_out_is_hardly_ever_beyond_chance() -> None:
    outcomes = Outcomes.from_counts([2] + [1, 7] * 20, [2] + [8] * 40)
    assert codes(outcomes, 4) == []


def test_problems_without_trials_are_left_out_and_counted() -> None:
    outcomes = Outcomes.from_counts([0, 3, 2, 1, 4, 0, 2], [0, 4, 4, 2, 4, 0, 4])
    for metric, left_out in (("pass@1", 2), ("pass@4", 3), ("avg", 2)):
        found = estimate(outcomes, metric, over="trials")
        assert found.left_out == left_out
        assert found.low is not None
        assert found.n_problems == 7 - left_out
