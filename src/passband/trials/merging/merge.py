"""Merging run directories that hold the same runs: shards, topped-up copies, several models.

Two rows of the same trial must say the same, and so must two scores of the same scorer and two
replies of its judge; how long an answer took is not what it says. A trial that failed in one gives
way to an answer in another. Everything that can be refused is looked for in all sources before
the first row is written: after a refusal the destination is what it was. Each source is written in
one transaction, so that a process that is killed leaves a whole number of them, and the same
command goes on from there. Merging again what is there already changes nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from passband.errors import InvalidInput, PassbandError
from passband.trials.file.lock import Busy, holder
from passband.trials.file.schema import STORE_FILE, no_run
from passband.trials.file.writer import LOW_WATER
from passband.trials.merging.checks import MergeChecks
from passband.trials.merging.copy_rows import MergedStore
from passband.trials.merging.entries import (
    MergeReport,
    enter_run,
    merge_origins,
    merge_sessions,
    record_of,
)
from passband.trials.merging.rows import MergedRows, copy_calls
from passband.trials.reader import Trials
from passband.trials.shards import Shards


def merge_directories(
    sources: Sequence[Path],
    destination: Path,
    *,
    low_water: int = LOW_WATER,
    moved_server: bool = False,
    partial: bool = False,
) -> MergeReport:
    """Copy every run of the sources into the destination, which may hold part of them.

    Runs of different servers are refused, unless it is the same model on a `moved_server`, and
    so are directories that a run is still writing, unless `partial`: then what they hold at this
    moment is copied. Shards of a run may come in any order and at any time; the report says which
    ones are missing. What one more source costs depends on that source and on the number of
    problems, and not on the trials that are there.
    """
    if not sources:
        raise InvalidInput("give the run directories to merge.")
    for source in sources:
        _refuse(source, destination, partial)
    report = MergeReport(str(destination), len(sources))
    with _filling(destination, low_water) as store:
        merging = _Merging(store, moved_server)
        commits = merging.checked(sources)
        for source, number in zip(sources, commits, strict=True):
            report = merging.merged(source, number, report)
        return merging.remarked(report)


def _refuse(source: Path, destination: Path, partial: bool) -> None:
    """Refuse a source that is none, or the destination, or not finished."""
    if not (source / STORE_FILE).is_file():
        raise no_run(source)
    if source.resolve() == destination.resolve():
        raise InvalidInput(f"{source} is the destination as well; it needs no merging.")
    if not partial and (process := holder(source)) is not None:
        raise Busy(
            f"{source} is being written by {process}. Merge it when that has ended, or what it "
            f"holds now with --partial (partial=True in Python)."
        )


@contextmanager
def _filling(directory: Path, low_water: int) -> Iterator[MergedStore]:
    """Open the destination; if nothing is written, a directory that was made for it goes again."""
    is_new = not directory.exists()
    store = MergedStore(directory, low_water=low_water)
    try:
        yield store
    except BaseException:
        is_empty = False
        with suppress(PassbandError):  # why it failed matters more
            is_empty = is_new and not store.rows("run")
        store.close()
        if is_empty:
            shutil.rmtree(directory, ignore_errors=True)
        raise
    store.close()


@dataclass
class _Merging:
    """Sources that are being read into a store, one after the other."""

    store: MergedStore
    moved_server: bool
    has_shards: bool = False
    tasks: frozenset[tuple[str, str]] = frozenset()  # with their models

    def checked(self, sources: Sequence[Path]) -> list[int]:
        """Compare all sources with the store and each other; return the commits that each had."""
        claims = MergeChecks(moved_server=self.moved_server)
        with Trials(self.store.directory, trusted=True) as trials:
            claims.add(trials)
        commits = []
        for source in sources:
            with Trials(source) as trials:
                claims.add(trials)
                commits.append(trials.commits)
                self._note(trials)
        return commits

    def _note(self, trials: Trials) -> None:
        for run in trials.runs():
            self.tasks |= {(run.task, run.model)}
            self.has_shards |= Shards.in_config(run.config) is not None

    def merged(self, source: Path, commits: int, report: MergeReport) -> MergeReport:
        """Copy a source in one transaction and return the report with it."""
        with (
            self.store.attached(source / STORE_FILE),
            Trials(source, trusted=True) as trials,
            self.store.transaction(),
        ):
            trials.refresh()
            if trials.commits != commits:  # a run has gone on since
                self._check(trials)
            return self._copied(trials, self.store.is_at(trials.commits), report)

    def _check(self, trials: Trials) -> None:
        claims = MergeChecks(moved_server=self.moved_server)
        with Trials(self.store.directory, trusted=True) as destination:
            claims.add(destination)
        claims.add(trials)

    def _copied(self, trials: Trials, is_copyable: bool, report: MergeReport) -> MergeReport:
        merge_sessions(self.store, trials)
        origins = merge_origins(self.store, trials)
        # Imported rows name their file by its number.
        is_copyable = is_copyable and len(origins) == 1 and self.store.has_free_bodies()
        for run in trials.runs():
            entered = enter_run(
                self.store, trials, run, origins, moved_server=self.moved_server,
                has_problems=self.store.has_problems if is_copyable else lambda _: False,
            )  # fmt: skip
            report = report.plus(runs=entered.is_new, problems=entered.added)
            if is_copyable and entered.keeps_numbers:
                report = self.store.copy_run(trials, entered, report)
            else:
                report = MergedRows(self.store, trials, entered, origins).merged(report)
            report = copy_calls(self.store, trials, entered, report)
        return report

    def remarked(self, report: MergeReport) -> MergeReport:
        """Return the report with what a user should know: missing shards, several versions."""
        missing, warnings = [], []
        for row in self.store.rows("run"):
            run = record_of(row)
            shards = Shards.in_config(run.config)
            if (run.task, run.model) in self.tasks and shards and (words := shards.remark()):
                missing.append(f"{run.task} by {run.model}: {words}")
        versions = sorted({row[6] for row in self.store.rows("session") if row[4] != 0})
        if self.has_shards and len(versions) > 1:
            names = f"{', '.join(versions[:-1])} and {versions[-1]}"
            warnings.append(f"the shards were drawn by passband {names}, which may ask otherwise.")
        return replace(report, missing=tuple(missing), warnings=tuple(warnings))
