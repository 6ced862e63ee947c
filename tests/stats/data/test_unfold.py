"""Lists of scores in cells, as sample logs hold them, become trials."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from passband import InvalidInput, Outcomes
from passband.stats.data.tables import Table

REPEATS = [[1.0, 0.0, 1.0], [0.0, 0.0], [1.0]]
LOG: dict[str, list[Any]] = {
    "doc_id": [0, 1, 2],
    "exact_match": [1.0, 0.0, 1.0],
    "exact_match_repeats": REPEATS,
}


@pytest.mark.parametrize(
    "columns",
    [
        LOG,
        LOG | {"exact_match_repeats": [json.dumps(cell) for cell in REPEATS]},
        LOG | {"exact_match_repeats": [str([bool(x) for x in cell]) for cell in REPEATS]},
        LOG | {"exact_match_repeats": [np.array(cell) for cell in REPEATS]},
        LOG | {"exact_match_repeats": [*REPEATS[:2], None]},
        {"doc_id": [0, 1, 2], "exact_match": REPEATS},
        pd.DataFrame(LOG),
    ],
)
def test_repeats_become_trials(columns: Any) -> None:
    outcomes = Outcomes.from_table(columns)
    assert outcomes.trials.tolist() == [3, 2, 1]
    assert outcomes.required_successes().tolist() == [2, 0, 1]


def test_repeats_of_a_chosen_score() -> None:
    columns = LOG | {"f1": [0.5, 0.5, 0.5], "f1_repeats": [[0.5, 1.0], [0.5], [0.25]]}
    graded = Table.of(columns).outcomes(score="f1").graded
    assert graded is not None
    assert graded.values.tolist() == [0.5, 1.0, 0.5, 0.25]
    layout = Table.of(columns).layout()
    assert layout.unfolded.startswith("repeats: exact_match_repeats lists")
    assert layout.roles.trial == "trial"


def test_repeats_within_trials_stay_distinct() -> None:
    columns = {"problem": ["a", "a"], "trial": [0, 1], "acc": [1, 0], "acc_repeats": [[1, 0], [0]]}
    assert Outcomes.from_table(columns).trials.tolist() == [3]


def test_repeats_that_are_no_lists_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"exact_match_repeats should list the scores .* got 5"):
        Outcomes.from_table(LOG | {"exact_match_repeats": [5, 5, 5]})
    with pytest.raises(InvalidInput, match="exact_match_repeats has no repeats in any row"):
        Outcomes.from_table(LOG | {"exact_match_repeats": [[], [], []]})


def test_empty_repeats_are_passed_over() -> None:
    outcomes = Outcomes.from_table(LOG | {"exact_match_repeats": [None, None, ""]})
    assert outcomes.trials.tolist() == [1, 1, 1]
