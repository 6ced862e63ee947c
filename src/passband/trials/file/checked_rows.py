"""Reading rows: each against its checksum, and all of them against the counters."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from passband.trials.file.checksums import is_intact
from passband.trials.file.schema import CorruptStore, corrupt_store, selected, sqlite_errors
from passband.trials.rows import SCORE_STATUSES, STATUSES, ScoreStatus, Status

_RUN_FIRST = ("trial", "attempt", "trial_tally", "problem")


class CheckedRows:
    """The rows of a file that is open for reading; what is not as it was written is damage."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def each(self, query: str, *arguments: object) -> Iterator[tuple[Any, ...]]:
        """Yield what a query finds, unchecked."""
        with sqlite_errors(self._path):
            for row in self._connection.execute(query, arguments):  # noqa: UP028
                yield row  # `yield from` would close the cursor, perhaps after its connection

    def together(
        self, query: str, most: int, *arguments: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield what a query finds many rows at a time, unchecked, in less time."""
        with sqlite_errors(self._path):
            cursor = self._connection.execute(query, arguments)
            while chunk := cursor.fetchmany(most):
                yield chunk

    def rows(
        self, table: str, where: str = "1", *arguments: object, order: str = "1"
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows of a table without their checksums."""
        query = f"SELECT {selected(table)} FROM {table} WHERE {where} ORDER BY {order}"
        for row in self.each(query, *arguments):
            if not is_intact(table, row):
                raise self.damaged(table, row)
            yield row[:-1]

    def counter(self, name: str, number: int = 0) -> int:
        """Return how many rows there must be, in all or of a run or scorer; or of commits."""
        rows = self.rows("counter", "name=? AND number=?", name, number)
        return next((int(row[2]) for row in rows), 0)

    def require(self, name: str, number: int, count: int) -> None:
        """Require that as many rows were found as there must be."""
        expected = self.counter(name, number)
        if count != expected:
            raise self.corrupt(f"{count} rows of {name} were found where {expected} were written")

    def corrupt(self, why: str) -> CorruptStore:
        """Return the error to raise for what is damaged."""
        return corrupt_store(self._path, why)

    def damaged(self, table: str, row: tuple[Any, ...]) -> CorruptStore:
        """Return the error to raise for a row that is not what was written."""
        return self.corrupt(self.description(table, row))

    def description(
        self, table: str, row: tuple[Any, ...], what: str = "is not what was written"
    ) -> str:
        """Return which row is damaged, and how."""
        if table in _RUN_FIRST:
            place = row[:3] if table in ("trial", "attempt") else row[:2]
        elif table == "body":
            place = row[1:4]
        elif table in ("score", "score_tally", "call"):
            run = self._looked_up("SELECT run FROM scorer WHERE scorer=?", row[0])
            place = (run, *row[1 : 2 if table == "score_tally" else 3])
        else:
            return f"row {row[0]!r} of {table} {what}"
        return f"a row of {table} {what}: {self.place(*place)}"

    def place(self, run: object, problem: object, trial: object = None) -> str:
        """Return the name of a task and a problem, as far as they can be read, and the trial."""
        task = self._looked_up("SELECT task FROM run WHERE run=?", run)
        key = self._looked_up("SELECT key FROM problem WHERE run=? AND problem=?", run, problem)
        of_problem = f"problem {problem if key is None else repr(key)} of {task or f'run {run}'}"
        return of_problem if trial is None else f"trial {trial} of {of_problem}"

    def _looked_up(self, query: str, *arguments: object) -> Any:
        try:
            row = self._connection.execute(query, arguments).fetchone()
        except (sqlite3.Error, OverflowError):
            return None
        return row and row[0]

    # -- values ----------------------------------------------------------------------------

    def status(self, number: int) -> Status:
        """Return the status of a trial."""
        if not 0 <= number < len(STATUSES):
            raise self.corrupt(f"no trial has the status {number}")
        return STATUSES[number]

    def score_status(self, number: int) -> ScoreStatus:
        """Return the status of a score."""
        if not 0 <= number < len(SCORE_STATUSES):
            raise self.corrupt(f"no score has the status {number}")
        return SCORE_STATUSES[number]

    def mapping(self, text: str) -> dict[str, Any]:
        """Return the JSON object that a text holds."""
        try:
            value = json.loads(text)
        except ValueError as error:
            raise self.corrupt(f"settings or a problem cannot be read: {error}") from error
        if not isinstance(value, dict):
            raise self.corrupt(f"settings or a problem cannot be read: {text[:40]!r}")
        return value
