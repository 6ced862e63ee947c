"""Copying rows from one file to another as they are, by SQLite, where all numbers agree.

A row keeps its checksum, so that one that was damaged in the source is found to be damaged here,
when it is read. Checksums are not computed on the way: those of a million trials with their
completions and scores would double the time. What is checked is that no row is lost: as many are
copied as the counters of the source say. Where all trials of a run are new, their tallies are added
to those that are there; otherwise tallies are made from the rows that are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from passband.trials.file.connection import attach
from passband.trials.file.packing import STATUS
from passband.trials.file.schema import STORE_FILE, corrupt_store, selected, sqlite_errors
from passband.trials.file.tally_columns import TrialTallies
from passband.trials.merging.entries import Entered, MergeReport
from passband.trials.merging.overlap import conflict_error, supersedes
from passband.trials.merging.rows import SharedTrials, places
from passband.trials.reader import Trials
from passband.trials.rows import FAILED, TrialRow
from passband.trials.store import Store

_CHUNK = 10_000  # rows
_CACHE = 16_000  # kB; a source has rows for pages all over the tables
_PAGE = 4_096  # bytes
_LOG = 24_000  # pages of the log; several sources change the same pages before they are copied
_ANSWERED = [number for status, number in STATUS.items() if status not in FAILED]
_PLACES = "run INT,problem INT,trial INT,PRIMARY KEY(run,problem,trial)"
_NEW_SCORES = (
    "INSERT INTO temp.scored SELECT s.scorer, s.problem, s.trial FROM source.score AS s "
    "WHERE s.scorer=:scorer AND NOT EXISTS (SELECT 1 FROM main.score AS m "
    "WHERE m.scorer=s.scorer AND m.problem=s.problem AND m.trial=s.trial) "
    "AND NOT EXISTS (SELECT 1 FROM temp.skipped_failed AS p "
    "WHERE p.run=:run AND p.problem=s.problem AND p.trial=s.trial)"
)
_COUNTED = (
    "r.problem, r.trial, r.status, r.prompt_tokens, r.completion_tokens, r.cost, r.attempts, "
    "r.reasoning_tokens, r.cached_tokens"
)


class MergedStore(Store):
    """A store that takes rows of other files as they are."""

    @contextmanager
    def attached(self, path: Path) -> Iterator[None]:
        """Let a file be copied from."""
        # It is in the log before it is in the file, with the pages here that get some of it.
        touched = min((self.directory / STORE_FILE).stat().st_size, _LOG * _PAGE)
        self._require_room(touched + 2 * path.stat().st_size)
        self._all(f"PRAGMA cache_size=-{_CACHE}")
        self._all(f"PRAGMA wal_autocheckpoint={_LOG}")
        self._longest_log = _LOG * _PAGE
        attach(self._connection, path, "source")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # why copying failed matters more
                self._connection.execute("DETACH source")

    def is_at(self, commits: int) -> bool:
        """Return whether the attached file is read as it was after this number of commits."""
        query = "SELECT value FROM source.counter WHERE name='commit' AND number=0"
        return self._all(query) == [(commits,)]

    def has_free_bodies(self) -> bool:
        """Return whether no completion of the attached file has the number of another one here."""
        bounds = "(SELECT min(id) FROM source.body) AND (SELECT max(id) FROM source.body)"
        query = f"SELECT EXISTS (SELECT 1 FROM main.body WHERE id BETWEEN {bounds})"
        if not self._one(query):
            return True
        other = "m.run<>s.run OR m.problem<>s.problem OR m.trial<>s.trial"
        both = "source.body AS s CROSS JOIN main.body AS m ON m.id=s.id"
        return not self._one(f"SELECT EXISTS (SELECT 1 FROM {both} WHERE {other})")

    def has_problems(self, run: int) -> bool:
        """Return whether every problem of a run of the attached file is here as it is there."""
        both = "source.problem AS s JOIN main.problem AS m ON m.run=s.run AND m.problem=s.problem"
        same = "m.position=s.position AND m.key=s.key AND m.cluster IS s.cluster"
        query = f"SELECT count(*) FROM {both} WHERE s.run=? AND {same} AND m.record=s.record"
        return self._one(query, run) == self._one(
            "SELECT count(*) FROM source.problem WHERE run=?", run
        )

    def copy_run(self, trials: Trials, entered: Entered, report: MergeReport) -> MergeReport:
        """Copy attempts, trials, completions and scores of a run with the same numbers here."""
        run = entered.number
        shared = self._shared(trials, run)
        self._copy_attempts(trials, run)
        if shared.are_all_new:
            scores = self._copy_all(trials, entered)
        else:
            scores = self._copy_new(trials, entered, shared)
        self._last_body = self._one("SELECT coalesce(max(id), 0) FROM body")
        counts = {
            name: _count(getattr(shared, name)) for name in ("new", "replacing", "skipped_failed")
        }
        there = counts["skipped_failed"] + _count(shared.same)
        return report.plus(
            trials=counts["new"], replaced=counts["replacing"], trials_there=there, scores=scores
        )

    # -- which trials ----------------------------------------------------------------------

    def _shared(self, trials: Trials, run: int) -> SharedTrials:
        here, there = TrialTallies.read(self._checked, run), trials.recorded(run)
        mine = here.masks()
        if not any(mask & mine.get(problem, 0) for problem, mask in there.items()):
            return SharedTrials(new=there)
        answered = trials.recorded(run, without=FAILED)
        shared = SharedTrials.of(
            mine,
            here.masks(_ANSWERED),
            there,
            {problem: mask & ~answered.get(problem, 0) for problem, mask in there.items()},
        )
        for problem, trial in places(shared.both_failed):
            one, other = self.trial(run, problem, trial), trials.trial(run, problem, trial)
            if one is None or other is None:
                raise corrupt_store(trials.directory / STORE_FILE, "a trial is lost")
            if supersedes(other, one):
                shared.settle(problem, trial, "replacing")
            else:
                shared.settle(
                    problem, trial, "skipped_failed" if conflict_error(one, other) else "same"
                )
        return shared

    # -- rows ------------------------------------------------------------------------------

    def _copy_attempts(self, trials: Trials, run: int) -> None:
        there = self._one("SELECT count(*) FROM source.attempt WHERE run=?", run)
        self._require_rows(trials, "attempt", run, there)
        if there:
            new = self._copied("attempt", "source.attempt WHERE run=?", run, conflict="OR IGNORE")
            self._tallies.count("attempt", run, new)

    def _copy_all(self, trials: Trials, entered: Entered) -> int:
        """Copy a run of which the destination has no trial yet; return the number of scores."""
        run = entered.number
        bodies = self._one("SELECT count(body) FROM source.trial WHERE run=?", run)
        copied = self._copied("trial", "source.trial WHERE run=? ORDER BY problem, trial", run)
        self._require_rows(trials, "trial", run, copied)
        self._require_bodies(
            trials, bodies, self._copied("body", "source.body WHERE run=? ORDER BY id", run)
        )
        self._tallies.add_trial_tallies(run, trials.trial_tallies(run))
        scores = 0
        for scorer in entered.scorers:
            rows = "source.score WHERE scorer=? ORDER BY problem, trial"
            copied = self._copied("score", rows, scorer)
            self._require_rows(trials, "score", scorer, copied)
            self._tallies.add_score_tallies(scorer, trials.score_tallies(scorer))
            scores += copied
        return scores

    def _copy_new(self, trials: Trials, entered: Entered, shared: SharedTrials) -> int:
        """Copy the trials and scores that the destination lacks; return the number of scores."""
        run = entered.number
        for table, number in (("trial", run), *(("score", scorer) for scorer in entered.scorers)):
            column = "run" if table == "trial" else "scorer"
            query = f"SELECT count(*) FROM source.{table} WHERE {column}=?"
            self._require_rows(trials, table, number, self._one(query, number))
        self._remove(entered, shared)
        with self._temporary("fresh", _PLACES), self._temporary("skipped_failed", _PLACES):
            self._fill("fresh", run, places(shared.new))
            self._fill("fresh", run, places(shared.replacing))
            self._fill("skipped_failed", run, places(shared.skipped_failed))
            self._copy_trials(trials, run)
            with self._temporary("scored", _PLACES.replace("run", "scorer")):
                return sum(self._copy_scores(run, scorer) for scorer in entered.scorers)

    def _remove(self, entered: Entered, shared: SharedTrials) -> None:
        """Remove failed trials that others take the place of."""
        rows = [TrialRow(*place, "ok") for place in places(shared.replacing)]
        if rows:
            self._remove_failed(entered.number, rows)
            scorers = [row[0] for row in self.rows("scorer") if row[1] == entered.number]
            self._tallies.recount(entered.number, scorers, shared.replacing)

    def _copy_trials(self, trials: Trials, run: int) -> None:
        """Copy the trials of `fresh` with their completions, and tally them."""
        rows = _at("fresh", "trial", "run")
        for chunk in self._chunks(f"SELECT {_COUNTED} FROM {rows}"):
            self._tallies.add_trials(run, chunk)
        fresh = self._one("SELECT count(*) FROM temp.fresh")
        bodies = self._one(f"SELECT count(r.body) FROM {rows}")
        if self._copied("trial", rows, prefix="r.") != fresh:
            raise corrupt_store(trials.directory / STORE_FILE, "trials are lost")
        place = "f.run=b.run AND f.problem=b.problem AND f.trial=b.trial"
        which = f"b.run=? AND EXISTS (SELECT 1 FROM temp.fresh AS f WHERE {place})"
        copied = self._copied("body", f"source.body AS b WHERE {which} ORDER BY b.id", run)
        self._require_bodies(trials, bodies, copied)

    def _copy_scores(self, run: int, scorer: int) -> int:
        """Copy the scores of a scorer that are new, and tally them; return how many."""
        self._connection.execute("DELETE FROM temp.scored")
        new = self._connection.execute(_NEW_SCORES, {"scorer": scorer, "run": run}).rowcount
        rows = _at("scored", "score", "scorer")
        trial = "main.trial AS t ON t.run=? AND t.problem=r.problem AND t.trial=r.trial"
        query = f"SELECT r.problem, t.status, r.status, r.value FROM {rows} CROSS JOIN {trial}"
        for chunk in self._chunks(query, run):
            self._tallies.add_scores(scorer, chunk)
        self._copied("score", rows, prefix="r.")
        return new

    # -- inside ----------------------------------------------------------------------------

    def _copied(
        self, table: str, rows: str, *arguments: object, prefix: str = "", conflict: str = ""
    ) -> int:
        """Insert rows of the attached file, and return how many were new."""
        into = f"INSERT {conflict} INTO main.{table}({selected(table)})"
        with sqlite_errors(self.directory / STORE_FILE):
            text = f"{into} SELECT {selected(table, prefix=prefix)} FROM {rows}"
            return self._connection.execute(text, arguments).rowcount

    def _chunks(self, query: str, *arguments: object) -> Iterator[list[tuple[Any, ...]]]:
        with sqlite_errors(self.directory / STORE_FILE):
            cursor = self._connection.execute(query, arguments)
            while chunk := cursor.fetchmany(_CHUNK):
                yield chunk

    @contextmanager
    def _temporary(self, table: str, columns: str) -> Iterator[None]:
        self._connection.execute(f"CREATE TEMP TABLE {table}({columns})WITHOUT ROWID")
        yield  # after an error the transaction ends, and the table with it
        self._connection.execute(f"DROP TABLE temp.{table}")

    def _fill(self, table: str, run: int, chosen: Iterable[tuple[int, int]]) -> None:
        rows = ((run, *place) for place in chosen)
        self._connection.executemany(f"INSERT INTO temp.{table} VALUES(?,?,?)", rows)

    def _require_rows(self, trials: Trials, table: str, number: int, count: int) -> None:
        written = trials.counter(table, number)
        if count != written:
            why = f"{count} rows of {table} were found where {written} were written"
            raise corrupt_store(trials.directory / STORE_FILE, why)

    def _require_bodies(self, trials: Trials, expected: int, copied: int) -> None:
        if copied != expected:
            why = f"{copied} completions were found where there must be {expected}"
            raise corrupt_store(trials.directory / STORE_FILE, why)


def _at(places: str, table: str, column: str) -> str:
    """Return the rows (r) of a table of the attached file that a table of places chooses."""
    return (
        f"temp.{places} AS p CROSS JOIN source.{table} AS r "
        f"ON r.{column}=p.{column} AND r.problem=p.problem AND r.trial=p.trial"
    )


def _count(masks: Mapping[int, int]) -> int:
    return sum(mask.bit_count() for mask in masks.values())
