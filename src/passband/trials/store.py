"""Writing the trials table: a run, its problems, and trials in batches that are safe on disk.

A trial is recorded exactly once. A request may be billed more than once, where the process died
between the answer and the commit. `append` returns after the commit: what is announced then is
on disk.
"""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from passband.errors import ExitCode, InvalidInput, PassbandError
from passband.trials.codec import encoded, storable
from passband.trials.lock import Lock
from passband.trials.rows import (
    FAILED,
    SCORE_STATUSES,
    STATUSES,
    AttemptRow,
    ProblemRow,
    ScoreRow,
    TrialRow,
)
from passband.trials.schema import FILE, connect, sqlite_errors
from passband.version import __version__

__all__ = ["LOW_WATER", "DiskNearlyFull", "SettingsChanged", "Store", "canonical", "utc_now"]

LOW_WATER = 64_000_000  # free bytes below which nothing is written: a full disk can lose more
_TOGETHER = (64, 16, 4, 1)  # rows of one statement; a statement may have 999 values
_STATUS = {name: at for at, name in enumerate(STATUSES)}
_SCORE_STATUS = {name: at for at, name in enumerate(SCORE_STATUSES)}
_TEXT = "CAST(? AS TEXT)"  # takes whatever is `storable`
_MARKS = {
    "body": "(?,?,?,?)",
    "trial": f"(?,?,?,?,?,?,?,?,?,{_TEXT},?)",
    "score": f"(?,?,?,?,?,?,{_TEXT},{_TEXT})",
}


class SettingsChanged(InvalidInput):
    """The run directory holds trials that were drawn with other settings."""

    def lines(self) -> list[str]:
        """Return one line for each setting; their values are written as JSON."""
        return str(self).split("\n")


class DiskNearlyFull(PassbandError):
    """There is so little room that writing on could lose what is there."""

    exit_code = ExitCode.DISK_FULL


class Store:
    """The one writer of a run directory."""

    def __init__(self, directory: Path, *, low_water: int = LOW_WATER) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidInput(
                f"{directory} is not a directory; give another with --out."
            ) from None
        self.directory = directory
        self._low_water = low_water
        self._lock = Lock(directory)
        try:
            self._require_room()
            self._connection = connect(directory / FILE)
        except BaseException:
            self._lock.release()
            raise
        try:
            self._last_body = self._one("SELECT coalesce(max(id), 0) FROM body")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        try:
            self._connection.close()
        finally:
            self._lock.release()

    # -- a run and what it asks ------------------------------------------------------------

    def spec(self, task: str) -> dict[str, Any] | None:
        """Return the settings that a task's trials were drawn with, if it has a run here."""
        found = self._all(f"SELECT spec FROM run WHERE task={_TEXT}", storable(task))
        return dict(json.loads(found[0][0])) if found else None

    def begin(
        self, task: str, model: str, spec: Mapping[str, Any], config: Mapping[str, Any]
    ) -> int:
        """Return the number of this task's run: a new one, or the one to go on with.

        `spec` is what the trials depend on, and other settings are refused. `config` says how
        the task is measured, which may change.
        """
        self._forget_mistakes(task, model, json.loads(canonical(spec)))
        self._refuse_other_model(model)
        earlier = self.spec(task)
        with self.transaction():
            if earlier is None:
                self._connection.execute(
                    "INSERT INTO run(task, model, spec, created, config) "
                    f"VALUES ({_TEXT},{_TEXT},?,?,?)",
                    (*map(storable, (task, model)), canonical(spec), utc_now(), canonical(config)),
                )
            else:
                self._refuse_changes(task, earlier, json.loads(canonical(spec)))
                self._connection.execute(
                    f"UPDATE run SET config=? WHERE task={_TEXT}",
                    (canonical(config), storable(task)),
                )
        return self._one(f"SELECT run FROM run WHERE task={_TEXT}", storable(task))

    def add_problems(self, run: int, problems: Iterable[ProblemRow]) -> None:
        """Record problems; those that are there already must be the same, once one was asked.

        Clusters may change: they say how problems are measured, not what was asked.
        """
        query = "SELECT problem, key, record, cluster FROM problem WHERE run=?"
        asked = self._one("SELECT EXISTS (SELECT 1 FROM trial WHERE run=?)", run)
        known = {position: row for position, *row in self._all(query, run)} if asked else {}
        names = {key: position for position, (key, *_) in known.items()}
        changed = []
        for row in problems:
            if row.position in known:
                self._refuse_problem(row, *known[row.position][:2])
            if names.setdefault(row.key, row.position) != row.position:
                raise InvalidInput(f"two problems are named {row.key!r}.")
            if row.position not in known or known[row.position][2] != row.cluster:
                texts = storable(row.key), storable(row.cluster), row.record
                changed.append((run, row.position, *texts))
        with self.transaction():
            if not asked:
                self._connection.execute("DELETE FROM problem WHERE run=?", (run,))
            self._connection.executemany(
                f"INSERT INTO problem VALUES (?,?,{_TEXT},{_TEXT},?) "
                "ON CONFLICT(run, problem) DO UPDATE SET cluster=excluded.cluster",
                changed,
            )

    def set_scorers(self, run: int, scorers: Sequence[tuple[str, str]]) -> list[int]:
        """Make these (name, identity) the scorers of the run, the first the main one.

        Scorers of other names that the run has come after them. Returns the numbers of these.
        """
        names = {name for name, _ in scorers}
        query = (
            "SELECT name, identity FROM scorer WHERE run=? AND position NOT NULL ORDER BY position"
        )
        kept = [(name, identity) for name, identity in self._all(query, run) if name not in names]
        with self.transaction():
            self._connection.execute("UPDATE scorer SET position=NULL WHERE run=?", (run,))
            for position, (name, identity) in enumerate([*scorers, *kept]):
                self._connection.execute(
                    f"INSERT INTO scorer(run, name, identity, position) "
                    f"VALUES (?,{_TEXT},{_TEXT},?) "
                    "ON CONFLICT(run, name, identity) DO UPDATE SET position=excluded.position",
                    (run, storable(name), storable(identity), position),
                )
        query = "SELECT scorer FROM scorer WHERE run=? AND position NOT NULL ORDER BY position"
        return [row[0] for row in self._all(query, run)][: len(scorers)]

    def add_session(self, started: str, seconds: float, trials: int, concurrency: int) -> None:
        """Record that a process asked for some time, and how much came of it."""
        with self.transaction():
            self._connection.execute(
                "INSERT INTO session(started, ended, seconds, trials, concurrency, version) "
                "VALUES (?,?,?,?,?,?)",
                (started, utc_now(), seconds, trials, concurrency, __version__),
            )

    # -- trials ----------------------------------------------------------------------------

    def append(self, run: int, trials: Sequence[TrialRow], *, again: bool = False) -> None:
        """Record trials with their scores, all of them or, if this raises, none.

        With `again`, they take the place of failed ones; what was tried then is kept.
        """
        self._require_room()
        rows, bodies, scores = [], [], []
        last = self._last_body
        for each in trials:
            body = None
            if each.text is not None or each.reasoning is not None:
                last = body = last + 1
                bodies.append((body, *encoded(each.text, each.reasoning)))
            rows.append(
                (
                    run, each.problem, each.trial, _STATUS[each.status], each.prompt_tokens,
                    each.completion_tokens, each.latency_ms, each.attempts, each.seed,
                    storable(each.request_id), body,
                )
            )  # fmt: skip
            scores += [_score(each.problem, each.trial, score) for score in each.scores]
        with self.transaction():
            if again:
                self._connection.executemany(
                    "DELETE FROM trial WHERE run=? AND problem=? AND trial=? AND status IN "
                    f"({','.join(str(_STATUS[status]) for status in FAILED)})",
                    [row[:3] for row in rows],
                )
            self._insert("body", bodies)
            self._insert("trial", rows)
            self._insert("score", scores)
        self._last_body = last

    def add_scores(self, scores: Iterable[tuple[int, int, ScoreRow]]) -> None:
        """Record (problem, trial, score) for trials that are there, in place of earlier ones."""
        self._require_room()
        with self.transaction():
            self._connection.executemany(
                f"INSERT OR REPLACE INTO score VALUES {_MARKS['score']}",
                [_score(problem, trial, score) for problem, trial, score in scores],
            )

    def add_attempts(self, run: int, attempts: Sequence[AttemptRow]) -> None:
        """Record attempts that gave nothing."""
        self._require_room()
        with self.transaction():
            self._connection.executemany(
                f"INSERT OR IGNORE INTO attempt VALUES (?,?,?,?,?,{_TEXT},?,{_TEXT})",
                [_attempt(run, each) for each in attempts],
            )

    def _insert(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        """Insert rows, many with each statement.

        Every statement gives other threads the turn, and getting it back costs more than the
        row itself while the event loop is busy.
        """
        start = 0
        for size in _TOGETHER:
            while len(rows) - start >= size:
                chunk = rows[start : start + size]
                self._connection.execute(
                    f"INSERT INTO {table} VALUES {','.join([_MARKS[table]] * size)}",
                    [value for row in chunk for value in row],
                )
                start += size

    # -- inside ----------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do everything inside together: all of it is on disk afterwards, or nothing."""
        if self._connection.in_transaction:  # part of a larger one
            yield
            return
        try:
            with sqlite_errors(self.directory / FILE):
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if isinstance(error.__cause__, sqlite3.OperationalError) and "full" in str(error):
                raise DiskNearlyFull(f"{error} What was recorded is safe.") from error
            raise

    def _undo(self) -> None:
        if self._connection.in_transaction:  # a full disk has undone it already
            with suppress(sqlite3.Error):  # why it failed matters more; closing undoes it too
                self._connection.execute("ROLLBACK")

    def _require_room(self) -> None:
        free = shutil.disk_usage(self.directory).free
        if free < self._low_water:
            raise DiskNearlyFull(
                f"{free / 1e6:.0f} MB are free where {self.directory} is, and at least "
                f"{self._low_water / 1e6:.0f} are needed to write safely. What was recorded is "
                f"safe; make room and run the same command again."
            )

    def _one(self, query: str, *arguments: object) -> int:
        return int(self._all(query, *arguments)[0][0])

    def _all(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        with sqlite_errors(self.directory / FILE):
            return self._connection.execute(query, arguments).fetchall()

    def _forget_mistakes(self, task: str, model: str, spec: Any) -> None:
        """Let go of runs with other settings that no trial came of: a wrong name, a wrong key."""
        query = (
            "SELECT run, task, model, spec FROM run AS r "
            "WHERE NOT EXISTS (SELECT 1 FROM trial AS t WHERE t.run=r.run)"
        )
        for run, its_task, its_model, its_spec in self._all(query):
            if its_model != model or (its_task == task and json.loads(its_spec) != spec):
                with self.transaction():
                    for table in ("attempt", "scorer", "problem", "run"):
                        self._connection.execute(f"DELETE FROM {table} WHERE run=?", (run,))

    def _refuse_other_model(self, model: str) -> None:
        found = self._all("SELECT model FROM run LIMIT 1")
        if found and found[0][0] != model:
            raise SettingsChanged(
                f"{self.directory} holds trials of the model {found[0][0]!r}, not of {model!r}. "
                f"Give another directory with --out."
            )

    def _refuse_changes(self, task: str, earlier: Any, now: Any) -> None:
        changed = list(_differences(earlier, now))
        if changed:
            raise SettingsChanged(
                f"{self.directory} holds trials of {task} that were drawn with other settings:\n"
                + "\n".join(f"  {name}: {old} then, {new} now" for name, old, new in changed)
                + "\nGo back to those settings, or give another directory with --out."
            )

    def _refuse_problem(self, row: ProblemRow, key: str, record: str) -> None:
        """Refuse a problem that is not what it was; 1 for 1.0, or null for nothing, is."""
        if row.key != key:
            what = f"problem {row.position + 1} of the data was {key!r} and is now {row.key!r}"
        elif row.record == record:
            return
        else:
            parts = _differences(json.loads(record), json.loads(row.record))
            found = next(parts, None)
            if found is None:
                return
            name, old, new = found
            what = f"problem {key!r} has changed its {name}: {old} then, {new} now"
        raise SettingsChanged(
            f"{self.directory} holds trials of other problems: {what}. "
            f"Give another directory with --out."
        )


def canonical(value: Any) -> str:
    """Return JSON that is the same text for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _attempt(run: int, row: AttemptRow) -> tuple[object, ...]:
    return (
        run, row.problem, row.trial, row.attempt, row.at_ms, storable(row.outcome), row.http,
        storable(row.detail),
    )  # fmt: skip


def _score(problem: int, trial: int, score: ScoreRow) -> tuple[object, ...]:
    if score.value is not None and not math.isfinite(score.value):
        raise InvalidInput(f"a score must be a finite number; got {score.value}.")
    answer = None if score.answer is None else score.answer.encode("utf-8", "surrogatepass")
    return (
        score.scorer, problem, trial, score.value, _SCORE_STATUS[score.status], answer,
        storable(score.rule), storable(score.detail),
    )  # fmt: skip


def _differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (name, old, new) of every setting that differs, names dotted."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield name, _shown(old), _shown(new)


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def utc_now() -> str:
    """Return the time, for records."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
