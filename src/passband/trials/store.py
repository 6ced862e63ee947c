"""Writing the trials table: a run, its problems, and trials in batches that are safe on disk.

A trial is recorded exactly once. A request may be billed more than once, where the process died
between the answer and the commit. `append` returns after the commit: what is announced then is
on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.trials.encoding import canonical_json
from passband.trials.file import packing
from passband.trials.file.batch import Batch
from passband.trials.file.checksums import is_intact
from passband.trials.file.packing import STATUS, packed
from passband.trials.file.problem_table import ProblemTable
from passband.trials.file.schema import TABLES, selected
from passband.trials.file.unpacking import placed_trial
from passband.trials.file.writer import LOW_WATER
from passband.trials.rows import FAILED, ScorerEntry, ScoreRow, TrialRow
from passband.trials.settings import (
    SettingsChanged,
    address_change,
    addresses_of,
    advice_on,
    completed_spec,
    identity_changes,
    is_imported,
    is_moved,
    with_address,
)
from passband.version import __version__

_FAILED = ",".join(str(STATUS[status]) for status in FAILED)


class Store(ProblemTable):
    """The one writer of a run directory.

    A store that has no completions yet numbers them from `first_body` + 1. Shards of a run begin
    far apart, so that none of their rows has to be changed when they are merged.
    """

    def __init__(self, directory: Path, *, low_water: int = LOW_WATER, first_body: int = 0) -> None:
        super().__init__(directory, low_water=low_water, first_body=first_body)
        self._begun: set[int] = set()  # runs that this process has entered
        self._asked_at: dict[int, str] = {}  # servers of this process, by runs that go on

    # -- a run and what it asks ------------------------------------------------------------

    def spec(self, task: str, model: str) -> dict[str, Any] | None:
        """Return the settings that the trials of a task and model were drawn with, if any were."""
        row = self._run(task, model)
        return None if row is None else dict(json.loads(row[4]))

    def config(self, task: str, model: str) -> dict[str, Any]:
        """Return how a task and model were measured; empty if they were not."""
        row = self._run(task, model)
        return {} if row is None else dict(json.loads(row[5]))

    def set_config(self, run: int, config: Mapping[str, Any]) -> None:
        """Record how a run was measured, in place of what is recorded."""
        (row,) = (row for row in self.rows("run") if row[0] == run)
        self.put("run", [(*row[:5], canonical_json(config), *row[6:])])

    def name(self, task: str, model: str) -> str:
        """Return the name of a run, or the one that it would get: that of the first run here."""
        row = self._run(task, model) or next(iter(self.rows("run")), None)
        return self.directory.resolve().name if row is None else str(row[1])

    def begin(
        self,
        task: str,
        model: str,
        *,
        spec: Mapping[str, Any],
        config: Mapping[str, Any],
        name: str | None = None,
        address: str | None = None,
        source: int | None = None,
        moved_server: bool = False,
    ) -> int:
        """Return the number of the run of a task and model: a new one, or the one to go on with.

        `spec` is what the trials depend on, and other settings are refused. `config` says how
        the task is measured, which may change. `name` is what seeds are derived from, by default
        that of the directory when it was made; it stays when the directory gets another.
        `address` is refused if it is another, unless the server has moved. A run that goes on has
        it with the first trials that it gives: a server that nothing was asked of gave none.
        """
        self._forget_mistakes(task, model, json.loads(canonical_json(spec)), address)
        earlier = self._run(task, model)
        with self.transaction():
            if earlier is None:
                number = 1 + max((row[0] for row in self.rows("run")), default=0)
                chosen = self.name(task, model) if name is None else name
                values = (number, chosen, task, model, canonical_json(spec), canonical_json(config),
                          utc_now(), address, source)  # fmt: skip
            else:
                number = earlier[0]
                now = json.loads(canonical_json(spec))
                self._refuse_changes(earlier, name, now, address, moved_server)
                before = json.loads(earlier[4])
                known = addresses_of(before, earlier[7])
                kept = completed_spec(before, now, known, utc_now())
                values = (*earlier[:4], canonical_json(kept), canonical_json(config), *earlier[6:])
                if address is not None:
                    self._asked_at[number] = address
            self.put("run", [values])
        self._begun.add(number)
        return number

    def set_scorers(
        self, run: int, scorers: Sequence[ScorerEntry], *, first: str | None = None
    ) -> list[int]:
        """Make these the scorers of the run, the first the main one, and return their numbers.

        Scorers of other names that the run has come after them; the one named `first` before all.
        """
        names = {entry.name for entry in scorers}
        rows = [row for row in self.rows("scorer") if row[1] == run]
        used = sorted((row for row in rows if row[5] is not None), key=lambda row: row[5])
        kept = [row[0] for row in used if row[2] not in names]
        with self.transaction():
            numbers = [self.put_scorer(run, entry) for entry in scorers]
            mine = [row for row in self.rows("scorer") if row[1] == run]
            chosen = {row[0] for row in mine if row[2] == first}
            every = sorted([*numbers, *kept], key=lambda number: number not in chosen)
            order = {number: position for position, number in enumerate(every)}
            self.put("scorer", [(*row[:5], order.get(row[0])) for row in mine])
        return numbers

    def main_scorer(self, run: int) -> int | None:
        """Return the number of the main scorer of a run; None if it has no scorer."""
        rows = (row for row in self.rows("scorer") if row[1] == run and row[5] == 0)
        return next((int(row[0]) for row in rows), None)

    def put_scorer(self, run: int, entry: ScorerEntry, number: int | None = None) -> int:
        """Return the number of a scorer, which is entered if it is new; it is not yet used.

        A new one gets the given number where no other has it.
        """
        rows = self.rows("scorer")
        spec = None if entry.spec is None else canonical_json(entry.spec)
        known = next((row for row in rows if row[1:4] == (run, *entry[:2])), None)
        with self.transaction():
            if known is None:
                taken = {row[0] for row in rows}
                if number is None or number in taken:
                    number = 1 + max(taken, default=0)
                self.put("scorer", [(number, run, *entry[:2], spec, None)])
                return number
            if spec is not None:
                self.put("scorer", [(*known[:4], spec, known[5])])
        return int(known[0])

    def begin_session(self, concurrency: int, address: str | None = None) -> int:
        """Record that this process begins to ask, and return the number of its session."""
        values = (utc_now(), None, None, None, concurrency, __version__, address, os.getpid(),
                  socket.gethostname())  # fmt: skip
        number = self.add("session", values)
        self.checkpoint()
        return number

    def end_session(self, number: int, seconds: float, trials: int) -> None:
        """Record how long a session asked and how many trials it recorded."""
        (row,) = (row for row in self.rows("session") if row[0] == number)
        self.put("session", [(*row[:2], utc_now(), seconds + 0.0, trials, *row[5:])])

    def add_source(self, reader: str, file: str, sha256: str) -> int:
        """Record a file that trials are imported from, and return its number."""
        return self.add("source", (reader, file, sha256, utc_now()))

    # -- trials ----------------------------------------------------------------------------

    def append(self, run: int, trials: Sequence[TrialRow], *, again: bool = False) -> None:
        """Record trials with their scores, all of them or, if this raises, none.

        With `again`, they take the place of failed ones; what was tried then is kept.
        """
        self._require_room()
        batch = Batch(run, self._last_body)
        batch.add(trials)
        with self.transaction():
            replaced = again and self._remove_failed(run, trials)
            self._keep_address(run)
            for text, values in batch.insertions():
                self._connection.execute(text, values)
            if replaced:
                scorers = [row[0] for row in self.rows("scorer") if row[1] == run]
                self._tallies.recount(run, scorers, {trial.problem for trial in trials})
            else:
                self._tallies.add_trials(run, batch.trials)
                for scorer, scores in batch.scores.items():
                    self._tallies.add_scores(scorer, scores)
        self._last_body = batch.last_body

    def trial(self, run: int, problem: int, trial: int) -> TrialRow | None:
        """Return a trial with what every scorer gave it, if it is recorded."""
        if self._tallies.status_of(run, problem, trial) is None:
            return None
        row = placed_trial(self._checked, run, problem, trial)
        if row is None:
            raise self._checked.corrupt(
                f"a trial is lost: {self._checked.place(run, problem, trial)}"
            )
        return row

    def add_scores(self, scores: Iterable[tuple[int, int, ScoreRow]]) -> None:
        """Record (problem, trial, score) for trials that are there, in place of earlier ones."""
        self._require_room()
        rows: dict[int, dict[tuple[int, int], tuple[object, ...]]] = {}
        for problem, trial, score in scores:
            row = packing.score(problem, trial, score)
            rows.setdefault(score.scorer, {})[problem, trial] = row
        with self.transaction():
            for scorer, made in rows.items():
                self._add_scores(scorer, made)

    def _add_scores(self, scorer: int, rows: Mapping[tuple[int, int], tuple[object, ...]]) -> None:
        run = self._run_of(scorer)
        sums: list[Any] = []
        for (problem, trial), row in rows.items():
            status = self._tallies.status_of(run, problem, trial)
            if status is None:
                raise InvalidInput(f"trial {trial} of problem {problem} is not recorded.")
            sums.append((problem, status, row[4], row[3]))
        if self._insert("score", list(rows.values()), "OR IGNORE") == len(rows):
            self._tallies.add_scores(scorer, sums)
        else:  # some were there
            self._insert("score", list(rows.values()), "OR REPLACE")
            self._tallies.recount_scores(run, scorer, {problem for problem, _ in rows})

    def price_trials(self, run: int, cost_of: Callable[[int, int], float]) -> int:
        """Give the trials without a cost their own, by their tokens; return how many there are."""
        where = "run=? AND cost IS NULL AND (prompt_tokens + completion_tokens) NOT NULL"
        query = f"SELECT {selected('trial')} FROM trial WHERE {where}"
        place = [name for name, _ in TABLES["trial"]].index("cost")
        problems: set[int] = set()
        count = 0
        self._require_room()
        with self.transaction():
            for row in self._all(query, run):
                if not is_intact("trial", row):
                    raise self._checked.damaged("trial", row)
                cost = packing.finite(cost_of(row[4], row[5]), "a cost")
                crc = packed("trial", (*row[:place], cost, *row[place + 1 : -1]))[-1]
                self._connection.execute(
                    "UPDATE trial SET cost=?, crc=? WHERE run=? AND problem=? AND trial=?",
                    (cost, crc, *row[:3]),
                )
                problems.add(row[1])
                count += 1
            self._tallies.recount(run, (), problems)
        return count

    def _remove_failed(self, run: int, trials: Sequence[TrialRow]) -> bool:
        """Remove failed trials that others take the place of, and return whether there are any."""
        places = [(run, trial.problem, trial.trial) for trial in trials]
        where = f"WHERE run=? AND problem=? AND trial=? AND status IN ({_FAILED})"
        failed = [place for place in places if self._all(f"SELECT 1 FROM trial {where}", *place)]
        for run, problem, trial in failed:
            place = run, problem, trial
            self._connection.execute(
                f"DELETE FROM body WHERE id IN (SELECT body FROM trial {where})", place
            )
            self._connection.execute(
                "DELETE FROM score WHERE problem=? AND trial=? "
                "AND scorer IN (SELECT scorer FROM scorer WHERE run=?)",
                (problem, trial, run),
            )
            self._connection.execute(f"DELETE FROM trial {where}", place)
        return bool(failed)

    # -- inside ----------------------------------------------------------------------------

    def _run(self, task: str, model: str) -> tuple[Any, ...] | None:
        return next((row for row in self.rows("run") if row[2:4] == (task, model)), None)

    def _run_of(self, scorer: int) -> int:
        for row in self.rows("scorer", "scorer=?", scorer):
            return int(row[1])
        raise InvalidInput(f"no scorer has the number {scorer}.")

    def _keep_address(self, number: int) -> None:
        """Add the servers of this process to those that a run has trials of."""
        address = self._asked_at.pop(number, None)
        if address is None:
            return
        (row,) = (row for row in self.rows("run") if row[0] == number)
        spec = json.loads(row[4])
        servers = with_address(addresses_of(spec, row[7]), address)
        spec = completed_spec(spec, spec, servers, utc_now())
        self.put("run", [(*row[:4], canonical_json(spec), *row[5:7], row[7] or address, row[8])])

    def _forget_mistakes(self, task: str, model: str, spec: Any, address: str | None) -> None:
        """Delete runs with other settings and without trials: a wrong name, a wrong key."""
        for row in self.rows("run"):
            if row[2:4] == (task, model):
                is_mistake = json.loads(row[4]) != spec or row[7] != address
            else:
                is_mistake = row[3] != model and row[0] not in self._begun
            if is_mistake and not self._is_asked(row[0]):
                with self.transaction():
                    self._forget_calls(row[0])
                    for table in ("attempt", "scorer", "problem", "run"):
                        self._delete(table, row[0])

    def _refuse_changes(
        self,
        earlier: tuple[Any, ...],
        name: str | None,
        spec: Any,
        address: str | None,
        moved_server: bool,
    ) -> None:
        before = json.loads(earlier[4])
        if is_imported(before) != is_imported(spec):
            raise self._other_origin(earlier, is_imported(before))
        known = addresses_of(before, earlier[7])
        changed = identity_changes(before, spec)
        if is_moved(known, address) and not moved_server:
            changed.insert(0, address_change(known, address))
        if name is not None and name != earlier[1]:
            changed.insert(0, ("name", json.dumps(earlier[1]), json.dumps(name)))
        if changed:
            raise SettingsChanged(
                f"{self.directory} holds trials of {earlier[2]} that were drawn with other "
                f"settings:\n"
                + "\n".join(f"  {name}: {old} then, {new} now" for name, old, new in changed)
                + f"\n{advice_on(changed, spec)}"
            )

    def _other_origin(self, earlier: tuple[Any, ...], was_imported: bool) -> SettingsChanged:
        what = f"{self.directory} holds trials of {earlier[2]} by {earlier[3]} that"
        if was_imported:
            return SettingsChanged(
                f"{what} were imported from logs; asking for more of them would mix two ways of "
                f"drawing trials. Give another directory with --out."
            )
        return SettingsChanged(
            f"{what} passband run asked for; logs cannot be added to them. Import into another "
            f"directory with --output."
        )


@contextmanager
def filling(directory: Path, *, low_water: int = LOW_WATER) -> Iterator[Store]:
    """Open a store to fill in one transaction; a failure leaves no directory that it has made."""
    is_new = not directory.exists()
    store = Store(directory, low_water=low_water)
    try:
        with store.transaction():
            yield store
    except BaseException:
        store.close()
        if is_new:
            shutil.rmtree(directory, ignore_errors=True)
        raise
    store.close()


def utc_now() -> str:
    """Return the time, for records."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
