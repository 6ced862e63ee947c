"""The trials of one commit, packed together: rows of three tables, and what they add to tallies.

Almost all trials are alike: a text, perhaps a request's id, scores without a detail. Those are
packed here in one go, value after value as a statement takes them, in a third of the time that it
takes to pack them one by one. All others go through `packing`, which makes the same rows.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import isfinite, nan
from typing import Any
from zlib import crc32

from passband.trials import packing
from passband.trials.checksums import BODY, NOTHING, SCORE, TRIAL
from passband.trials.codec import encoded
from passband.trials.packing import MOST_TRIALS, SCORE_STATUS, STATUS, statements
from passband.trials.rows import ScoreRow, TrialRow

__all__ = ["Batch"]

# Columns of the trials that are alike; the others are NULL.
_ALIKE = {
    "body": "id,run,problem,trial,status,codec,text,crc",
    "trial": "run,problem,trial,status,prompt_tokens,completion_tokens,latency_ms,attempts,seed,"
    "request_id,body,crc",
    "score": "scorer,problem,trial,value,status,answer,rule,crc",
}


class Batch:
    """Rows that are to be inserted together."""

    def __init__(self, run: int, last_body: int) -> None:
        self._run = run
        self.last_body = last_body
        self.trials: list[Any] = []  # problem, trial, status, tokens in, out, cost, attempts
        self.scores: dict[int, list[Any]] = defaultdict(list)  # problem, statuses, value; by scorer
        self._alike: dict[str, list[Any]] = {table: [] for table in _ALIKE}  # value after value
        self._others: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _ALIKE}
        self._request: str | None = None  # the last one
        self._request_bytes = b""

    def add(self, trials: Iterable[TrialRow]) -> None:
        """Pack trials with their scores."""
        for trial in trials:
            try:
                is_packed = self._add_alike(trial)
            except (struct.error, TypeError, UnicodeEncodeError):
                is_packed = False
            if not is_packed:
                self._add_other(trial)
            for score in trial.scores:
                self._add_score(trial.problem, trial.trial, STATUS[trial.status], score)

    def _add_alike(self, row: TrialRow) -> bool:
        """Pack a trial that is like most; return False for one that is not."""
        text, request, problem, trial = row.text, row.request_id, row.problem, row.trial
        if (
            text is None
            or row.reasoning is not None
            or row.transcript is not None
            or row.cost is not None
            or row.reason is not None
            or row.source is not None
            or row.finish_reason is not None
            or not 0 <= trial < MOST_TRIALS
        ):
            return False
        if request is not self._request:
            self._request_bytes = b"" if request is None else request.encode()
            self._request = request
        named = self._request_bytes
        run, status, body, codec, data = self._run, STATUS[row.status], self.last_body + 1, 0, b""
        data = text.encode()
        if len(data) >= 1000:
            codec, data = encoded(text)[:2]  # type: ignore[assignment]
        prompt, completion, latency = row.prompt_tokens, row.completion_tokens, row.latency_ms
        attempts, seed = row.attempts, row.seed
        numbers = TRIAL(
            run, problem, trial, status,
            NOTHING if prompt is None else prompt,
            NOTHING if completion is None else completion,
            NOTHING if latency is None else latency,
            attempts,
            NOTHING if seed is None else seed,
            body, NOTHING, -1 if request is None else len(named), -1, nan,
        )  # fmt: skip
        head = BODY(body, run, problem, trial, status, codec, len(data), -1, -1)
        crc = crc32(data, crc32(head)) if data else crc32(head)
        self._alike["trial"] += (
            run, problem, trial, status, prompt, completion, latency, attempts, seed, request, body,
            crc32(numbers + named),
        )  # fmt: skip
        self._alike["body"] += (
            body, run, problem, trial, status, codec, bytearray(data), crc,
        )  # fmt: skip
        self.trials.append((problem, trial, status, prompt, completion, None, attempts))
        self.last_body = body
        return True

    def _add_other(self, trial: TrialRow) -> None:
        body = None
        if (trial.text, trial.reasoning, trial.transcript) != (None, None, None):
            self.last_body = body = self.last_body + 1
            self._others["body"].append(packing.body(body, self._run, trial))
        row = packing.trial(self._run, trial, body)
        self._others["trial"].append(row)
        self.trials.append((*row[1:6], row[11], row[7]))

    def _add_score(self, problem: int, trial: int, trial_status: int, row: ScoreRow) -> None:
        scorer, value, named_status, answer, rule, detail = row
        if (
            detail is None
            and type(value) is float
            and isfinite(value)
            and (rule is None or rule.isascii())
        ):
            status, value = SCORE_STATUS[named_status], value + 0.0  # no negative zero
            data = b"" if answer is None else answer.encode("utf-8", "surrogatepass")
            name = b"" if rule is None else rule.encode()
            numbers = SCORE(
                scorer, problem, trial, status,
                -1 if answer is None else len(data), -1 if rule is None else len(name), -1, value,
            )  # fmt: skip
            self._alike["score"] += (
                scorer, problem, trial, value, status,
                None if answer is None else bytearray(data), rule, crc32(numbers + data + name),
            )  # fmt: skip
        else:
            packed = packing.score(problem, trial, row)
            self._others["score"].append(packed)
            value, status = packed[3], packed[4]
        self.scores[scorer].append((problem, trial_status, status, value))

    def insertions(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield statements and their values."""
        for table, names in _ALIKE.items():
            width = names.count(",") + 1
            marks = f"({','.join('?' * width)})"
            yield from statements(f"{table}({names}) VALUES", marks, width, self._alike[table])
            yield from packing.insertions(table, self._others[table])
