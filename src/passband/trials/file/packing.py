"""Pack rows for SQLite: plain values, lone surrogates as bytes, a checksum at the end.

The runs and scorers, without which no other row can be used, are stored a second time in the table
`spare`, far from the first. That copy is read only to salvage a damaged file and to check one.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import index
from typing import Any

from passband.errors import InvalidInput
from passband.trials.encoding import encoded, encoded_transcript, storable
from passband.trials.file.checksums import (
    body_checksum,
    call_checksum,
    checksum,
    score_checksum,
    trial_checksum,
)
from passband.trials.file.schema import TABLES, selected
from passband.trials.rows import (
    CALL_STATUSES,
    SCORE_STATUSES,
    STATUSES,
    CallRow,
    ScoreRow,
    TrialRow,
)

MOST_TRIALS = 2**20  # of one problem; which ones are recorded is kept as bits
STATUS = {name: number for number, name in enumerate(STATUSES)}
SCORE_STATUS = {name: number for number, name in enumerate(SCORE_STATUSES)}
CALL_STATUS = {name: number for number, name in enumerate(CALL_STATUSES)}
_MARK = {"TEXT": "CAST(? AS TEXT)"}
INTO = {table: f"INTO {table}({selected(table)}) VALUES" for table in TABLES}
MARKS = {
    table: f"({','.join(_MARK.get(kind, '?') for _, kind in columns)})"
    for table, columns in TABLES.items()
}
_OF_ANY_TYPE = (5, 9, 12, 19)  # places in a call of its key, value, cost and reply
_TOGETHER = (64, 16, 4, 1)  # rows of one statement; a statement may have 999 values


def insertions(
    table: str, rows: Sequence[Sequence[Any]], conflict: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    """Yield statements and their values that insert rows, many with each.

    Every statement gives other threads the turn, and getting it back costs more than the row
    itself while the event loop is busy. Python's module takes long over None and bytes: a column
    of nothing but None is written as NULL, and bytes are bound as bytearray.
    """
    if not rows:
        return
    columns = list(zip(*rows, strict=True))
    marks: list[str] = []
    kept: list[Sequence[Any]] = []
    for (_, kind), column in zip(TABLES[table], columns, strict=True):
        is_empty = column.count(None) == len(column)
        marks.append("NULL" if is_empty else _MARK.get(kind, "?"))
        if kind == "BLOB" and not is_empty:
            kept.append([None if value is None else bytearray(value) for value in column])
        elif not is_empty:
            kept.append(column)
    values = list(chain.from_iterable(zip(*kept, strict=True)))
    into = INTO[table].removeprefix("INTO ")
    yield from statements(into, f"({','.join(marks)})", len(kept), values, conflict)


def statements(
    into: str, marks: str, width: int, values: list[Any], conflict: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    """Yield statements that insert rows of `width` values, given one after the other."""
    start, end = 0, len(values)
    for size in _TOGETHER:
        while end - start >= size * width:
            text = f"INSERT {conflict} INTO {into} {','.join([marks] * size)}"
            yield text, values[start : start + size * width]
            start += size * width


def packed(table: str, values: tuple[object, ...]) -> tuple[object, ...]:
    """Return a row of a table with its checksum."""
    checksums = {
        "trial": trial_checksum, "score": score_checksum, "call": call_checksum,
    }  # fmt: skip
    crc = checksums.get(table, checksum)(values)
    return (*[storable(value) if type(value) is str else value for value in values], crc)


def trial(run: int, row: TrialRow, body: int | None) -> tuple[Any, ...]:
    """Return the row of a trial."""
    if not 0 <= row.trial < MOST_TRIALS:
        raise InvalidInput(f"trials are numbered from 0 to {MOST_TRIALS - 1}; got {row.trial}.")
    values = (
        run, row.problem, row.trial, STATUS[row.status], row.prompt_tokens, row.completion_tokens,
        row.latency_ms, row.attempts, row.seed, row.request_id, body,
        None if row.cost is None else finite(row.cost, "a cost"), row.reason, row.source,
        row.finish_reason, row.reasoning_tokens, row.cached_tokens,
    )  # fmt: skip
    try:
        crc = trial_checksum(values)
    except (struct.error, TypeError):  # 3.0 tokens
        values = (*map(_plain, values[:11]), values[11], *map(_plain, values[12:]))
        crc = trial_checksum(values)
    if row.request_id is None and row.reason is None and row.finish_reason is None:
        return (*values, crc)
    return (*values[:9], storable(values[9]), *values[10:12], storable(values[12]),
            values[13], storable(values[14]), *values[15:], crc)  # fmt: skip


def body(number: int, run: int, row: TrialRow) -> tuple[Any, ...]:
    """Return the row of a trial's completion."""
    transcript = None if row.transcript is None else encoded_transcript(row.transcript)
    codec, text, reasoning, messages = encoded(row.text, row.reasoning, transcript)
    head = number, run, row.problem, row.trial, STATUS[row.status], codec
    crc = body_checksum(head, text, reasoning, messages)
    return (*head, text, reasoning, messages, crc)


def score(problem: int, trial: int, row: ScoreRow) -> tuple[Any, ...]:
    """Return the row of a score."""
    scorer, value, status, answer, rule, detail = row
    values = (
        scorer, problem, trial, None if value is None else finite(value, "a score"),
        SCORE_STATUS[status],
        None if answer is None else answer.encode("utf-8", "surrogatepass"), rule, detail,
    )  # fmt: skip
    crc = score_checksum(values)
    return (*values[:6], storable(rule), storable(detail), crc)


def call(row: CallRow) -> tuple[Any, ...]:
    """Return the row of a call to a judge."""
    if not row.key or type(row.key) is not bytes:
        raise InvalidInput(f"a call needs a key of some bytes; got {row.key!r}.")
    codec, reply, _, _ = encoded(row.reply)
    values: tuple[Any, ...] = (
        row.scorer, row.problem, row.trial, row.call, row.attempt, row.key, row.at_ms,
        CALL_STATUS[row.status], int(row.is_cached),
        None if row.value is None else finite(row.value, "a verdict"), row.prompt_tokens,
        row.completion_tokens, None if row.cost is None else finite(row.cost, "a cost"),
        row.latency_ms, row.seed, row.http, row.outcome, row.detail, codec, reply,
    )  # fmt: skip
    try:
        crc = call_checksum(values)
    except (struct.error, TypeError):  # 3.0 tokens
        values = tuple(v if n in _OF_ANY_TYPE else _plain(v) for n, v in enumerate(values))
        crc = _required(call_checksum, values, row)
    if row.outcome is None and row.detail is None:
        return (*values, crc)
    return (*values[:16], storable(row.outcome), storable(row.detail), codec, reply, crc)


def _required(checksum: Callable[[tuple[Any, ...]], int], values: tuple[Any, ...], row: Any) -> int:
    try:
        return checksum(values)
    except (struct.error, TypeError, AttributeError) as error:
        raise InvalidInput(f"a call cannot be recorded: {error}; got {row}.") from None


def finite(value: float, what: str) -> float:
    """Return a number as SQLite keeps it, which knows neither NaN nor a negative zero."""
    if not math.isfinite(value):
        raise InvalidInput(f"{what} must be a finite number; got {value}.")
    return float(value) + 0.0


def _plain(value: Any) -> Any:
    """Return what SQLite would make of a value that is not of its column's type."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return index(value)
    except TypeError:
        raise InvalidInput(f"a trial cannot record {value!r} ({type(value).__name__}).") from None


SPARED = ("run", "scorer")


def put_spare(connection: sqlite3.Connection, table: str, row: tuple[object, ...]) -> None:
    """Write a row, given without its checksum, in place of what is there."""
    values = packed("spare", (table, row[0], json.dumps(row)))
    connection.execute(f"INSERT OR REPLACE {INTO['spare']} {MARKS['spare']}", values)


def drop_spare(connection: sqlite3.Connection, table: str) -> None:
    """Delete the rows that the table itself has no longer."""
    gone = f"name=? AND number NOT IN (SELECT {table} FROM {table})"
    connection.execute(f"DELETE FROM spare WHERE {gone}", (table,))


def fill_spare(connection: sqlite3.Connection) -> None:
    """Write every run and every scorer again."""
    connection.execute("DELETE FROM spare")
    for table in SPARED:
        for row in connection.execute(f"SELECT {selected(table)} FROM {table}").fetchall():
            put_spare(connection, table, row[:-1])


def spared(rows: Iterable[tuple[Any, ...]], table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, with their checksums, that intact rows of `spare` hold."""
    for row in rows:
        if row[0] == table:
            yield packed(table, tuple(json.loads(row[2])))
