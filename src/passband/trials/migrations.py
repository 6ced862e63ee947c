"""From earlier versions of the tables to this one: in place, in one transaction; or to read only.

Versions 2 and 3 get columns and tables, and no trial is written again. Of version 1 every row is;
to read it, in a copy.

A process that is killed while it migrates leaves the file as it was, or migrated. What version 1
did not keep is nothing now: the address, costs, reasons. A run is named after its seed, or else
after its directory, so that it goes on with the seeds it had.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from passband.errors import PassbandError
from passband.trials.call_totals import CallTotals, put_totals
from passband.trials.calls import calls_of
from passband.trials.checked import CheckedRows
from passband.trials.checksums import body_checksum
from passband.trials.codec import canonical, readable
from passband.trials.packing import INTO, MARKS, packed
from passband.trials.rows import SCORE_STATUSES, STATUSES
from passband.trials.schema import CREATE, VERSION, corrupt, text_of
from passband.trials.spare import fill_spare
from passband.trials.tallies import Tallies
from passband.trials.widening import widen

__all__ = ["migrate", "migrated_copy", "rebuild"]

_OLD = ("run", "session", "problem", "trial", "body", "attempt", "scorer", "score")
_CHUNK = 2_000  # rows

Values = Iterable[tuple[Any, ...]]


def migrate(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Migrate a file that is open for writing."""
    if version == 1:
        _require_room(path)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if version == 1:
            _replace_tables(connection, path)
        else:
            widen(connection, path, version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # why it failed matters more; closing undoes it too
                connection.execute("ROLLBACK")
        raise
    if version == 1:
        with suppress(sqlite3.OperationalError):  # a full disk; the file is only larger
            connection.execute("VACUUM")  # also puts the tables where salvaging looks for them


def _require_room(path: Path) -> None:
    needed = 3 * path.stat().st_size
    if shutil.disk_usage(path.parent).free < needed:
        raise PassbandError(
            f"{path} is of an older layout, and migrating it needs {needed / 1e6:.0f} MB of room. "
            f"Nothing was changed; make room and run the same command again."
        )


def _replace_tables(connection: sqlite3.Connection, path: Path) -> None:
    for table in _OLD:
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    _create(connection)
    _copy(connection, connection, "old_", path)
    for table in _OLD:
        connection.execute(f"DROP TABLE old_{table}")
    connection.execute(f"PRAGMA user_version={VERSION}")


def migrated_copy(old: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Return a migrated copy of a file of version 1 that is gone when it is closed."""
    new = sqlite3.connect("", isolation_level=None)  # a nameless file, deleted by SQLite
    new.text_factory = text_of
    try:
        new.execute("BEGIN")
        _create(new)
        old.execute("BEGIN")  # as it is at one moment
        _copy(old, new, "", path)
        new.execute("COMMIT")
    except BaseException:
        new.close()
        raise
    return new


def rebuild(connection: sqlite3.Connection, path: Path) -> None:
    """Make tallies and counters from the rows they count, and the second copies of rows."""
    fill_spare(connection)
    for table in ("trial_tally", "score_tally", "counter"):
        connection.execute(f"DELETE FROM {table}")
    tallies = Tallies(connection, path)
    for table in ("run", "session", "source", "scorer"):
        tallies.count(table, 0, connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    for (run,) in connection.execute("SELECT run FROM run").fetchall():
        for table in ("problem", "attempt"):
            query = f"SELECT count(*) FROM {table} WHERE run=?"
            tallies.count(table, run, connection.execute(query, (run,)).fetchone()[0])
        scorers = _column(connection, "SELECT scorer FROM scorer WHERE run=?", run)
        problems = _column(connection, "SELECT problem FROM problem WHERE run=?", run)
        tallies.recount(run, scorers, problems)
        for scorer in scorers:
            _add_calls_up(connection, path, tallies, scorer)
        tallies.write()
    tallies.count("commit", 0, 1)
    tallies.write()


def _add_calls_up(
    connection: sqlite3.Connection, path: Path, tallies: Tallies, scorer: int
) -> None:
    totals = CallTotals()
    for call in calls_of(CheckedRows(connection, path), "scorer=?", scorer):
        totals.add(call)
    if totals.calls:
        tallies.count("call", scorer, totals.calls)
        put_totals(connection, scorer, totals)


def _column(connection: sqlite3.Connection, query: str, run: int) -> list[int]:
    return [row[0] for row in connection.execute(query, (run,))]


def _create(connection: sqlite3.Connection) -> None:
    for statement in CREATE.split(";")[:-1]:  # `executescript` would commit
        connection.execute(statement)


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, prefix: str, path: Path) -> None:
    """Copy every row of version 1 to the tables of this version."""

    def rows(query: str) -> Iterator[tuple[Any, ...]]:
        return old.execute(query.replace("@", prefix))

    runs = rows("SELECT run, task, model, spec, config, created FROM @run")
    _fill(new, "run", (_run(row, path) for row in runs))
    _fill(new, "session", ((*row, *[None] * 3) for row in rows("SELECT * FROM @session")))
    scorers = rows("SELECT scorer, run, name, identity, position FROM @scorer")
    _fill(new, "scorer", ((*row[:4], _scorer_spec(row[2], row[3]), row[4]) for row in scorers))
    problems = rows("SELECT run, problem, problem, key, cluster, record FROM @problem")
    _fill(new, "problem", (_checked_json(row, row[5], path) for row in problems))
    trials = rows("SELECT *, NULL, NULL, NULL, NULL FROM @trial")
    _fill(new, "trial", (_checked_status(row, row[3], len(STATUSES), path) for row in trials))
    _fill(new, "score", (
        _checked_status(row, row[4], len(SCORE_STATUSES), path)
        for row in rows("SELECT * FROM @score")
    ))  # fmt: skip
    _fill(new, "attempt", rows("SELECT * FROM @attempt"))
    bodies = rows(
        "SELECT b.id, t.run, t.problem, t.trial, t.status, b.codec, b.text, b.reasoning, NULL "
        "FROM @trial AS t JOIN @body AS b ON b.id=t.body"
    )
    _insert(new, "body", (_body(row, path) for row in bodies))
    lost = "SELECT count(*) FROM trial WHERE body NOT NULL AND body NOT IN (SELECT id FROM body)"
    if new.execute(lost).fetchone()[0]:
        raise corrupt(path, "completions are lost")
    rebuild(new, path)


def _run(row: tuple[Any, ...], path: Path) -> tuple[Any, ...]:
    number, task, model, spec, config, created = row
    _checked_json(row, config, path)
    _checked_json(row, spec, path)
    seed = json.loads(spec).get("seed")
    name = seed if isinstance(seed, str) else path.parent.resolve().name
    return number, name, task, model, spec, config, created, None, None


def _scorer_spec(name: str, identity: str) -> str | None:
    """Return how a scorer is rebuilt, if it is made of our own functions alone."""
    try:
        parts = json.loads(identity.partition("\n")[0])
        steps = parts["steps"]
        if "source" in parts or any("source" in step for step in steps):
            return None
        rebuilt = [{"function": step["function"], **step["options"]} for step in steps]
        entries = {"name": name, "function": parts["function"], "options": parts["options"]}
    except (ValueError, KeyError, TypeError):
        return None
    return canonical({**entries, "steps": rebuilt})


def _body(row: tuple[Any, ...], path: Path) -> tuple[Any, ...]:
    if not readable(*row[5:8]):
        raise corrupt(path, f"completion {row[0]} cannot be read")
    return (*row, body_checksum(row[:6], *row[6:]))


def _checked_json(row: tuple[Any, ...], text: str, path: Path) -> tuple[Any, ...]:
    try:
        if isinstance(json.loads(text), dict):
            return row
    except ValueError:
        pass
    raise corrupt(path, f"settings or a problem cannot be read: {text[:40]!r}")


def _checked_status(row: tuple[Any, ...], status: int, most: int, path: Path) -> tuple[Any, ...]:
    if not 0 <= status < most:
        raise corrupt(path, f"no trial or score has the status {status}")
    return row


def _fill(new: sqlite3.Connection, table: str, rows: Values) -> None:
    _insert(new, table, (packed(table, tuple(row)) for row in rows))


def _insert(new: sqlite3.Connection, table: str, rows: Values) -> None:
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK)):
        try:
            new.executemany(f"INSERT {INTO[table]} {MARKS[table]}", chunk)
        except sqlite3.IntegrityError as error:
            raise sqlite3.DatabaseError(f"a row is there twice: {error}") from error
