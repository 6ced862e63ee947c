"""Checksums of rows: what is read is what was written, or it is damage.

The last column of each row is the CRC-32 of the others. Of trials, completions and scores, which
are many, it is that of their numbers as eight bytes each, little-endian, followed by their texts:

    trial  run, problem, trial, status, prompt_tokens, completion_tokens, latency_ms, attempts,
           seed, body, source, lengths of request_id, reason and finish_reason, reasoning_tokens,
           cached_tokens, cost; request_id, reason, finish_reason
    body   id, run, problem, trial, status, codec, lengths of text, reasoning and transcript;
           text, reasoning, transcript
    score  scorer, problem, trial, status, lengths of answer, rule and detail, value; answer,
           rule, detail

    call   scorer, problem, trial, call, attempt, at_ms, status, cached, prompt_tokens,
           completion_tokens, latency_ms, seed, http, codec, lengths of key, outcome, detail and
           reply, value, cost; key, outcome, detail, reply

    trial_tally  run, problem, status, trials, prompt_tokens, completion_tokens, retried,
           reasoning_tokens, cached_tokens, cost; places
    score_tally  scorer, problem, trial_status, status, scores, valued, odd, total

A number that is NULL is -2**63 (a real one: NaN), the length of a text that is NULL is -1. Of all
other tables it is that of the ASCII text which Python's `ascii` gives for the tuple of values.
Rows that are lost are found by counting; see `counter` in the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from struct import Struct
from typing import Any
from zlib import crc32

NOTHING = -(2**63)
TRIAL = Struct("<16qd").pack
BODY = Struct("<9q").pack
SCORE = Struct("<7qd").pack
_CALL = Struct("<18q2d").pack
TRIAL_SUMS = Struct("<9qd").pack


def checksum(values: tuple[object, ...]) -> int:
    """Return the CRC-32 of a row's values.

    >>> checksum((1, None, "x", 0.5))
    3205176197
    """
    return crc32(ascii(values).encode())


def trial_checksum(values: tuple[Any, ...]) -> int:
    """Return the CRC-32 of the row of a trial."""
    (run, problem, trial, status, prompt, completion, latency, attempts, seed, request, body, cost,
     reason, source, finish, reasoned, cached) = values  # fmt: skip
    first, second, third = _bytes(request), _bytes(reason), _bytes(finish)
    numbers = TRIAL(
        run,
        problem,
        trial,
        status,
        NOTHING if prompt is None else prompt,
        NOTHING if completion is None else completion,
        NOTHING if latency is None else latency,
        attempts,
        NOTHING if seed is None else seed,
        NOTHING if body is None else body,
        NOTHING if source is None else source,
        -1 if request is None else len(first),
        -1 if reason is None else len(second),
        -1 if finish is None else len(third),
        NOTHING if reasoned is None else reasoned,
        NOTHING if cached is None else cached,
        nan if cost is None else cost,
    )
    return crc32(numbers + first + second + third)


def body_checksum(
    head: tuple[Any, ...], text: bytes | None, reasoning: bytes | None, transcript: bytes | None
) -> int:
    """Return the CRC-32 of the row of a completion; `head` are its first six columns.

    >>> body_checksum((1, 1, 0, 0, 0, 0), b"four", None, None)
    1099697230
    """
    crc = crc32(
        BODY(
            *head,
            -1 if text is None else len(text),
            -1 if reasoning is None else len(reasoning),
            -1 if transcript is None else len(transcript),
        )
    )
    if text:
        crc = crc32(text, crc)
    if reasoning:
        crc = crc32(reasoning, crc)
    return crc32(transcript, crc) if transcript else crc


def score_checksum(values: tuple[Any, ...]) -> int:
    """Return the CRC-32 of the row of a score."""
    scorer, problem, trial, value, status, answer, rule, detail = values
    first, second, third = answer or b"", _bytes(rule), _bytes(detail)
    numbers = SCORE(
        scorer,
        problem,
        trial,
        status,
        -1 if answer is None else len(first),
        -1 if rule is None else len(second),
        -1 if detail is None else len(third),
        nan if value is None else value,
    )
    return crc32(numbers + first + second + third)


def call_checksum(values: tuple[Any, ...]) -> int:
    """Return the CRC-32 of the row of a call."""
    (*place, key, at, status, cached, value, prompt, completion, cost, latency, seed, http, outcome,
     detail, codec, reply) = values  # fmt: skip
    first, second = _bytes(outcome), _bytes(detail)
    numbers = _CALL(
        *place,
        at,
        status,
        cached,
        NOTHING if prompt is None else prompt,
        NOTHING if completion is None else completion,
        NOTHING if latency is None else latency,
        NOTHING if seed is None else seed,
        NOTHING if http is None else http,
        codec,
        len(key),
        -1 if outcome is None else len(first),
        -1 if detail is None else len(second),
        -1 if reply is None else len(reply),
        nan if value is None else value,
        nan if cost is None else cost,
    )
    return crc32(reply or b"", crc32(numbers + key + first + second))


def trial_tally_checksum(values: tuple[Any, ...]) -> int:
    """Return the CRC-32 of the row of a trial tally."""
    run, problem, status, trials, places, taken, given, cost, retried, *parts = values
    if isinstance(taken, str):  # beyond 63 bits
        return checksum(values)
    return crc32(
        TRIAL_SUMS(run, problem, status, trials, taken, given, retried, *parts, cost) + places
    )


def score_tally_checksum(values: tuple[Any, ...]) -> int:
    """Return the CRC-32 of the row of a score tally."""
    *numbers, total, odd = values
    return crc32(SCORE(*numbers, odd, total))


def is_intact(table: str, row: tuple[Any, ...]) -> bool:
    """Return whether the last column of a row is the checksum of the others."""
    try:
        return bool(_CHECKSUMS.get(table, checksum)(row[:-1]) == row[-1])
    except Exception:  # a value of a type that the column cannot have had
        return False


def _body_row(values: tuple[Any, ...]) -> int:
    return body_checksum(values[:6], *values[6:])


def _bytes(text: str | None) -> bytes:
    return text.encode("utf-8", "surrogatepass") if text else b""


_CHECKSUMS: dict[str, Callable[[tuple[Any, ...]], int]] = {
    "trial": trial_checksum,
    "body": _body_row,
    "score": score_checksum,
    "call": call_checksum,
    "trial_tally": trial_tally_checksum,
    "score_tally": score_tally_checksum,
}
