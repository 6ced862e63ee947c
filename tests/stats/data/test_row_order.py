"""The order in which the rows of a table were asked."""

import numpy as np
import pytest

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.tables import Table


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
