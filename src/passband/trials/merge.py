"""Merging run directories that hold the same runs: shards, topped-up copies, several models.

Two rows of the same trial must say the same, and so must two scores of the same scorer and two
replies of its judge; how long an answer took is not what it says. Everything is written in one
transaction: after a refusal, or a kill, the destination is what it was. Merging again what is there
already changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from passband.errors import InvalidInput
from passband.trials.codec import canonical
from passband.trials.differences import SettingsChanged, record_change
from passband.trials.identity import (
    MOVED_SERVER,
    address_change,
    addresses_of,
    completed_spec,
    identity_changes,
    is_moved,
)
from passband.trials.imported import Imported
from passband.trials.merge_calls import ConflictingCalls, merge_calls
from passband.trials.problems import StoredProblem
from passband.trials.reader import ProblemRecord, RunRecord, ScorerRecord, SessionRecord, Trials
from passband.trials.rows import ScorerEntry, ScoreRow, TrialRow
from passband.trials.schema import FILE, no_run
from passband.trials.store import Store, filling
from passband.trials.writer import LOW_WATER

__all__ = ["MergeReport", "conflict", "merge"]

_CHUNK = 500  # trials


@dataclass(frozen=True)
class MergeReport:
    """The rows that were added to the destination, and those that were there already."""

    destination: str
    sources: int
    runs: int = 0
    problems: int = 0
    trials: int = 0
    scores: int = 0
    trials_there: int = 0
    calls: int = 0  # to judges

    def plus(self, **more: int) -> MergeReport:
        """Return the report with more rows counted."""
        counts = asdict(self)
        return MergeReport(**counts | {name: counts[name] + n for name, n in more.items()})


def merge(
    sources: Sequence[Path],
    destination: Path,
    *,
    low_water: int = LOW_WATER,
    moved_server: bool = False,
) -> MergeReport:
    """Copy every run of the sources into the destination, which may hold part of them.

    Runs of different servers are refused, unless it is the same model on a `moved_server`.
    """
    if not sources:
        raise InvalidInput("give the run directories to merge.")
    for source in sources:
        if not (source / FILE).is_file():
            raise no_run(source)
        if source.resolve() == destination.resolve():
            raise InvalidInput(f"{source} is the destination as well; it needs no merging.")
    report = MergeReport(str(destination), len(sources))
    with filling(destination, low_water=low_water) as store:
        for source in sources:
            with Trials(source) as trials:
                report = _Source(store, trials, moved_server).merged(report)
    return report


class _Source:
    """One store that is being read into another."""

    def __init__(self, store: Store, trials: Trials, moved_server: bool) -> None:
        self._store = store
        self._trials = trials
        self._moved_server = moved_server

    def merged(self, report: MergeReport) -> MergeReport:
        """Copy everything and return the report with it."""
        self._merge_sessions()
        origins = self._origins()
        for run in self._trials.runs():
            entered = _Run(self._store, self._trials, run, origins, self._moved_server)
            report = entered.merged(report)
        return report

    def _merge_sessions(self) -> None:
        """Add sessions that are new; one that was going on then may have come to an end."""
        known = {SessionRecord(*row[1:]): row[0] for row in self._store.rows("session")}
        begun = {session.unended() for session in known}
        for session in self._trials.sessions():
            if session in known or (session.ended is None and session in begun):
                continue
            number = known.get(session.unended())
            if number is None:
                self._store.add("session", session)
            else:
                self._store.put("session", [(number, *session)])

    def _origins(self) -> dict[int | None, int | None]:
        """Return the number in the destination of each file that rows were imported from."""
        numbers: dict[int | None, int | None] = {None: None}
        known = {row[1:]: row[0] for row in self._store.rows("source")}
        for source in self._trials.sources():
            values = (source.reader, source.file, source.sha256, source.added)
            if values not in known:
                known[values] = self._store.add("source", values)
            numbers[source.number] = known[values]
        return numbers


class _Run:
    """One run that is being read into another."""

    def __init__(
        self,
        store: Store,
        trials: Trials,
        run: RunRecord,
        origins: dict[int | None, int | None],
        moved_server: bool,
    ) -> None:
        self._store = store
        self._trials = trials
        self._run = run
        self._origins = origins
        self._moved_server = moved_server
        self._keys: dict[int, str] = {}
        self._numbers: dict[int, int] = {}  # of problems, there and here
        self._scorers: dict[int, int] = {}

    def merged(self, report: MergeReport) -> MergeReport:
        """Copy the run and return the report with it."""
        is_new = self._store.spec(self._run.task, self._run.model) is None
        self._number = self._begun()
        problems = self._merge_problems()
        self._merge_scorers()
        self._merge_attempts()
        report = report.plus(runs=is_new, problems=problems)
        rows = self._trials.trials(self._run)
        while chunk := list(islice(rows, _CHUNK)):
            report = self._merge_trials(chunk, report)
        return self._merge_calls(self._merge_unused(report))

    def _begun(self) -> int:
        """Enter the run; other settings, or another name, are refused."""
        run = self._run
        earlier = next(
            (row for row in self._store.rows("run") if row[2:4] == (run.task, run.model)), None
        )
        if earlier is None:
            return self._store.add(
                "run",
                (run.name, run.task, run.model, canonical(run.spec), canonical(run.config),
                 run.created, run.address, self._origins[run.source]),
            )  # fmt: skip
        before = json.loads(earlier[4])
        servers = addresses_of(before, earlier[7])
        others = [one for one in run.addresses if is_moved(servers, one)]
        changed = identity_changes(run.spec, before) and identity_changes(before, run.spec)
        if others and not self._moved_server:
            changed.insert(0, address_change(servers, others[0]))
        if run.name != earlier[1] and not run.is_imported:
            changed.insert(0, ("name", json.dumps(earlier[1]), json.dumps(run.name)))
        if changed:
            lines = [f"  {name}: {old} in one, {new} in the other" for name, old, new in changed]
            if others and not self._moved_server:
                lines.append(f"If it is the same model, which has moved, add {MOVED_SERVER}.")
            raise SettingsChanged(
                f"{self._where} cannot be merged: its trials of {run.task} were drawn with "
                f"other settings:\n" + "\n".join(lines)
            )
        address = earlier[7] if earlier[7] is not None else run.address
        config = earlier[5]
        if run.is_imported:
            config = canonical(Imported.of(json.loads(config)).merged(run.imported).config())
        spec = canonical(completed_spec(before, run.spec, [*servers, *others], run.created))
        created = min(earlier[6], run.created)
        values = (*earlier[:4], spec, config, created, address, earlier[8])
        self._store.put("run", [values])
        return int(earlier[0])

    def _merge_problems(self) -> int:
        """Enter problems that are new; a position that differs is the later one."""
        known = self._store.problems(self._number)
        following = 1 + max((problem.number for problem in known.values()), default=-1)
        changed, added = [], 0
        for problem in self._trials.problems(self._run.number):
            record = canonical(problem.record)
            earlier = known.get(problem.key)
            if earlier is None:
                stored = StoredProblem(
                    following, problem.position, problem.key, problem.cluster, record
                )
                following, added = following + 1, added + 1
            else:
                self._refuse_problem(earlier, problem, record)
                position = max(earlier.position, problem.position)
                stored = StoredProblem(earlier.number, position, *_rest(earlier))
            self._numbers[problem.number], self._keys[stored.number] = stored.number, problem.key
            if stored != earlier:
                changed.append(stored)
        self._store.put_problems(self._number, changed)
        return added

    def _refuse_problem(self, earlier: StoredProblem, problem: ProblemRecord, record: str) -> None:
        change = record_change(earlier.record, record)
        if change is None and earlier.cluster != problem.cluster:
            change = "cluster", repr(earlier.cluster), repr(problem.cluster)
        if change is not None:
            name, old, new = change
            raise SettingsChanged(
                f"{self._where} cannot be merged: problem {problem.key!r} of {self._run.task} "
                f"differs in its {name}: {old} in one, {new} in the other."
            )

    def _merge_scorers(self) -> None:
        """Enter every scorer, and use those whose names are not used for another one yet."""
        mine = [
            (position, record)
            for run, position, record in self._trials.all_scorers()
            if run == self._run.number
        ]
        for _, record in mine:
            self._scorers[record.number] = self._store.put_scorer(self._number, _entry(record))
        rows = [row for row in self._store.rows("scorer") if row[1] == self._number]
        used = sorted((row for row in rows if row[5] is not None), key=lambda row: row[5])
        entries = {row[2]: ScorerEntry(*row[2:4]) for row in used}
        for position, record in mine:
            if position is not None:
                entries.setdefault(record.name, _entry(record))
        self._store.set_scorers(self._number, list(entries.values()))

    def _merge_attempts(self) -> None:
        attempts = [
            replace(row, problem=self._numbers[row.problem])
            for row in self._trials.attempt_rows(self._run.number)
        ]
        self._store.add_attempts(self._number, attempts)

    def _merge_trials(self, rows: Sequence[TrialRow], report: MergeReport) -> MergeReport:
        """Add trials that are new, and scores that are new; the others must be the same."""
        new: list[TrialRow] = []
        scores: list[tuple[int, int, ScoreRow]] = []
        for row in rows:
            row.problem = self._numbers[row.problem]
            row.source = self._origins[row.source]
            row.scores = [s._replace(scorer=self._scorers[s.scorer]) for s in row.scores]
            earlier = self._store.trial(self._number, row.problem, row.trial)
            if earlier is None:
                new.append(row)
            elif (what := conflict(earlier, row)) is not None:
                raise self._differs(row, what)
            else:
                scores += self._new_scores(earlier, row)
        self._store.append(self._number, new)
        if scores:
            self._store.add_scores(scores)
        return report.plus(
            trials=len(new),
            trials_there=len(rows) - len(new),
            scores=len(scores) + sum(len(row.scores) for row in new),
        )

    def _new_scores(self, earlier: TrialRow, row: TrialRow) -> Iterator[tuple[int, int, ScoreRow]]:
        there = {score.scorer: score for score in earlier.scores}
        for score in row.scores:
            if score.scorer not in there:
                yield row.problem, row.trial, score
            elif there[score.scorer][:5] != score[:5]:  # all but the detail
                raise self._differs(row, "its score")

    def _merge_unused(self, report: MergeReport) -> MergeReport:
        """Copy the scores of scorers that the run no longer uses."""
        used = {scorer.number for scorer in self._run.scorers}
        for there, here in self._scorers.items():
            if there in used:
                continue
            for problem, trial, score in self._trials.scores(there):
                number = self._numbers[problem]
                earlier = self._store.trial(self._number, number, trial)
                row = TrialRow(number, trial, "ok", scores=[score._replace(scorer=here)])
                new = list(self._new_scores(earlier or row, row))
                self._store.add_scores(new)
                report = report.plus(scores=len(new))
        return report

    def _merge_calls(self, report: MergeReport) -> MergeReport:
        """Copy the calls of every scorer that has asked a judge."""
        for there, here in self._scorers.items():
            try:
                added = merge_calls(self._store, self._trials, there, here, self._numbers)
            except ConflictingCalls as error:
                row = TrialRow(error.call.problem, error.call.trial, "ok")
                raise self._differs(row, "a judge's reply") from None
            report = report.plus(calls=added)
        return report

    def _differs(self, row: TrialRow, what: str) -> SettingsChanged:
        return SettingsChanged(
            f"{self._where} cannot be merged: trial {row.trial} of problem "
            f"{self._keys[row.problem]!r} of {self._run.task} is recorded twice, and {what} "
            f"differs."
        )

    @property
    def _where(self) -> str:
        return f"{self._trials.directory}"


def _rest(problem: StoredProblem) -> tuple[str, str | None, str]:
    return problem.key, problem.cluster, problem.record


def _entry(record: ScorerRecord) -> ScorerEntry:
    return ScorerEntry(record.name, record.identity, record.spec)


def conflict(earlier: TrialRow, row: TrialRow) -> str | None:
    """Return what differs in two rows of a trial, if anything does that a reader would see."""
    names = {
        "status": "its status", "text": "its completion", "reasoning": "its reasoning",
        "transcript": "its transcript", "seed": "its seed", "prompt_tokens": "its tokens",
        "completion_tokens": "its tokens", "finish_reason": "how it ended",
    }  # fmt: skip
    for name, words in names.items():
        if getattr(earlier, name) != getattr(row, name):
            return words
    return None
