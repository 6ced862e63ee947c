"""The trials of one commit, packed together: rows of three tables, and what they add to tallies.

Almost all trials are alike: a text, perhaps a request's id, scores without a detail. Those are
packed here in one go, value after value as a statement takes them, in a third of the time that it
takes to pack them one by one. All others go through `packing`, which makes the same rows.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf, isfinite, nan
from typing import Any
from zlib import crc32

from passband.trials.encoding import WORTHWHILE, encoded
from passband.trials.file import packing
from passband.trials.file.checksums import BODY, NOTHING, SCORE, TRIAL
from passband.trials.file.packing import MOST_TRIALS, SCORE_STATUS, STATUS, statements
from passband.trials.rows import TrialRow

# Columns of the trials that are alike; the others are NULL.
_ALIKE = {
    "body": "id,run,problem,trial,status,codec,text,crc",
    "trial": "run,problem,trial,status,prompt_tokens,completion_tokens,latency_ms,attempts,seed,"
    "request_id,body,cost,reasoning_tokens,cached_tokens,crc",
    "score": "scorer,problem,trial,value,status,answer,rule,crc",
}


class Batch:
    """Rows that are to be inserted together."""

    def __init__(self, run: int, last_body: int) -> None:
        self._run = run
        self.last_body = last_body
        self.trials: list[Any] = []  # as `Tallies.add_trials` takes them
        self.scores: dict[int, list[Any]] = defaultdict(list)  # problem, statuses, value; by scorer
        self._alike: dict[str, list[Any]] = {table: [] for table in _ALIKE}  # value after value
        self._others: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _ALIKE}

    def add(self, trials: Iterable[TrialRow]) -> None:
        """Pack trials with their scores."""
        kept = list(trials)
        for trial in self._without_alike(kept):
            self._add_other(trial)
        self._add_scores(kept)

    def _without_alike(self, trials: Iterable[TrialRow]) -> list[TrialRow]:
        """Pack trials that are like most, and return the others."""
        run, body, others, tallied = self._run, self.last_body, [], self.trials
        values, texts = self._alike["trial"], self._alike["body"]
        last, named = None, b""
        for row in trials:
            text, request, problem, trial = row.text, row.request_id, row.problem, row.trial
            if text is None or not 0 <= trial < MOST_TRIALS or _differs(row):
                others.append(row)
                continue
            prompt, completion, latency = row.prompt_tokens, row.completion_tokens, row.latency_ms
            attempts, seed, status, codec = row.attempts, row.seed, STATUS[row.status], 0
            cost, reasoned, cached = row.cost, row.reasoning_tokens, row.cached_tokens
            try:
                if request is not last:
                    last, named = request, b"" if request is None else request.encode()
                data: Any = text.encode()
                if len(data) >= WORTHWHILE:
                    codec, data = encoded(text)[:2]
                numbers = TRIAL(
                    run, problem, trial, status,
                    NOTHING if prompt is None else prompt,
                    NOTHING if completion is None else completion,
                    NOTHING if latency is None else latency,
                    attempts,
                    NOTHING if seed is None else seed,
                    body + 1, NOTHING, -1 if request is None else len(named), -1, -1,
                    NOTHING if reasoned is None else reasoned,
                    NOTHING if cached is None else cached,
                    nan if cost is None else cost,
                )  # fmt: skip
                head = BODY(body + 1, run, problem, trial, status, codec, len(data), -1, -1)
            except (struct.error, TypeError, UnicodeEncodeError):  # 3.0 tokens, half a character
                others.append(row)
                last, named = None, b""
                continue
            body += 1
            values += (
                run, problem, trial, status, prompt, completion, latency, attempts, seed, request,
                body, cost, reasoned, cached, crc32(numbers + named),
            )  # fmt: skip
            texts += (
                body, run, problem, trial, status, codec, bytearray(data), crc32(data, crc32(head)),
            )  # fmt: skip
            tallied.append(
                (problem, trial, status, prompt, completion, cost, attempts, reasoned, cached)
            )
        self.last_body = body
        return others

    def _add_other(self, trial: TrialRow) -> None:
        body = None
        if (trial.text, trial.reasoning, trial.transcript) != (None, None, None):
            self.last_body = body = self.last_body + 1
            self._others["body"].append(packing.body(body, self._run, trial))
        row = packing.trial(self._run, trial, body)
        self._others["trial"].append(row)
        self.trials.append((*row[1:6], row[11], row[7], *row[15:17]))

    def _add_scores(self, trials: Iterable[TrialRow]) -> None:
        values, sums = self._alike["score"], self.scores
        names: dict[str | None, bytes] = {None: b""}
        for row in trials:
            problem, trial, trial_status = row.problem, row.trial, STATUS[row.status]
            for score in row.scores:
                scorer, value, kind, answer, rule, detail = score
                if rule not in names and rule is not None and rule.isascii():
                    names[rule] = rule.encode()
                name = names.get(rule)
                if (
                    name is None or detail is not None or answer is None
                    or type(value) is not float or not isfinite(value)
                ):  # fmt: skip
                    packed = packing.score(problem, trial, score)
                    self._others["score"].append(packed)
                    sums[scorer].append((problem, trial_status, packed[4], packed[3]))
                    continue
                status, value = SCORE_STATUS[kind], value + 0.0  # no negative zero
                data = answer.encode("utf-8", "surrogatepass")
                length = -1 if rule is None else len(name)
                numbers = SCORE(scorer, problem, trial, status, len(data), length, -1, value)
                values += (
                    scorer, problem, trial, value, status, bytearray(data), rule,
                    crc32(numbers + data + name),
                )  # fmt: skip
                sums[scorer].append((problem, trial_status, status, value))

    def insertions(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield statements and their values."""
        for table, names in _ALIKE.items():
            width = names.count(",") + 1
            marks = f"({','.join('?' * width)})"
            yield from statements(f"{table}({names}) VALUES", marks, width, self._alike[table])
            yield from packing.insertions(table, self._others[table])


def _differs(row: TrialRow) -> bool:
    """Return whether a trial has something that most have not."""
    return (
        row.reasoning is not None
        or row.transcript is not None
        or (row.cost is not None and not 0.0 < row.cost < inf)  # a negative zero among them
        or row.reason is not None
        or row.source is not None
        or row.finish_reason is not None
    )
