"""Decide which incoming trials are new and which replace existing ones, and copy them.

Which trials of a run that is merged are new, and which of those that are there give way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from passband.trials.merging.entries import Entered, MergeReport
from passband.trials.merging.overlap import (
    ConflictingCalls,
    bits,
    conflict_error,
    merge_calls,
    recorded_twice,
    supersedes,
)
from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow, TrialRow
from passband.trials.settings import SettingsChanged
from passband.trials.store import Store

_CHUNK = 500  # trials


class MergedRows:
    """The rows of one run that are being read into another."""

    def __init__(
        self,
        store: Store,
        trials: Trials,
        entered: Entered,
        origins: Mapping[int | None, int | None],
    ) -> None:
        entered.complete(trials)
        self._store, self._trials, self._entered = store, trials, entered
        self._origins = origins
        self._number = entered.number

    def merged(self, report: MergeReport) -> MergeReport:
        """Copy the rows and return the report with them."""
        self._merge_attempts()
        rows = self._trials.trials(self._entered.run)
        while chunk := list(islice(rows, _CHUNK)):
            report = self._merge_trials(chunk, report)
        return self._merge_unused(report)

    def _merge_attempts(self) -> None:
        attempts = [
            replace(row, problem=self._entered.problems[row.problem])
            for row in self._trials.attempt_rows(self._entered.run.number)
        ]
        self._store.add_attempts(self._number, attempts)

    def _merge_trials(self, rows: Sequence[TrialRow], report: MergeReport) -> MergeReport:
        """Add trials that are new, and scores that are new; the others must be the same."""
        new: list[TrialRow] = []
        replacing: list[TrialRow] = []
        scores: list[tuple[int, int, ScoreRow]] = []
        for row in rows:
            row.problem = self._entered.problems[row.problem]
            row.source = self._origins[row.source]
            row.scores = [s._replace(scorer=self._entered.scorers[s.scorer]) for s in row.scores]
            earlier = self._store.trial(self._number, row.problem, row.trial)
            if earlier is None:
                new.append(row)
            elif supersedes(row, earlier):
                replacing.append(row)
            elif supersedes(earlier, row):
                continue
            elif (what := conflict_error(earlier, row)) is not None:
                raise self._differs(row, what)
            else:
                scores += self._new_scores(earlier, row)
        self._store.append(self._number, new)
        if replacing:
            self._store.append(self._number, replacing, again=True)
        if scores:
            self._store.add_scores(scores)
        return report.plus(
            trials=len(new),
            replaced=len(replacing),
            trials_there=len(rows) - len(new) - len(replacing),
            scores=len(scores) + sum(len(row.scores) for row in (*new, *replacing)),
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
        used = {scorer.number for scorer in self._entered.run.scorers}
        for there, here in self._entered.scorers.items():
            if there in used:
                continue
            for problem, trial, score in self._trials.scores(there):
                number = self._entered.problems[problem]
                row = TrialRow(number, trial, "ok", scores=[score._replace(scorer=here)])
                if self._is_superseded(problem, row):
                    continue
                earlier = self._store.trial(self._number, number, trial)
                new = list(self._new_scores(earlier or row, row))
                self._store.add_scores(new)
                report = report.plus(scores=len(new))
        return report

    def _is_superseded(self, problem: int, row: TrialRow) -> bool:
        """Return whether the destination has another row than the source of this trial."""
        there = self._trials.trial(self._entered.run.number, problem, row.trial)
        here = self._store.trial(self._number, row.problem, row.trial)
        return there is not None and here is not None and conflict_error(there, here) is not None

    def _differs(self, row: TrialRow, what: str) -> SettingsChanged:
        return recorded_twice(
            self._trials.directory, self._entered.run.task, self._entered.keys[row.problem],
            row.trial, what, self._store.directory,
        )  # fmt: skip


def copy_calls(store: Store, trials: Trials, entered: Entered, report: MergeReport) -> MergeReport:
    """Copy the calls of every scorer that has asked a judge."""
    asked = [scorer for scorer in entered.scorers if trials.counter("call", scorer)]
    if asked:
        entered.complete(trials)
    for there in asked:
        here = entered.scorers[there]
        try:
            added = merge_calls(store, trials, there, here, entered.problems)
        except ConflictingCalls as error:
            raise recorded_twice(
                trials.directory, entered.run.task, entered.keys[error.call.problem],
                error.call.trial, "a judge's reply", store.directory,
            ) from None  # fmt: skip
        report = report.plus(calls=added)
    return report


Masks = Mapping[int, int]  # trials as bits, by number of the problem


@dataclass
class SharedTrials:
    """Trials of a source as bits by problem, sorted by whether the destination takes them."""

    new: dict[int, int] = field(default_factory=dict)
    replacing: dict[int, int] = field(default_factory=dict)  # failed here, and not there
    skipped_failed: dict[int, int] = field(default_factory=dict)  # failed there, and not here
    both_failed: dict[int, int] = field(default_factory=dict)
    same: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, here: Masks, failed_here: Masks, there: Masks, failed_there: Masks) -> SharedTrials:
        """Sort the trials that are there.

        >>> SharedTrials.of({0: 0b0111}, {0: 0b0010}, {0: 0b1110}, {0: 0b0100})
        SharedTrials(new={0: 8}, replacing={0: 2}, skipped_failed={0: 4}, both_failed={}, same={})
        """
        shared = cls()
        for problem, mask in there.items():
            mine = here.get(problem, 0)
            if not mask & mine:
                shared.new[problem] = mask
                continue
            failed, other = failed_here.get(problem, 0), failed_there.get(problem, 0)
            sorted_out = {
                "new": mask & ~mine,
                "replacing": mask & ~other & failed,
                "skipped_failed": other & mine & ~failed,
                "both_failed": other & failed,
                "same": mask & ~other & mine & ~failed,
            }
            for name, chosen in sorted_out.items():
                if chosen:
                    getattr(shared, name)[problem] = chosen
        return shared

    @property
    def are_all_new(self) -> bool:
        """Whether the destination has none of them."""
        return not (self.replacing or self.skipped_failed or self.both_failed or self.same)

    def settle(self, problem: int, trial: int, kind: str) -> None:
        """Note what becomes of a trial that failed in both."""
        chosen: dict[int, int] = getattr(self, kind)
        chosen[problem] = chosen.get(problem, 0) | 1 << trial


def places(masks: Masks) -> Iterator[tuple[int, int]]:
    """Yield the problem and the number of each trial.

    >>> list(places({3: 0b101}))
    [(3, 0), (3, 2)]
    """
    for problem, mask in masks.items():
        for trial in bits(mask):
            yield problem, trial
