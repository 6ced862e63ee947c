"""Trials packed together are the rows that they are one by one."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.trials.file import packing
from passband.trials.file.batch import Batch
from passband.trials.file.schema import CREATE, text_of
from passband.trials.rows import ScoreRow, TrialRow
from support.samples.stores import any_rows


def stored(statements: Any) -> dict[str, list[tuple[Any, ...]]]:
    """Return what a file holds after statements."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = text_of
        connection.executescript(CREATE)
        for text, values in statements:
            connection.execute(text, values)
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
            for table in ("body", "trial", "score")
        }


def one_by_one(batch: Batch, trials: list[TrialRow]) -> Any:
    """Yield statements for rows that are packed singly, under the numbers that the batch gave."""
    numbers = {row[1:3]: row[10] for row in stored(batch.insertions())["trial"]}
    for trial in trials:
        number = numbers[trial.problem, trial.trial]
        if number is not None:
            yield from packing.insertions("body", [packing.body(number, 7, trial)])
        yield from packing.insertions("trial", [packing.trial(7, trial, number)])
        for score in trial.scores:
            row = packing.score(trial.problem, trial.trial, score)
            yield from packing.insertions("score", [row])


@example(  # the id of a request that is packed otherwise is not that of the next trial
    [
        TrialRow(0, 0, "ok", "", completion_tokens=3.0, request_id="a"),  # type: ignore[arg-type]
        TrialRow(0, 1, "ok", ""),
    ]
)
@settings(max_examples=40)
@given(st.lists(any_rows, max_size=6, unique_by=lambda row: (row.problem, row.trial)))
def test_rows_are_those_that_are_packed_one_by_one(trials: list[TrialRow]) -> None:
    batch = Batch(7, 100)
    batch.add(trials)
    assert stored(batch.insertions()) == stored(one_by_one(batch, trials))
    texts = [t for t in trials if (t.text, t.reasoning, t.transcript) != (None, None, None)]
    assert batch.last_body == 100 + len(texts)
    assert sorted(row[:2] for row in batch.trials) == sorted((t.problem, t.trial) for t in trials)
    assert sum(map(len, batch.scores.values())) == sum(len(trial.scores) for trial in trials)


@pytest.mark.parametrize(
    "row",
    [
        TrialRow(0, -1, "ok", "x"),
        TrialRow(0, 2**20, "ok", "x"),
        TrialRow(0, 0, "ok", "x", prompt_tokens=1.5),  # type: ignore[arg-type]
        TrialRow(0, 0, "ok", "x", scores=[ScoreRow(1, float("nan"))]),
    ],
)
def test_what_cannot_be_stored_is_refused(row: TrialRow) -> None:
    with pytest.raises(InvalidInput):
        Batch(1, 0).add([row])
