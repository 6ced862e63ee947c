"""Trials and scores as they were written, from rows that are checked on the way.

Rows like most are checked and unpacked in one go, which takes half the time; a row that is not as
usual, damaged or not, goes the long way, which says what is wrong with it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from math import nan
from typing import Any
from zlib import crc32

from passband.trials.encoding import decoded, decoded_transcript
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.checksums import (
    BODY,
    NOTHING,
    SCORE,
    TRIAL,
    body_checksum,
    is_intact,
    trial_checksum,
)
from passband.trials.file.schema import TABLES, selected
from passband.trials.rows import SCORE_STATUSES, STATUSES, ScoreRow, TrialRow

_TRIAL = (
    f"SELECT {selected('trial', prefix='t.')}, b.* FROM trial AS t "
    "LEFT JOIN body AS b ON b.id=t.body WHERE"
)
_COLUMNS = len(TABLES["trial"])


def trials_of(rows: CheckedRows, where: str, *arguments: object) -> Iterator[TrialRow]:
    """Yield the trials (`t`) that a condition chooses, without scores, by problem and trial."""
    for row in rows.each(f"{_TRIAL} {where} ORDER BY t.problem, t.trial", *arguments):
        yield _usual_trial(row) or trial_of(rows, row)


def placed_trial(rows: CheckedRows, run: int, problem: int, trial: int) -> TrialRow | None:
    """Return a trial with what every scorer gave it, if it is there."""
    of_place = "t.run=? AND t.problem=? AND t.trial=?"
    row = next(trials_of(rows, of_place, run, problem, trial), None)
    if row is not None:
        of_run = "scorer IN (SELECT scorer FROM scorer WHERE run=?) AND problem=? AND trial=?"
        row.scores = [score for *_, score in scores_of(rows, of_run, run, problem, trial)]
    return row


def scores_of(
    rows: CheckedRows, where: str, *arguments: object
) -> Iterator[tuple[int, int, ScoreRow]]:
    """Yield (problem, trial, score) of the scores that a condition chooses, in that order."""
    query = f"SELECT * FROM score WHERE {where} ORDER BY scorer, problem, trial"
    for row in rows.each(query, *arguments):
        yield row[1], row[2], _usual_score(row) or score_of(rows, row)


def _usual_trial(row: tuple[Any, ...]) -> TrialRow | None:
    """Return a trial like most; None for any other, and for one that is damaged."""
    (run, problem, trial, status, prompt, completion, latency, attempts, seed, request, number,
     cost, reason, source, finish_reason, reasoned, cached, crc, body, *place, codec, text,
     reasoning, transcript, text_crc) = row  # fmt: skip
    if codec != 0 or [run, problem, trial, status] != place:
        return None
    if not (reason is None and source is None and finish_reason is None):
        return None
    if reasoning is not None or transcript is not None:
        return None
    try:
        named = request.encode() if request else b""
        numbers = TRIAL(
            run, problem, trial, status,
            NOTHING if prompt is None else prompt,
            NOTHING if completion is None else completion,
            NOTHING if latency is None else latency,
            attempts,
            NOTHING if seed is None else seed,
            number, NOTHING, -1 if request is None else len(named), -1, -1,
            NOTHING if reasoned is None else reasoned,
            NOTHING if cached is None else cached,
            nan if cost is None else cost,
        )  # fmt: skip
        head = BODY(body, run, problem, trial, status, 0, len(text), -1, -1)
        if crc32(numbers + named) != crc or crc32(text, crc32(head)) != text_crc:
            return None
        return TrialRow(
            problem, trial, STATUSES[status], text.decode(), None, prompt, completion, latency,
            attempts, seed, request, [], None, cost, None, None, None, reasoned, cached,
        )  # fmt: skip
    except (TypeError, AttributeError, ValueError, IndexError, struct.error):
        return None


def _usual_score(row: tuple[Any, ...]) -> ScoreRow | None:
    """Return a score like most; None for any other, and for one that is damaged."""
    scorer, problem, trial, value, status, answer, rule, detail, crc = row
    if detail is not None or answer is None or rule is None or value is None:
        return None
    try:
        named = rule.encode()
        numbers = SCORE(scorer, problem, trial, status, len(answer), len(named), -1, value)
        if crc32(numbers + answer + named) != crc:
            return None
        kind = SCORE_STATUSES[status]
        return tuple.__new__(ScoreRow, (scorer, value, kind, answer.decode(), rule, None))
    except (TypeError, AttributeError, ValueError, IndexError, struct.error):
        return None


def score_of(rows: CheckedRows, row: tuple[Any, ...]) -> ScoreRow:
    """Return the score of a row of its table, whatever it holds."""
    if not is_intact("score", row):
        raise rows.damaged("score", row)
    scorer, _, _, value, status, answer, rule, detail, _ = row
    try:
        text = decoded(0, answer)
    except ValueError as error:
        raise rows.corrupt(f"an answer cannot be read: {error}") from error
    return ScoreRow(scorer, value, rows.score_status(status), text, rule, detail)


def trial_of(rows: CheckedRows, row: tuple[Any, ...]) -> TrialRow:
    """Return the trial of its row and that of its completion, whatever they hold."""
    values, body = row[: _COLUMNS - 1], row[_COLUMNS:]
    (_, problem, trial, status, prompt, completion, latency, attempts, seed, request, number,
     cost, reason, source, finish_reason, reasoned, cached) = values  # fmt: skip
    text = reasoning = transcript = None
    try:
        if trial_checksum(values) != row[_COLUMNS - 1]:
            raise rows.damaged("trial", row)
        if number is not None:
            text, reasoning, transcript = _texts(values, body)
    except (TypeError, AttributeError, struct.error):  # a type that the column cannot have had
        raise rows.damaged("trial", row) from None
    except (ValueError, zlib.error) as error:
        raise rows.corrupt(f"{error}: {rows.place(*values[:3])}") from error
    return TrialRow(
        problem, trial, rows.status(status), text, reasoning, prompt, completion, latency, attempts,
        seed, request, [], transcript, cost, reason, source, finish_reason, reasoned, cached,
    )  # fmt: skip


def _texts(
    values: tuple[Any, ...], body: tuple[Any, ...]
) -> tuple[str | None, str | None, list[dict[str, Any]] | None]:
    """Return the texts of a completion that belongs to this trial."""
    codec, text, reasoning, transcript, crc = body[5:]
    if body[1:5] != values[:4] or body_checksum(body[:6], text, reasoning, transcript) != crc:
        raise ValueError("a completion is not what was written")
    return (
        decoded(codec, text),
        None if reasoning is None else decoded(codec, reasoning),
        None if transcript is None else decoded_transcript(codec, transcript),
    )
