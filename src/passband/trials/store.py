"""Writing the trials table: a run, its problems, and trials in batches that are safe on disk.

A trial is recorded exactly once. A request may be billed more than once, where the process died
between the answer and the commit. `append` returns after the commit: what is announced then is
on disk.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, PassbandError
from passband.trials.codec import encoded
from passband.trials.lock import Lock
from passband.trials.rows import (
    SCORE_STATUSES,
    STATUSES,
    AttemptRow,
    ProblemRow,
    ScoreRow,
    Status,
    TrialRow,
)
from passband.trials.schema import FILE, connect

__all__ = ["LOW_WATER", "DiskNearlyFull", "SettingsChanged", "Store", "canonical"]

LOW_WATER = 64_000_000  # free bytes below which nothing is written: a full disk can lose more
_STATUS = {name: at for at, name in enumerate(STATUSES)}
_SCORE_STATUS = {name: at for at, name in enumerate(SCORE_STATUSES)}


class SettingsChanged(InvalidInput):
    """The run directory holds trials that were drawn with other settings."""


class DiskNearlyFull(PassbandError):
    """There is so little room that writing on could lose what is there."""

    exit_code = 4


class Store:
    """The one writer of a run directory."""

    def __init__(self, directory: Path, *, low_water: int = LOW_WATER) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self._low_water = low_water
        self._lock = Lock(directory)
        try:
            self._require_room()
            self._connection = connect(directory / FILE)
        except BaseException:
            self._lock.release()
            raise
        self._last_body = self._one("SELECT coalesce(max(id), 0) FROM body")

    def close(self) -> None:
        self._connection.close()
        self._lock.release()

    # -- a run and what it asks ------------------------------------------------------------

    def spec(self, task: str) -> dict[str, Any] | None:
        """Return the settings that a task's trials were drawn with, if it has a run here."""
        found = self._connection.execute("SELECT spec FROM run WHERE task=?", (task,)).fetchone()
        return None if found is None else dict(json.loads(found[0]))

    def begin(
        self, task: str, model: str, spec: Mapping[str, Any], config: Mapping[str, Any]
    ) -> int:
        """Return the number of this task's run: a new one, or the one to go on with.

        `spec` is what the trials depend on, and other settings are refused. `config` says how
        the task is measured, which may change.
        """
        self._refuse_other_model(model)
        earlier = self.spec(task)
        with self._transaction():
            if earlier is None:
                self._connection.execute(
                    "INSERT INTO run(task, model, spec, created, config) VALUES (?,?,?,?,?)",
                    (task, model, canonical(spec), _now(), canonical(config)),
                )
            else:
                self._refuse_changes(task, earlier, json.loads(canonical(spec)))
                self._connection.execute(
                    "UPDATE run SET config=? WHERE task=?", (canonical(config), task)
                )
        return self._one("SELECT run FROM run WHERE task=?", task)

    def add_problems(self, run: int, problems: Iterable[ProblemRow]) -> None:
        """Record problems; those that are there already must be the same."""
        known = {
            position: (key, record)
            for position, key, record in self._connection.execute(
                "SELECT problem, key, record FROM problem WHERE run=?", (run,)
            )
        }
        fresh = []
        for row in problems:
            if row.position not in known:
                fresh.append((run, row.position, row.key, row.cluster, row.record))
            elif known[row.position] != (row.key, row.record):
                self._refuse_problem(row, *known[row.position])
        with self._transaction():
            self._connection.executemany("INSERT INTO problem VALUES (?,?,?,?,?)", fresh)

    def set_scorers(self, run: int, scorers: Sequence[tuple[str, str]]) -> list[int]:
        """Make these (name, identity) the scorers of the run, the first the main one."""
        with self._transaction():
            self._connection.execute("UPDATE scorer SET position=NULL WHERE run=?", (run,))
            for position, (name, identity) in enumerate(scorers):
                self._connection.execute(
                    "INSERT INTO scorer(run, name, identity, position) VALUES (?,?,?,?) "
                    "ON CONFLICT(run, name, identity) DO UPDATE SET position=excluded.position",
                    (run, name, identity, position),
                )
        query = "SELECT scorer FROM scorer WHERE run=? AND position NOT NULL ORDER BY position"
        return [row[0] for row in self._connection.execute(query, (run,))]

    # -- trials ----------------------------------------------------------------------------

    def forget(self, run: int, statuses: Sequence[Status]) -> int:
        """Forget trials of these statuses, so that they are asked again; attempts are kept."""
        marks = ",".join("?" * len(statuses))
        with self._transaction():
            done = self._connection.execute(
                f"DELETE FROM trial WHERE run=? AND status IN ({marks})",
                (run, *(_STATUS[status] for status in statuses)),
            )
        return done.rowcount

    def append(self, run: int, trials: Sequence[TrialRow]) -> None:
        """Record trials with their scores, all of them or, if this raises, none."""
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
                    each.request_id, body,
                )
            )  # fmt: skip
            scores += [_score(each.problem, each.trial, score) for score in each.scores]
        with self._transaction():
            self._connection.executemany("INSERT INTO body VALUES (?,?,?,?)", bodies)
            self._connection.executemany("INSERT INTO trial VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
            self._connection.executemany("INSERT INTO score VALUES (?,?,?,?,?,?,?,?)", scores)
        self._last_body = last

    def add_scores(self, scores: Iterable[tuple[int, int, ScoreRow]]) -> None:
        """Record (problem, trial, score) for trials that are there, in place of earlier ones."""
        self._require_room()
        with self._transaction():
            self._connection.executemany(
                "INSERT OR REPLACE INTO score VALUES (?,?,?,?,?,?,?,?)",
                [_score(problem, trial, score) for problem, trial, score in scores],
            )

    def add_attempts(self, run: int, attempts: Sequence[AttemptRow]) -> None:
        """Record attempts that gave nothing."""
        self._require_room()
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO attempt VALUES (?,?,?,?,?,?,?,?)",
                [
                    (run, a.problem, a.trial, a.attempt, a.at_ms, a.outcome, a.http, a.detail)
                    for a in attempts
                ],
            )

    # -- inside ----------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._undo()
            if "full" in str(error):
                raise DiskNearlyFull(f"{self.directory}: {error}") from error
            raise PassbandError(f"{self.directory}: {error}") from error
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._connection.in_transaction:  # a full disk has undone it already
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
        return int(self._connection.execute(query, arguments).fetchone()[0])

    def _refuse_other_model(self, model: str) -> None:
        found = self._connection.execute("SELECT model FROM run LIMIT 1").fetchone()
        if found is not None and found[0] != model:
            raise SettingsChanged(
                f"{self.directory} holds trials of the model {found[0]!r}, not of {model!r}. "
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
        if row.key != key:
            what = f"problem {row.position + 1} of the data was {key!r} and is now {row.key!r}"
        else:
            parts = _differences(json.loads(record), json.loads(row.record))
            name, old, new = next(iter(parts))
            what = f"problem {key!r} has changed its {name}: {old} then, {new} now"
        raise SettingsChanged(
            f"{self.directory} holds trials of other problems: {what}. "
            f"Give another directory with --out."
        )


def canonical(value: Any) -> str:
    """Return JSON that is the same text for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _score(problem: int, trial: int, score: ScoreRow) -> tuple[object, ...]:
    answer = None if score.answer is None else score.answer.encode("utf-8", "surrogatepass")
    status = _SCORE_STATUS[score.status]
    return (
        score.scorer, problem, trial, score.value, status, answer, score.rule, score.detail,
    )  # fmt: skip


def _differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (name, old, new) of every setting that differs, names dotted."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield name, _shown(old), _shown(new)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
