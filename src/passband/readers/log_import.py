"""Importing logs: their problems, trials and scores become a run directory.

Everything is written in one transaction: after a refusal, or a kill, the directory is what it was.
A log that is there already changes nothing. Two logs of the same task and model are two parts of
one run: trials that both hold must be the same.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from passband.errors import InvalidInput
from passband.json_values import json_values
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.stats.data import UNSTATED
from passband.trials import (
    IDENTITY,
    LOW_WATER,
    Imported,
    ProblemRow,
    ScorerEntry,
    ScoreRow,
    Store,
    StoredProblem,
    TrialRow,
    conflict_error,
    filling,
    imported_spec,
    record_change,
)

_CHUNK = 2_000  # trials


@dataclass(frozen=True)
class ImportReport:
    """The rows that were added to a run directory, and those that were there already."""

    directory: str
    logs: int = 0
    logs_there: int = 0
    problems: int = 0
    trials: int = 0
    trials_there: int = 0
    scores: int = 0
    remarks: tuple[Remark, ...] = ()

    def plus(self, **more: int) -> ImportReport:
        """Return the report with more rows counted."""
        return replace(self, **{name: getattr(self, name) + n for name, n in more.items()})

    def as_json(self) -> dict[str, object]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self) | {"remarks": [str(remark) for remark in self.remarks]}


def import_logs(
    logs: Iterable[Log], directory: Path, *, append: bool = False, low_water: int = LOW_WATER
) -> ImportReport:
    """Store logs as a run directory, which may hold other runs and other trials of the same runs.

    With `append`, the trials of a log are numbered after those of the same task and model that are
    there: several logs that each number theirs from 0.
    """
    report = ImportReport(str(directory))
    with filling(directory, low_water=low_water) as store:
        for log in logs:
            report = _Import(store, log, append).imported(report)
    return report


class _Import:
    """One log that is being stored."""

    def __init__(self, store: Store, log: Log, append: bool) -> None:
        self._store = store
        self._log = log
        self._appends = append
        self._files = {int(row[0]): Source(*row[1:4]) for row in store.rows("source")}
        rows = [row for row in store.rows("run") if row[2:4] == (log.task, log.model)]
        self._earlier = rows[0] if rows else None
        self._known = Imported.of(json.loads(rows[0][5])) if rows else Imported()

    def imported(self, report: ImportReport) -> ImportReport:
        """Store the log, unless it is there, and return the report with it."""
        log = self._log
        if log.source.sha256 in self._known.files:
            there = f"{log.source.file}: its trials of {log.task} by {log.model} are there already"
            remarks = (*report.remarks, Remark(there, important=True))
            return replace(report.plus(logs_there=1), remarks=remarks)
        self._source = self._entered_source()
        first = self._first_trial()
        run = self._begun(follows=first > 0)
        problems, added = self._numbered_problems(run)
        self._keys = dict(zip(problems, (row.key for row in log.problems), strict=True))
        report = report.plus(logs=1, problems=added)
        self._numbers = self._entered_scorers(run)
        rows = self._rows(problems, first)
        while chunk := list(islice(rows, _CHUNK)):
            report = self._stored(run, chunk, report)
        attempts = [
            replace(row, problem=problems[row.problem], trial=row.trial + first)
            for row in log.attempts
        ]
        self._store.add_attempts(run, attempts)
        return replace(report, remarks=(*report.remarks, *log.remarks))

    # -- the run ---------------------------------------------------------------------------

    def _entered_source(self) -> int:
        source = self._log.source
        for number, known in self._files.items():
            if known == source:
                return number
        number = self._store.add_source(source.reader, source.file, source.sha256)
        self._files[number] = source
        return number

    def _first_trial(self) -> int:
        """Return the number of the first trial; not 0 only behind those of earlier logs."""
        if self._earlier is None or not self._appends:
            return 0
        rows = self._store.rows("trial", "run=?", self._earlier[0])
        return 1 + max((int(row[2]) for row in rows), default=-1)

    def _begun(self, *, follows: bool) -> int:
        log = self._log
        remarks = tuple((str(remark), remark.important) for remark in log.remarks)
        own = Imported(log.planned, remarks, (log.source.sha256,))
        both = self._known.followed_by(own) if follows else self._known.merged(own)
        return self._store.begin(
            log.task,
            log.model,
            spec=imported_spec(log.settings),
            config=both.config(),
            source=self._source,
        )

    def _numbered_problems(self, run: int) -> tuple[list[int], int]:
        """Return the numbers of the problems in the store, and how many are new."""
        known = self._store.problems(run)
        number = 1 + max((problem.number for problem in known.values()), default=-1)
        position = 1 + max((problem.position for problem in known.values()), default=-1)
        numbers: list[int] = []
        new: list[StoredProblem] = []
        for row in self._log.problems:
            problem = known.get(row.key)
            if problem is None:
                places = number + len(new), position + len(new)
                problem = StoredProblem(*places, row.key, row.cluster, row.record)
                new.append(problem)
            else:
                self._refuse_problem(problem, row)
            numbers.append(problem.number)
        self._store.put_problems(run, new)
        return numbers, len(new)

    def _refuse_problem(self, earlier: StoredProblem, row: ProblemRow) -> None:
        change = record_change(earlier.record, row.record)
        if change is None and earlier.cluster != row.cluster:
            change = "cluster", repr(earlier.cluster), repr(row.cluster)
        if change is not None:
            name, old, new = change
            raise InvalidInput(
                f"{self._log.source.file}: problem {row.key!r} of {self._log.task} is another one "
                f"in {self._store.directory}: its {name} is {old} there, and {new} here. Import "
                f"the log into another directory."
            )

    def _entered_scorers(self, run: int) -> list[int]:
        """Enter the scorers of the log, and use those whose names are not used yet."""
        known = [row for row in self._store.rows("scorer") if row[1] == run]
        used = sorted((row for row in known if row[5] is not None), key=lambda row: row[5])
        entries = {row[2]: ScorerEntry(*row[2:4]) for row in used}
        own = [ScorerEntry(name, IDENTITY, self._scorer_spec(name)) for name in self._log.scorers]
        numbers = [self._store.put_scorer(run, entry) for entry in own]
        self._new_scorers = set(numbers) - {row[0] for row in known}
        merged = {entry.name: entry for entry in own} | entries
        names = dict.fromkeys((*entries, *merged))
        self._store.set_scorers(run, [merged[name] for name in names])
        return numbers

    def _scorer_spec(self, name: str) -> dict[str, object] | None:
        scale = self._log.scales.get(name, UNSTATED)
        spec: dict[str, object] = {}
        if scale.is_known:
            spec["bounds"] = [scale.low, scale.high]
        if scale.lower_is_better is not None:
            spec["lower_is_better"] = scale.lower_is_better
        return spec or None

    # -- trials ----------------------------------------------------------------------------

    def _rows(self, problems: Sequence[int], first: int) -> Iterator[TrialRow]:
        """Yield the trials with the numbers of the store."""
        for row in self._log.trials:
            yield replace(
                row,
                problem=problems[row.problem],
                trial=row.trial + first,
                source=self._source,
                scores=[score._replace(scorer=self._numbers[score.scorer]) for score in row.scores],
            )

    def _stored(self, run: int, rows: Sequence[TrialRow], report: ImportReport) -> ImportReport:
        """Store trials that are new, and scores by new scorers; all others must be the same."""
        new: list[TrialRow] = []
        scores: list[tuple[int, int, ScoreRow]] = []
        for row in rows:
            earlier = None
            if self._earlier is not None:
                earlier = self._store.trial(run, row.problem, row.trial)
            if earlier is None:
                new.append(row)
                continue
            self._refuse_other(earlier, row)
            scores += [
                (row.problem, row.trial, score)
                for score in row.scores
                if score.scorer in self._new_scorers
            ]
        try:
            self._store.append(run, new)
            self._store.add_scores(scores)
        except (struct.error, OverflowError):
            raise InvalidInput(
                f"{self._log.source.file}: a trial holds a number that is too large to be stored."
            ) from None
        return report.plus(
            trials=len(new),
            trials_there=len(rows) - len(new),
            scores=len(scores) + sum(len(row.scores) for row in new),
        )

    def _refuse_other(self, earlier: TrialRow, row: TrialRow) -> None:
        """Raise `InvalidInput` unless two rows of a trial are the same, and known to be."""
        what = conflict_error(earlier, row)
        known = set(self._numbers) - self._new_scorers
        before, now = (
            {score.scorer: score[:5] for score in one.scores if score.scorer in known}
            for one in (earlier, row)
        )
        if what is None and before != now:
            what = "its score"
        if what is None and (row.text or row.transcript or row.request_id):
            return
        raise InvalidInput(
            f"trial {row.trial} of problem {self._keys[row.problem]!r} of {self._log.task} is in "
            f"{self._name(earlier.source)} and in {self._log.source.file}"
            + (", without a text" if what is None else f", and {what} differs")
            + ". If these are further trials, --append numbers them after those that are there; "
            "if not, import the log into another directory."
        )

    def _name(self, source: int | None) -> str:
        return str(self._store.directory) if source is None else self._files[source].file
