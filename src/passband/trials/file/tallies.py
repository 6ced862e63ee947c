"""Sums of trials and scores by problem, kept in the transaction that changes what they sum.

With them statuses, tokens, outcomes, and which trials are recorded are known without reading a
trial or a score. What is changed is kept in memory until the transaction ends; after a failed
transaction everything is read again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.checksums import score_tally_checksum, trial_tally_checksum
from passband.trials.file.packing import insertions, packed
from passband.trials.file.tally_columns import ScoreTallies, TrialTallies
from passband.trials.rows import STATUSES

_MOST = 20_000  # tallies that are kept between transactions
_LARGEST = 2**63  # what SQLite can count to
_AT_ONCE = 20  # problems whose trials are added up again together

_TrialKey = tuple[int, int, int]  # run, problem, status
_ScoreKey = tuple[int, int, int, int]  # scorer, problem, status of the trial, status
_Trial = tuple[
    int, int, int, int | None, int | None, float | None, int, int | None, int | None
]  # fmt: skip
_Score = tuple[int, int, int, float | None]


@dataclass(slots=True)
class TrialTally:
    """The trials of one problem that have one status."""

    trials: int = 0
    places: int = 0  # which ones, as bits
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    retried: int = 0  # of them, how many needed more than one attempt
    reasoning_tokens: int = 0  # of those that came out
    cached_tokens: int = 0  # of those that went in

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> TrialTally:
        """Return the tally that a row holds."""
        trials, places, prompt, completion, cost, retried, reasoning, cached = row[3:11]
        return cls(
            trials, int.from_bytes(places, "little"), int(prompt), int(completion), cost, retried,
            int(reasoning), int(cached),
        )  # fmt: skip

    def add(self, row: tuple[Any, ...]) -> None:
        """Add a row of `trial`."""
        self.trials += 1
        self.places |= 1 << row[2]
        self.prompt_tokens += row[4] or 0
        self.completion_tokens += row[5] or 0
        self.cost += row[11] or 0.0
        self.retried += row[7] > 1
        self.reasoning_tokens += row[15] or 0
        self.cached_tokens += row[16] or 0

    def join(
        self, trials: int, places: bytes, prompt: int, completion: int, cost: float, retried: int,
        reasoning: int, cached: int,
    ) -> None:  # fmt: skip
        """Add the tally of other trials, as it is stored."""
        self.trials += trials
        self.places |= int.from_bytes(places, "little")
        self.prompt_tokens += prompt
        self.completion_tokens += completion
        self.cost += cost
        self.retried += retried
        self.reasoning_tokens += reasoning
        self.cached_tokens += cached

    def row(self, key: _TrialKey) -> tuple[object, ...]:
        """Return the row that holds the tally."""
        places = self.places.to_bytes((self.places.bit_length() + 7) // 8, "little")
        tokens: list[Any] = [
            self.prompt_tokens, self.completion_tokens, self.reasoning_tokens, self.cached_tokens,
        ]  # fmt: skip
        if max(tokens) >= _LARGEST:
            tokens = list(map(str, tokens))
        values = (*key, self.trials, places, *tokens[:2], self.cost, self.retried, *tokens[2:])
        return (*values, trial_tally_checksum(values))


@dataclass(slots=True)
class ScoreTally:
    """The scores that one scorer gave, by problem, status of the trial and status of the score."""

    scores: int = 0
    valued: int = 0  # of them, how many have a value
    total: float = 0.0
    odd: int = 0  # values that are neither 0 nor 1

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> ScoreTally:
        """Return the tally that a row holds."""
        return cls(*row[4:8])

    def add(self, value: float | None) -> None:
        """Add the value of a score."""
        self.scores += 1
        if value is not None:
            self.valued += 1
            self.total += value
            self.odd += value not in (0.0, 1.0)

    def join(self, scores: int, valued: int, total: float, odd: int) -> None:
        """Add the tally of other scores."""
        self.scores += scores
        self.valued += valued
        self.total += total
        self.odd += odd

    def row(self, key: _ScoreKey) -> tuple[object, ...]:
        """Return the row that holds the tally."""
        values = (*key, self.scores, self.valued, self.total + 0.0, self.odd)
        return (*values, score_tally_checksum(values))


class Tallies:
    """The tallies and counters of a store that is being written."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._rows = CheckedRows(connection, path)
        self._trials: dict[_TrialKey, TrialTally] = {}
        self._scores: dict[_ScoreKey, ScoreTally] = {}
        self._counters: dict[tuple[str, int], int] = {}
        self._loaded: set[tuple[str, int, int]] = set()  # table, run or scorer, problem
        self._changed_trials: dict[_TrialKey, TrialTally] = {}
        self._changed_scores: dict[_ScoreKey, ScoreTally] = {}
        self._changed_counters: set[tuple[str, int]] = set()

    # -- changes ---------------------------------------------------------------------------

    def add_trials(self, run: int, rows: Sequence[_Trial]) -> None:
        """Add (problem, trial, status, tokens in, out, cost, attempts, reasoning, cached)."""
        self._load("trial_tally", run, {row[0] for row in rows})
        last = tally = None
        for problem, trial, status, prompt, completion, cost, attempts, reasoned, cached in rows:
            if tally is None or last != (problem, status):  # a problem's trials come together
                last = problem, status
                tally = self._changed_trial(run, problem, status)
            tally.trials += 1
            tally.places |= 1 << trial
            if prompt is not None:
                tally.prompt_tokens += prompt
            if completion is not None:
                tally.completion_tokens += completion
            if cost is not None:
                tally.cost += cost
            if reasoned:
                tally.reasoning_tokens += reasoned
            if cached:
                tally.cached_tokens += cached
            if attempts > 1:
                tally.retried += 1
        self.count("trial", run, len(rows))

    def add_scores(self, scorer: int, rows: Sequence[_Score]) -> None:
        """Add (problem, status of the trial, status, value)."""
        self._load("score_tally", scorer, {row[0] for row in rows})
        last = tally = None
        for problem, trial_status, status, value in rows:
            if tally is None or last != (problem, trial_status, status):
                last = problem, trial_status, status
                tally = self._changed_score(scorer, *last)
            tally.scores += 1
            if value is not None:
                tally.valued += 1
                tally.total += value
                if value not in (0.0, 1.0):
                    tally.odd += 1
        self.count("score", scorer, len(rows))

    def add_trial_tallies(self, run: int, tallies: TrialTallies) -> None:
        """Add tallies of other trials, and write them as they become many."""
        for rows in _chunks(tallies.rows()):
            self._load("trial_tally", run, {row[0] for row in rows})
            for problem, status, *sums in rows:
                self._changed_trial(run, problem, status).join(*sums)
            self.count("trial", run, sum(row[2] for row in rows))
            self._write_many()

    def add_score_tallies(self, scorer: int, tallies: ScoreTallies) -> None:
        """Add tallies of other scores in the same way."""
        for rows in _chunks(tallies.rows()):
            self._load("score_tally", scorer, {row[0] for row in rows})
            for problem, trial_status, status, *sums in rows:
                self._changed_score(scorer, problem, trial_status, status).join(*sums)
            self.count("score", scorer, sum(row[3] for row in rows))
            self._write_many()

    def recount(self, run: int, scorers: Iterable[int], problems: Iterable[int]) -> None:
        """Add the trials of problems up again, and what these scorers gave them."""
        remaining = sorted(set(problems))
        for start in range(0, len(remaining), _AT_ONCE):
            chunk = remaining[start : start + _AT_ONCE]
            self._drop("trial_tally", run, chunk)
            rows = self._of_problems("trial", "run", run, chunk)
            self.add_trials(run, [(*row[1:6], row[11], row[7], *row[15:17]) for row in rows])
            for scorer in scorers:
                self.recount_scores(run, scorer, chunk)
            self._write_many()

    def recount_scores(self, run: int, scorer: int, problems: Iterable[int]) -> None:
        """Add a scorer's scores of problems up again."""
        chosen = sorted(set(problems))
        self._drop("score_tally", scorer, chosen)
        sums = []
        for row in self._of_problems("score", "scorer", scorer, chosen):
            status = self.status_of(run, row[1], row[2])
            if status is None:
                raise self._rows.corrupt("a score has lost its trial")
            sums.append((row[1], status, row[4], row[3]))
        self.add_scores(scorer, sums)

    def status_of(self, run: int, problem: int, trial: int) -> int | None:
        """Return the status of a trial, if it is recorded."""
        self._load("trial_tally", run, {problem})
        for status in range(len(STATUSES)):
            tally = self._trials.get((run, problem, status))
            if tally is not None and tally.places >> trial & 1:
                return status
        return None

    def count(self, name: str, number: int, more: int) -> None:
        """Add to a counter: of all rows of a table, or of those of a run or a scorer."""
        key = name, number
        self._counters[key] = self.value(*key) + more
        self._changed_counters.add(key)

    def value(self, name: str, number: int) -> int:
        """Return a counter."""
        key = name, number
        if key not in self._counters:
            self._counters[key] = self._rows.counter(*key)
        return self._counters[key]

    # -- the end of a transaction ----------------------------------------------------------

    def write(self) -> None:
        """Write what has changed."""
        trials, scores = self._changed_trials.items(), self._changed_scores.items()
        self._put("trial_tally", [tally.row(key) for key, tally in trials if tally.trials])
        self._put("score_tally", [tally.row(key) for key, tally in scores if tally.scores])
        self._remove("trial_tally", [key for key, tally in trials if not tally.trials])
        self._remove("score_tally", [key for key, tally in scores if not tally.scores])
        counters = [(*key, self._counters[key]) for key in sorted(self._changed_counters)]
        self._put("counter", [packed("counter", values) for values in counters])
        self._changed_trials.clear()
        self._changed_scores.clear()
        self._changed_counters.clear()
        if len(self._trials) + len(self._scores) > _MOST:
            self.forget()

    def _write_many(self) -> None:
        """Write what has changed once there is much of it, within the transaction."""
        if len(self._trials) + len(self._scores) > _MOST:
            self.write()

    def forget(self) -> None:
        """Discard unwritten changes, and everything that was read."""
        self._trials.clear()
        self._scores.clear()
        self._counters.clear()
        self._loaded.clear()
        self._changed_trials.clear()
        self._changed_scores.clear()
        self._changed_counters.clear()

    # -- inside ----------------------------------------------------------------------------

    def _changed_trial(self, run: int, problem: int, status: int) -> TrialTally:
        """Return a tally that is about to change."""
        key = run, problem, status
        tally = self._trials.get(key)
        if tally is None:
            tally = self._trials[key] = TrialTally()
        self._changed_trials[key] = tally
        return tally

    def _changed_score(
        self, scorer: int, problem: int, trial_status: int, status: int
    ) -> ScoreTally:
        key = scorer, problem, trial_status, status
        tally = self._scores.get(key)
        if tally is None:
            tally = self._scores[key] = ScoreTally()
        self._changed_scores[key] = tally
        return tally

    def _drop(self, table: str, number: int, problems: Sequence[int]) -> None:
        """Reset the tallies of problems to zero."""
        self._load(table, number, set(problems))
        chosen = {(number, problem) for problem in problems}
        if table == "trial_tally":
            for key in [key for key in self._trials if key[:2] in chosen]:
                self.count("trial", number, -self._trials[key].trials)
                self._changed_trials[key] = self._trials[key] = TrialTally()
        else:
            for place in [place for place in self._scores if place[:2] in chosen]:
                self.count("score", number, -self._scores[place].scores)
                self._changed_scores[place] = self._scores[place] = ScoreTally()

    def _load(self, table: str, number: int, problems: set[int]) -> None:
        """Read the tallies of problems that are not in memory."""
        missing = [each for each in problems if (table, number, each) not in self._loaded]
        if not missing:
            return
        column = "run" if table == "trial_tally" else "scorer"
        for row in self._of_problems(table, column, number, missing):
            if table == "trial_tally":
                self._trials[row[:3]] = TrialTally.of_row(row)
            else:
                self._scores[row[:4]] = ScoreTally.of_row(row)
        self._loaded.update((table, number, problem) for problem in missing)

    def _of_problems(
        self, table: str, column: str, number: int, problems: list[int]
    ) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(problems), 500):
            chunk = problems[start : start + 500]
            where = f"{column}=? AND problem IN ({','.join('?' * len(chunk))})"
            yield from self._rows.rows(table, where, number, *chunk)

    def _put(self, table: str, rows: list[tuple[object, ...]]) -> None:
        for text, values in insertions(table, rows, "OR REPLACE"):
            self._connection.execute(text, values)

    def _remove(self, table: str, keys: Sequence[tuple[int, ...]]) -> None:
        columns = {
            "trial_tally": "run=? AND problem=? AND status=?",
            "score_tally": "scorer=? AND problem=? AND trial_status=? AND status=?",
        }
        if keys:
            self._connection.executemany(f"DELETE FROM {table} WHERE {columns[table]}", keys)


def _chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    while chunk := list(islice(rows, _MOST // 4)):
        yield chunk
