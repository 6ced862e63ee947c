"""Trials as lines of JSON, written a line at a time without a mapping in between.

A million trials take minutes where each becomes a mapping that a general encoder takes apart again.
The lines are those which `json.dumps` would write of the rows of an export, to the byte.

Trials as lines of JSON, straight from the rows of three tables that one query joins.

Almost all trials are alike: a text, and a score with a value. Their three rows are checked and
written in one go. A trial that is not as usual, damaged or not, goes the long way: `unpacking` says
what is wrong with it, and `LineWriter` writes what is right.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from json.encoder import encode_basestring
from math import nan
from typing import Any, NamedTuple
from zlib import crc32, decompress

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.checksums import NOTHING
from passband.trials.file.schema import text_of
from passband.trials.file.unpacking import score_of, trial_of
from passband.trials.rows import SCORE_STATUSES, STATUSES, TrialRow


class ProblemPart(NamedTuple):
    """What the trials of a problem share: the beginning of a line, and a piece of its middle."""

    head: str
    middle: str

    @classmethod
    def of(
        cls, task: str, model: str, key: str, target: str | None, cluster: str | None
    ) -> ProblemPart:
        """Return the part of a problem of a task asked of a model."""
        encode = encode_basestring
        head = f'{{"task":{encode(task)},"model":{encode(model)},"problem_id":{encode(key)}'
        return cls(head, f'"target":{_text(target)},"cluster":{_text(cluster)}')


class LineWriter:
    """Writes trials that have at most one score, and nothing that is not in every export."""

    def __init__(self) -> None:
        self._rules: dict[str | None, str] = {}

    def line(self, problem: ProblemPart, trial: TrialRow) -> str:
        """Return the line of a trial."""
        seed, prompt, completion = trial.seed, trial.prompt_tokens, trial.completion_tokens
        return (
            f'{problem.head},"trial":{trial.trial},"status":"{trial.status}",{self._score(trial)},'
            f'{problem.middle},"seed":{"null" if seed is None else seed},'
            f'"prompt_tokens":{"null" if prompt is None else prompt},'
            f'"completion_tokens":{"null" if completion is None else completion},'
            f'"completion":{_text(trial.text)},"reasoning":{_text(trial.reasoning)},'
            f'"finish_reason":{_text(trial.finish_reason)}}}\n'
        )

    def _score(self, trial: TrialRow) -> str:
        if not trial.scores:
            return '"score":null,"score_status":null,"answer":null,"rule":null'
        _, value, status, answer, rule, _ = trial.scores[0]
        if answer is None and status == "ok":
            answer = trial.text
        named = self._rules.get(rule)
        if named is None:
            named = self._rules[rule] = _text(rule)
        number = "null" if value is None else float.__repr__(value)
        return f'"score":{number},"score_status":"{status}","answer":{_text(answer)},"rule":{named}'


def _text(text: str | None, encode: Callable[[Any], str] = encode_basestring) -> str:
    return "null" if text is None else encode(text)


# Texts that are only summed up are read as bytes: Python would decode each of them first.
_QUERY = """
SELECT t.problem, t.trial, t.status, t.prompt_tokens, t.completion_tokens, t.latency_ms,
t.attempts, t.seed, CAST(t.request_id AS BLOB), t.body, t.cost, t.reason, t.source,
t.finish_reason, t.reasoning_tokens, t.cached_tokens, t.crc, b.codec, b.text, b.reasoning,
b.transcript, b.crc,
s.value, s.status, s.answer, CAST(s.rule AS BLOB), s.detail, s.crc
FROM trial AS t
LEFT JOIN body AS b ON b.id=t.body AND b.run=t.run AND b.problem=t.problem AND b.trial=t.trial
AND b.status=t.status
LEFT JOIN score AS s ON s.scorer=? AND s.problem=t.problem AND s.trial=t.trial
WHERE t.run=? AND t.problem BETWEEN ? AND ? ORDER BY t.problem, t.trial
"""
_NUMBERS = struct.Struct("<16qd9q7qd")  # those of a trial, a completion and a score
_RARE = bytes(byte for byte in range(32) if byte != ord("\n"))
_TOGETHER = 200  # rows that are written in one go


class TrialLines:
    """The lines of a run that has at most one scorer, and nothing that is not in every export."""

    def __init__(
        self, rows: CheckedRows, run: int, scorer: int | None, parts: Mapping[int, ProblemPart]
    ) -> None:
        self._rows, self._run, self._parts = rows, run, parts
        self._scorer = 0 if scorer is None else scorer
        self._writer = LineWriter()
        self._rules: dict[bytes | None, str] = {None: "null"}
        self._numbers = bytearray(_NUMBERS.size)
        view = memoryview(self._numbers)
        self._views = view[:136], view[136:208], view[208:]
        self._count = self._scored = 0

    def of(self, stretch: tuple[int, int]) -> Iterator[bytes]:
        """Yield the lines of problems that are stored one after the other, many at a time."""
        source = self._rows.each(_QUERY, self._scorer, self._run, *stretch)
        while rows := list(islice(source, _TOGETHER)):
            self._count += len(rows)
            yield self._lines(rows).encode()

    def require_all(self) -> None:
        """Require that no trial and no score was missing."""
        self._rows.require("trial", self._run, self._count)
        if self._scorer:
            self._rows.require("score", self._scorer, self._scored)

    def _lines(self, rows: Sequence[tuple[Any, ...]]) -> str:
        """Return the lines of trials; one with damage, or with anything rare, goes the long way."""
        run, scorer, none, lines = self._run, self._scorer, NOTHING, list[str]()
        of_trial, of_body, of_score = self._views
        for row in rows:
            (problem, trial, status, prompt, completion, latency, attempts, seed, request, number,
             cost, reason, source, finish, reasoned, cached, crc, codec, text, reasoning,
             transcript, text_crc, value, kind, answer, rule, detail, score_crc) = row  # fmt: skip
            try:
                _NUMBERS.pack_into(
                    self._numbers, 0,
                    run, problem, trial, status, none if prompt is None else prompt,
                    none if completion is None else completion,
                    none if latency is None else latency, attempts, none if seed is None else seed,
                    number, none, -1 if request is None else len(request), -1, -1,
                    none if reasoned is None else reasoned, none if cached is None else cached, nan,
                    number, run, problem, trial, status, codec, len(text), -1, -1,
                    scorer, problem, trial, kind, -1 if answer is None else len(answer),
                    -1 if rule is None else len(rule), -1, value,
                )  # fmt: skip
                plain = reasoning is transcript is cost is reason is source is finish is detail
                if (
                    not (plain and detail is None)
                    or crc32(request or b"", crc32(of_trial)) != crc
                    or crc32(text, crc32(of_body)) != text_crc
                    or crc32(rule or b"", crc32(answer or b"", crc32(of_score))) != score_crc
                ):
                    raise ValueError
                said = _quoted(decompress(text) if codec else text)
                answered = said if SCORE_STATUSES[kind] == "ok" else "null"
                if answer is not None:
                    answered = encode_basestring(answer.decode())
                head, middle = self._parts[problem]
                lines.append(
                    f'{head},"trial":{trial},"status":"{STATUSES[status]}","score":{value!r},'
                    f'"score_status":"{SCORE_STATUSES[kind]}","answer":{answered},'
                    f'"rule":{self._rules.get(rule) or self._named(rule)},{middle},'
                    f'"seed":{"null" if seed is None else seed},'
                    f'"prompt_tokens":{"null" if prompt is None else prompt},"completion_tokens":'
                    f'{"null" if completion is None else completion},"completion":{said},'
                    f'"reasoning":null,"finish_reason":null}}\n'
                )
                self._scored += 1
            except (TypeError, ValueError, LookupError, struct.error, zlib.error):
                lines.append(self._other(row))
        return "".join(lines)

    def _named(self, rule: bytes) -> str:
        named = self._rules[rule] = encode_basestring(rule.decode())
        return named

    def _other(self, row: tuple[Any, ...]) -> str:
        """Return the line of any trial, or raise what is wrong with it."""
        trial = self._trial(row)
        if row[-1] is not None:
            trial.scores.append(score_of(self._rows, self._score_row(row)))
            self._scored += 1
        if trial.problem not in self._parts:
            place = self._rows.place(self._run, trial.problem)
            raise self._rows.corrupt(f"a problem is lost: {place}")
        line = self._writer.line(self._parts[trial.problem], trial)
        try:
            line.encode()
        except UnicodeEncodeError:  # half a character, which only an escape can carry
            return json.dumps(json.loads(line), separators=(",", ":")) + "\n"
        return line

    def _trial(self, row: tuple[Any, ...]) -> TrialRow:
        """Return a trial without scores, from its row and that of its completion."""
        place = self._run, *row[:3]
        values = (*place, *row[3:8], self._text("trial", place, row[8]), *row[9:17])
        return trial_of(self._rows, (*values, row[9], *place, *row[17:22]))

    def _score_row(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        place = self._scorer, *row[:2]
        rule = self._text("score", place, row[25])
        return (*place, *row[22:25], rule, *row[26:])

    def _text(self, table: str, place: tuple[Any, ...], data: bytes | None) -> str | None:
        """Decode a text that was read as bytes."""
        try:
            return None if data is None else text_of(data)
        except sqlite3.DatabaseError:
            raise self._rows.damaged(table, place) from None


def _quoted(data: bytes) -> str:
    r"""Return a text as JSON writes it, in half the time where it has no rare characters.

    >>> print(_quoted(b'say "\\"\n'), _quoted(b"tab\t"))
    "say \"\\\"\n" "tab\t"
    """
    text = data.decode()
    if len(data.translate(None, _RARE)) != len(data):
        return encode_basestring(text)
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
