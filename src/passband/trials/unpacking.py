"""Trials and scores as they were written, from rows that are checked on the way."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

from passband.trials.checked import CheckedRows
from passband.trials.checksums import body_checksum, trial_checksum
from passband.trials.codec import decoded, decoded_transcript
from passband.trials.rows import ScoreRow, TrialRow
from passband.trials.schema import TABLES, selected

__all__ = ["scores_of", "trials_of"]

_TRIAL = (
    f"SELECT {selected('trial', prefix='t.')}, b.* FROM trial AS t "
    "LEFT JOIN body AS b ON b.id=t.body WHERE"
)
_COLUMNS = len(TABLES["trial"])


def trials_of(rows: CheckedRows, where: str, *arguments: object) -> Iterator[TrialRow]:
    """Yield the trials (`t`) that a condition chooses, without scores, by problem and trial."""
    for row in rows.each(f"{_TRIAL} {where} ORDER BY t.problem, t.trial", *arguments):
        yield _trial(rows, row)


def scores_of(
    rows: CheckedRows, where: str, *arguments: object
) -> Iterator[tuple[int, int, ScoreRow]]:
    """Yield (problem, trial, score) of the scores that a condition chooses, in that order."""
    for row in rows.rows("score", where, *arguments, order="scorer, problem, trial"):
        scorer, problem, trial, value, status, answer, rule, detail = row
        try:
            text = decoded(0, answer)
        except ValueError as error:
            raise rows.corrupt(f"an answer cannot be read: {error}") from error
        kind = rows.score_status(status)
        yield problem, trial, ScoreRow(scorer, value, kind, text, rule, detail)


def _trial(rows: CheckedRows, row: tuple[Any, ...]) -> TrialRow:
    values, body = row[: _COLUMNS - 1], row[_COLUMNS:]
    (_, problem, trial, status, prompt, completion, latency, attempts, seed, request, number,
     cost, reason, source, finish_reason) = values  # fmt: skip
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
        seed, request, [], transcript, cost, reason, source, finish_reason,
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
