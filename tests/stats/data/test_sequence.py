"""Scores in the order of asking: the first of each, and orders that are none of asking."""

import pickle
from fractions import Fraction
from itertools import pairwise
from math import comb, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput, WrongType
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.sequence import AskedScores
from passband.stats.data.tables import Table

rows_of_bits = st.lists(st.lists(st.integers(0, 1), max_size=6), min_size=1, max_size=8)


def sequence(rows: list[list[int]], dtype: type = np.uint8) -> AskedScores:
    values = np.array([score for row in rows for score in row], dtype=dtype)
    return AskedScores(values, np.cumsum([0, *map(len, rows)]))


def test_first_by_hand() -> None:
    asked = sequence([[0, 1, 1], [1, 0], [], [0, 0, 0, 1]])
    first = asked.first(2)
    assert first.values.tolist() == [0, 1, 1, 0, 0, 0]
    assert first.values.dtype == np.uint8
    assert first.counts().tolist() == [2, 2, 0, 2]
    assert asked.first(1).values.tolist() == [0, 1, 0]


def test_first_names_the_problem_that_is_too_short() -> None:
    with pytest.raises(InvalidInput, match=r"position 1 \(from 0\) has 2"):
        sequence([[0, 1, 1], [1, 0]]).first(3)
    with pytest.raises(InvalidInput, match="at least 1"):
        sequence([[0]]).first(0)
    with pytest.raises(WrongType):
        sequence([[0]]).first(1.5)  # type: ignore[arg-type]


@given(rows_of_bits)
def test_the_first_are_the_heads_of_rows(rows: list[list[int]]) -> None:
    least = min((len(row) for row in rows if row), default=1)
    for n in range(1, least + 1):
        assert sequence(rows).first(n) == sequence([row[:n] for row in rows])


@given(rows_of_bits)
def test_rows_of_a_matrix_are_the_same_sequence(rows: list[list[int]]) -> None:
    values = np.array([row + [0] * (6 - len(row)) for row in rows], dtype=np.uint8)
    present = np.arange(6) < np.array([[len(row)] for row in rows])
    assert AskedScores.of_rows(values, present) == sequence(rows)


@given(rows_of_bits)
def test_neighbours_are_of_one_problem(rows: list[list[int]]) -> None:
    owners = [index for index, row in enumerate(rows) for _ in row]
    expected = [a == b for a, b in pairwise(owners)]
    assert sequence(rows).neighbours.tolist() == expected


def test_sorted_scores_are_no_order_of_asking() -> None:
    rows = [[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    # 2 / (6 * 4 * 4) is not beyond chance; the square of it is.
    assert not sequence(rows).is_sorted
    assert sequence(rows * 2).is_sorted
    assert sequence([row[::-1] for row in rows * 2]).is_sorted
    assert not sequence([*rows * 2, [1, 0, 0, 0]]).is_sorted


def test_graded_scores_may_be_sorted() -> None:
    # 1 / 4! for each row: two are 2 / 576 = .0035, three 2 / 13,824.
    rising = AskedScores(np.array([0.1, 0.2, 0.4, 0.8] * 2), np.array([0, 4, 8]))
    assert not rising.is_sorted
    assert AskedScores(np.array([0.1, 0.2, 0.4, 0.8] * 3), np.array([0, 4, 8, 12])).is_sorted


def test_trials_until_a_success_or_a_failure_are_not_taken_for_sorted() -> None:
    tries = [[0] * n + [1] for n in (0, 1, 1, 2, 3, 0, 4, 1, 6, 2)] + [[0] * 8]
    assert not sequence(tries).is_sorted
    assert not sequence([[1 - score for score in row] for row in tries]).is_sorted


def test_ragged_scores_may_be_sorted() -> None:
    assert sequence([[0, 0, 1, 1], [0, 1, 1], [0, 0, 1, 1, 1], [1, 1], [0, 0, 1, 1]] * 3).is_sorted


@given(rows_of_bits)
def test_the_chance_of_sorted_is_that_of_an_order(rows: list[list[int]]) -> None:
    rows = [sorted(row) for row in rows]
    filled = [row for row in rows if row]
    expected = Fraction(1)
    is_even = len({len(row) for row in filled}) == 1
    for row in filled:
        kept = row if is_even else row[:-1]
        expected /= comb(len(kept), sum(kept))
    if filled:
        assert exp(sequence(rows)._log_chance_of_sorted()) == pytest.approx(float(expected))


def test_nothing_and_one_trial_are_not_sorted() -> None:
    assert not AskedScores(np.zeros(0), np.zeros(1, dtype=int)).is_sorted
    assert not sequence([[], []]).is_sorted
    assert not sequence([[1]]).is_sorted


def test_it_travels_and_is_its_own() -> None:
    values = np.array([0, 1], dtype=np.uint8)
    asked = AskedScores(values, np.array([0, 2]))
    values[0] = 1
    assert asked.values.tolist() == [0, 1]
    assert pickle.loads(pickle.dumps(asked)) == asked


def asked(trial: list[object], **columns: list[object]) -> list[float]:
    table = {"problem": ["a"] * len(trial), "trial": trial, "score": [1, 0, 0.5]}
    sequence = Outcomes.from_table(table | columns).asked
    assert sequence is not None
    return sequence.values.tolist()


def test_numbers_of_trials_order_them_wherever_the_rows_stand() -> None:
    assert asked([2, 3, 1]) == [0.5, 1, 0]
    assert asked(["10", "9", "11"]) == [0, 1, 0.5]  # as numbers, not as words


def test_words_leave_the_order_to_the_rows() -> None:
    assert asked(["third", "first", "second"]) == [1, 0, 0.5]
    layout = Table.of({"problem": ["a", "a"], "trial": ["x", "y"], "score": [1, 0]}).layout()
    assert "taken in the order of the rows" in layout.order.remark


def test_seeds_are_no_order_unless_rows_agree_with_them() -> None:
    table = {"problem": ["a", "a"], "seed": [90210, 7], "score": [1, 0]}
    outcomes = Outcomes.from_table(table)
    assert outcomes.asked is None
    with pytest.raises(InvalidInput, match="order in which trials were asked is not known"):
        outcomes.first(1)
    with pytest.raises(InvalidInput, match="column seed does not number the trials"):
        Table.of(table).layout(first=1).groups()
    assert Outcomes.from_table(table | {"seed": [7, 90210]}).asked is not None


def test_counts_have_no_order() -> None:
    layout = Table.of({"problem": ["a", "b"], "n": [3, 3], "c": [1, 2]}).layout(first=1)
    with pytest.raises(InvalidInput, match="counts: c successes of n trials"):
        layout.groups()


def test_the_same_trial_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is repeated"):
        asked([1, 1, 2])


def test_first_trials_keep_those_without_a_score() -> None:
    table = {
        "problem": ["a", "a", "a", "b", "b", "b"],
        "trial": [1, 2, 3, 3, 2, 1],
        "score": [1, None, 0, 1, 0, None],
        "status": ["ok", "timeout", "ok", "ok", "ok", ""],
    }
    (group,) = Table.of(table).layout(first=2).groups()
    assert group.outcomes.trials.tolist() == [1, 2]  # an empty row of b is no trial
    assert group.outcomes.status_counts == {"ok": 3, "timeout": 1}
    with pytest.raises(InvalidInput, match="problem 'b' has 2"):
        Table.of(table).layout(first=3).groups()


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_rows_gives_the_same_first_trials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (p, t, int(rng.random() < 0.5)) for p in "abcde" for t in range(int(rng.integers(2, 6)))
    ]
    expected = {p: sum(s for q, t, s in rows if q == p and t < 2) for p in "abcde"}
    mixed = [rows[i] for i in rng.permutation(len(rows))]
    table = dict(zip(("problem", "trial", "score"), zip(*mixed, strict=True), strict=True))
    first = Outcomes.from_table({name: list(column) for name, column in table.items()}).first(2)
    assert dict(zip(first.problems, first.required_successes().tolist(), strict=True)) == expected
