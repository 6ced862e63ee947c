"""Reading the trials table: counts for the statistics, rows for export and for scoring anew."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput, nearest
from passband.trials.codec import decoded
from passband.trials.rows import SCORE_STATUSES, STATUSES, ScoreRow, Status, TrialRow
from passband.trials.schema import FILE, connect_to_read, corrupt, sqlite_errors

if TYPE_CHECKING:
    from passband.stats.data.graded import GradedScores
    from passband.stats.data.outcomes import Outcomes
    from passband.types import Ints

__all__ = ["ProblemRecord", "RunRecord", "ScorerRecord", "Trials", "is_run_directory"]


@dataclass(frozen=True)
class ScorerRecord:
    """A scorer that a run uses."""

    number: int
    name: str
    identity: str


@dataclass(frozen=True)
class RunRecord:
    """One task asked of one model with one set of settings."""

    number: int
    task: str
    model: str
    spec: Mapping[str, Any]
    config: Mapping[str, Any]
    created: str
    scorers: tuple[ScorerRecord, ...]  # the main one first

    def scorer(self, name: str | None = None) -> ScorerRecord:
        """Return the scorer of that name, or the main one."""
        if not self.scorers:
            raise InvalidInput(f"{self.task}: no scorer has been used on these trials.")
        if name is None:
            return self.scorers[0]
        for each in self.scorers:
            if each.name == name:
                return each
        names = [each.name for each in self.scorers]
        hint = nearest(name, names) or f" It has {', '.join(names)}."
        raise InvalidInput(f"{self.task}: no scorer named {name!r}.{hint}")


@dataclass(frozen=True)
class ProblemRecord:
    """A problem as it was asked."""

    position: int
    key: str
    cluster: str | None
    record: Mapping[str, Any]  # messages, targets, choices, doc


def is_run_directory(path: Path) -> bool:
    return (path / FILE).is_file()


class Trials:
    """The trials of a run directory, read only; also while they are being written.

    Everything is read as it was at one moment, that of the first reading. A file that this
    process has open for writing is `trusted`: it has been looked through for damage already.
    """

    def __init__(self, directory: str | Path, *, trusted: bool = False) -> None:
        self.directory = Path(directory)
        self._connection = connect_to_read(self.directory / FILE, trusted=trusted)
        self._connection.execute("BEGIN")  # else a commit could fall between two queries

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def runs(self) -> list[RunRecord]:
        """Return every run, by the name of its task."""
        found = self._all("SELECT run, task, model, spec, config, created FROM run ORDER BY task")
        return [
            RunRecord(
                number=run,
                task=task,
                model=model,
                spec=json.loads(spec),
                config=json.loads(config),
                created=created,
                scorers=self._scorers(run),
            )
            for run, task, model, spec, config, created in found
        ]

    def run(self, task: str | None = None) -> RunRecord:
        """Return the run of a task; if there is only one, it needs no name."""
        runs = self.runs()
        if task is None and len(runs) == 1:
            return runs[0]
        for each in runs:
            if each.task == task:
                return each
        names = [each.task for each in runs]
        has = f" It has {', '.join(names) or 'none'}."
        if task is None:
            raise InvalidInput(f"{self.directory}: say which task.{has}")
        raise InvalidInput(
            f"{self.directory} has no task named {task!r}.{nearest(task, names) or has}"
        )

    def _scorers(self, run: int) -> tuple[ScorerRecord, ...]:
        query = (
            "SELECT scorer, name, identity FROM scorer "
            "WHERE run=? AND position NOT NULL ORDER BY position"
        )
        return tuple(ScorerRecord(*row) for row in self._all(query, run))

    # -- what is there ---------------------------------------------------------------------

    def recorded(self, run: int, without: Sequence[Status] = ()) -> dict[int, int]:
        """Return for each problem the set of its recorded trials, as the bits of a number."""
        masks: dict[int, int] = {}
        query = f"SELECT problem, trial FROM trial WHERE run=? AND status NOT IN {_in(without)}"
        for problem, trial in self._each(query, run):
            masks[problem] = masks.get(problem, 0) | 1 << trial
        return masks

    def attempts(self, run: int, without: Sequence[Status] = ()) -> dict[tuple[int, int], int]:
        """Return how many attempts have failed, of trials that are not recorded."""
        query = (
            "SELECT problem, trial, max(attempt) FROM attempt AS a WHERE run=? AND NOT EXISTS "
            "(SELECT 1 FROM trial AS t WHERE t.run=a.run AND t.problem=a.problem "
            f"AND t.trial=a.trial AND t.status NOT IN {_in(without)}) GROUP BY problem, trial"
        )
        return {(problem, trial): most for problem, trial, most in self._each(query, run)}

    def problems(self, run: int) -> Iterator[ProblemRecord]:
        query = "SELECT problem, key, cluster, record FROM problem WHERE run=? ORDER BY problem"
        for position, key, cluster, record in self._each(query, run):
            yield ProblemRecord(position, key, cluster, json.loads(record))

    def statuses(self, run: int) -> dict[str, int]:
        """Return how many trials have each status."""
        query = "SELECT status, count(*) FROM trial WHERE run=? GROUP BY status ORDER BY status"
        return {STATUSES[status]: count for status, count in self._each(query, run)}

    def tokens(self, run: int) -> tuple[int, int]:
        """Return the tokens that went in and came out, where they were counted."""
        query = (
            "SELECT coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0) "
            "FROM trial WHERE run=?"
        )
        taken, given = self._all(query, run)[0]
        return taken, given

    def rate(self) -> float | None:
        """Return how many trials came per second, over all that was asked here."""
        trials, seconds = self._all("SELECT total(trials), total(seconds) FROM session")[0]
        return trials / seconds if trials and seconds else None

    def retried(self, run: int) -> int:
        """Return how many trials needed more than one attempt."""
        return int(self._all("SELECT count(*) FROM trial WHERE run=? AND attempts>1", run)[0][0])

    # -- scores ----------------------------------------------------------------------------

    def outcomes(
        self, run: RunRecord | None = None, scorer: ScorerRecord | None = None
    ) -> Outcomes:
        """Return what the statistics work on: scores by problem, and why some have none."""
        run = run or self.run()
        chosen = scorer or run.scorer()
        from passband.stats.data.outcomes import Outcomes

        keys, clusters = self._keys(run.number)
        query = "SELECT problem, count(*) FROM trial WHERE run=? GROUP BY problem"
        trials = dict.fromkeys(sorted(keys), 0) | dict(self._all(query, run.number))
        scored = {problem: sums for problem, *sums in self._sums(chosen.number)}
        sums = [scored.get(problem, (0, 0.0, 0)) for problem in trials]
        groups = [clusters[problem] for problem in trials]
        is_complete = all(n == count for (n, *_), count in zip(sums, trials.values(), strict=True))
        is_graded = any(odd for *_, odd in sums)
        found = Outcomes.from_counts(
            [0 if is_graded else int(total) for _, total, _ in sums],
            [n for n, *_ in sums],
            problems=[keys[problem] for problem in trials],
            clusters=None if None in groups else groups,
            unscored={} if is_complete else self._unscored(run, chosen, list(trials)),
        )
        if is_graded:
            return replace(found, successes=None, graded=self._graded(run, chosen, found.trials))
        return found

    def _sums(self, scorer: int) -> Iterator[tuple[int, int, float, float]]:
        """Yield each problem's scores: how many, their sum, and how many are not 0 or 1.

        This reads one table in its own order, which is several times as fast as a join.
        """
        query = (
            "SELECT problem, count(value), total(value), total(value NOT IN (0, 1)) "
            "FROM score WHERE scorer=? GROUP BY problem"
        )
        return ((problem, n, total, odd) for problem, n, total, odd in self._each(query, scorer))

    def _keys(self, run: int) -> tuple[dict[int, str], dict[int, str | None]]:
        rows = self._all("SELECT problem, key, cluster FROM problem WHERE run=?", run)
        return {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}

    def _unscored(
        self, run: RunRecord, scorer: ScorerRecord, asked: list[int]
    ) -> dict[str, list[int]]:
        at = {problem: place for place, problem in enumerate(asked)}
        found: dict[str, list[int]] = {}
        query = (
            "SELECT t.problem, t.status, s.status, count(*) FROM trial AS t LEFT JOIN score AS s "
            "ON s.scorer=? AND s.problem=t.problem AND s.trial=t.trial "
            "WHERE t.run=? AND s.value IS NULL GROUP BY t.problem, t.status, s.status"
        )
        for problem, status, scored, count in self._each(query, scorer.number, run.number):
            name = fate(status, scored)
            found.setdefault(name, [0] * len(asked))[at[problem]] += count
        return dict(sorted(found.items()))

    def _graded(self, run: RunRecord, scorer: ScorerRecord, trials: Ints) -> GradedScores:
        """Return scores that are not all 0 or 1; each problem has as many as `trials` says."""
        import numpy as np

        from passband.stats.data.graded import GradedScores

        query = (
            "SELECT s.value FROM trial AS t JOIN score AS s "
            "ON s.scorer=? AND s.problem=t.problem AND s.trial=t.trial "
            "WHERE t.run=? AND s.value NOT NULL ORDER BY t.problem, t.trial"
        )
        values = [row[0] for row in self._each(query, scorer.number, run.number)]
        offsets = np.concatenate([[0], np.cumsum(trials)])
        return GradedScores(np.array(values, dtype=np.float64), offsets)

    def score_statuses(self, scorer: int) -> dict[str, int]:
        """Return how many scores of a scorer have each status."""
        query = "SELECT status, count(*) FROM score WHERE scorer=? GROUP BY status"
        return {SCORE_STATUSES[status]: count for status, count in self._each(query, scorer)}

    def score_sums(self, scorer: int) -> list[tuple[int, int, float]]:
        """Return for each problem how many trials have a score, and their sum."""
        return [(problem, n, total) for problem, n, total, _ in self._sums(scorer)]

    # -- rows ------------------------------------------------------------------------------

    def trials(self, run: RunRecord, *, unscored_by: int | None = None) -> Iterator[TrialRow]:
        """Yield every trial with its scores, by problem and trial.

        With `unscored_by`, only trials that this scorer has not seen, without scores.
        """
        query = (
            "SELECT t.problem, t.trial, t.status, t.prompt_tokens, t.completion_tokens, "
            "t.latency_ms, t.attempts, t.seed, t.request_id, b.codec, b.text, b.reasoning "
            "FROM trial AS t LEFT JOIN body AS b ON b.id=t.body WHERE t.run=?"
        )
        arguments: list[object] = [run.number]
        if unscored_by is not None:
            query += (
                " AND NOT EXISTS (SELECT 1 FROM score AS s WHERE s.scorer=? "
                "AND s.problem=t.problem AND s.trial=t.trial)"
            )
            arguments.append(unscored_by)
        rows = self._each(query + " ORDER BY t.problem, t.trial", *arguments)
        if unscored_by is not None:
            yield from map(self._trial, rows)
            return
        scores = [_Lookahead(self._scores(each.number)) for each in run.scorers]
        for row in rows:
            trial = self._trial(row)
            for source in scores:
                found = source.at((trial.problem, trial.trial))
                if found is not None:
                    trial.scores.append(found)
            yield trial

    def _scores(self, scorer: int) -> Iterator[tuple[tuple[int, int], ScoreRow]]:
        query = (
            "SELECT problem, trial, value, status, answer, rule, detail FROM score "
            "WHERE scorer=? ORDER BY problem, trial"
        )
        for problem, trial, value, status, answer, rule, detail in self._each(query, scorer):
            text = self._decoded(0, answer)
            yield (
                (problem, trial),
                ScoreRow(scorer, value, SCORE_STATUSES[status], text, rule, detail),
            )

    def _trial(self, row: tuple[Any, ...]) -> TrialRow:
        problem, trial, status, taken, given, latency, attempts, seed, request = row[:9]
        codec, text, reasoning = row[9:]
        return TrialRow(
            problem=problem,
            trial=trial,
            status=STATUSES[status],
            text=self._decoded(codec, text),
            reasoning=self._decoded(codec, reasoning),
            prompt_tokens=taken,
            completion_tokens=given,
            latency_ms=latency,
            attempts=attempts,
            seed=seed,
            request_id=request,
        )

    def _decoded(self, codec: int, data: bytes | None) -> str | None:
        try:
            return decoded(codec, data)
        except (ValueError, zlib.error) as error:
            raise corrupt(self.directory / FILE, f"a text cannot be read: {error}") from error

    def _each(self, query: str, *arguments: object) -> Iterator[tuple[Any, ...]]:
        with sqlite_errors(self.directory / FILE):
            for row in self._connection.execute(query, arguments):  # noqa: UP028
                yield row  # `yield from` would close the cursor, perhaps after its connection

    def _all(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        return list(self._each(query, *arguments))


class _Lookahead:
    """Scores in order, taken one by one as their trials come by."""

    def __init__(self, source: Iterator[tuple[tuple[int, int], ScoreRow]]) -> None:
        self._source = source
        self._next = next(source, None)

    def at(self, key: tuple[int, int]) -> ScoreRow | None:
        while self._next is not None and self._next[0] < key:
            self._next = next(self._source, None)
        return self._next[1] if self._next is not None and self._next[0] == key else None


def _in(statuses: Sequence[Status]) -> str:
    return f"({','.join(str(STATUSES.index(status)) for status in statuses)})"


def fate(status: int, scored: int | None) -> str:
    """Return in a word why a trial has no score."""
    if STATUSES[status] != "ok" or scored is None:
        return "unscored" if STATUSES[status] == "ok" else STATUSES[status]
    return f"scorer_{SCORE_STATUSES[scored]}"
