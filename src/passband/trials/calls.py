"""Calls to judges, read: those of a scorer or of a trial, and replies by what was asked."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from passband.trials.checked import CheckedRows
from passband.trials.checksums import is_intact
from passband.trials.codec import decoded
from passband.trials.packing import CALL_STATUS
from passband.trials.rows import CALL_STATUSES, CallRow
from passband.trials.schema import selected

__all__ = ["all_calls", "call_of", "calls_of", "replies_of"]

_PLACE = "scorer, problem, trial, call, attempt"
_FAILED = CALL_STATUS["failed"]
_TOGETHER = 500  # keys of one query


def calls_of(rows: CheckedRows, where: str, *arguments: object) -> Iterator[CallRow]:
    """Yield the calls that a condition chooses, by scorer, problem, trial, call and attempt."""
    query = f"SELECT {selected('call')} FROM call WHERE {where} ORDER BY {_PLACE}"
    for row in rows.each(query, *arguments):
        yield call_of(rows, row)


def all_calls(rows: CheckedRows, scorer: int) -> Iterator[CallRow]:
    """Yield every call of a scorer, and require that none is lost."""
    count = 0
    for row in calls_of(rows, "scorer=?", scorer):
        count += 1
        yield row
    rows.require("call", scorer, count)


def replies_of(rows: CheckedRows, keys: Iterable[bytes]) -> dict[bytes, list[CallRow]]:
    """Return the paid replies to each of these requests that has any, by attempt and time."""
    wanted = list(dict.fromkeys(keys))
    found: dict[bytes, list[CallRow]] = {}
    for start in range(0, len(wanted), _TOGETHER):
        chunk = wanted[start : start + _TOGETHER]
        where = f"key IN ({','.join('?' * len(chunk))}) AND NOT cached AND status<>{_FAILED}"
        for row in calls_of(rows, where, *chunk):
            found.setdefault(row.key, []).append(row)
    for replies in found.values():
        replies.sort(key=lambda row: (row.attempt, row.at_ms))
    return found


def call_of(rows: CheckedRows, row: tuple[Any, ...]) -> CallRow:
    """Return the call of a row of its table."""
    if not is_intact("call", row):
        raise rows.damaged("call", row)
    (scorer, problem, trial, number, attempt, key, at, status, cached, value, prompt, completion,
     cost, latency, seed, http, outcome, detail, codec, reply, _) = row  # fmt: skip
    if not 0 <= status < len(CALL_STATUSES):
        raise rows.corrupt(f"no call has the status {status}")
    try:
        text = decoded(codec, reply)
    except (ValueError, zlib.error) as error:
        raise rows.corrupt(f"a judge's reply cannot be read: {error}") from error
    return CallRow(
        scorer, problem, trial, number, attempt, key, at, CALL_STATUSES[status], value, text,
        prompt, completion, cost, latency, seed, bool(cached), outcome, http, detail,
    )  # fmt: skip
