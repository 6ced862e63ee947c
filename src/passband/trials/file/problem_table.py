"""The problems of runs, written: numbered, compared with those that are there, forgotten.

The problems of a run and their places in the data, which may grow and be put in another order.

A problem is known by its key. Its number is given by the store and stays; its position is where
the data have it now. Of a hundred thousand problems the records, with all their prompts, are never
in memory together: they are compared one by one as the data come.

The outline of a run's problems: numbers, positions, keys and clusters, without their records.

Reading a hundred thousand records to check the rows that they are in takes longer than everything
else in a summary. A digest of the outline, kept in the checked config of a run, tells as much.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from passband.errors import InvalidInput
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.judge_calls import CallTable
from passband.trials.file.packing import INTO, MARKS, packed
from passband.trials.rows import AttemptRow, ProblemRow
from passband.trials.settings import SettingsChanged, record_change

BEHIND = 2**40  # positions from here on are of problems that the data lack; no data reach it


@dataclass(frozen=True, slots=True)
class StoredProblem:
    """A problem under its number."""

    number: int
    position: int
    key: str
    cluster: str | None
    record: str


class KnownProblem(NamedTuple):
    """A problem of the store without its record, of which only the hash is kept."""

    number: int
    position: int
    cluster: str | None
    digest: int

    @classmethod
    def of(cls, problem: StoredProblem) -> KnownProblem:
        return cls(problem.number, problem.position, problem.cluster, hash(problem.record))


class Placing:
    """Gives the problems of the data their numbers and positions.

    One whose record has changed is refused, and so is one in the place of another that is gone:
    then the data are others, not the same in another order. Clusters may change: they say how
    problems are measured, not what was asked.

    `known` are the problems of the store by their keys; it is used up. `record` reads the record
    of a number. Where the data are cut off by a limit, `elsewhere` returns the keys of all of
    them: a problem that growth has pushed beyond the limit is not gone.
    """

    def __init__(
        self,
        known: dict[str, KnownProblem],
        directory: Path,
        record: Callable[[int], str],
        elsewhere: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._absent = known  # in the end
        self._directory, self._record, self._elsewhere = directory, record, elsewhere
        self._next = 1 + max((problem.number for problem in known.values()), default=-1)
        self._is_new_run = not known
        self._keys: set[str] = set()
        self._new: dict[int, str] = {}  # keys of new problems by position
        self._positions: set[int] = set()
        self.numbers = array("q")  # of the problems, in the order of the data
        self.added = 0  # how many of them are new

    def place(self, rows: Iterable[ProblemRow]) -> list[StoredProblem]:
        """Number further problems; return those that are new, moved or in another cluster."""
        changed = (self._placed(row) for row in rows)
        return [problem for problem in changed if problem is not None]

    def _placed(self, row: ProblemRow) -> StoredProblem | None:
        if row.key in self._keys:
            raise InvalidInput(f"two problems are named {row.key!r}.")
        self._keys.add(row.key)
        earlier = self._absent.pop(row.key, None)
        if not self._is_new_run:
            self._positions.add(row.position)
        if earlier is None:
            return self._added(row)
        self.numbers.append(earlier.number)
        is_same = earlier.digest == hash(row.record)
        if is_same and earlier[1:3] == (row.position, row.cluster):
            return None
        record = row.record if is_same else self._record(earlier.number)
        self._refuse_change(record, row)
        return StoredProblem(earlier.number, row.position, row.key, row.cluster, record)

    def _added(self, row: ProblemRow) -> StoredProblem:
        number, self._next = self._next, self._next + 1
        self.numbers.append(number)
        self.added += 1
        if not self._is_new_run:
            self._new[row.position] = row.key
        return StoredProblem(number, row.position, row.key, row.cluster, row.record)

    def displaced(self) -> list[StoredProblem]:
        """Return problems that the data lack now and whose places are taken, behind all others."""
        absent = sorted(self._absent.items(), key=lambda pair: pair[1].position)
        displaced = [pair for pair in absent if pair[1].position in self._positions]
        self._refuse_others(displaced)
        first = max((BEHIND, *(1 + problem.position for _, problem in absent)))
        return [
            StoredProblem(
                problem.number, first + place, key, problem.cluster, self._record(problem.number)
            )
            for place, (key, problem) in enumerate(displaced)
        ]

    def _refuse_others(self, displaced: Sequence[tuple[str, KnownProblem]]) -> None:
        """Refuse data that have another problem in the place of one that is gone."""
        replaced = [(key, p.position) for key, p in displaced if p.position in self._new]
        present = self._elsewhere() if replaced else ()
        for key, position in replaced:
            if key not in present:
                raise self._other_problems(
                    f"problem {position + 1} of the data was {key!r} and is now "
                    f"{self._new[position]!r}"
                )

    def _refuse_change(self, record: str, row: ProblemRow) -> None:
        change = record_change(record, row.record)
        if change is not None:
            name, old, new = change
            raise self._other_problems(
                f"problem {row.key!r} has changed its {name}: {old} then, {new} now"
            )

    def _other_problems(self, what: str) -> SettingsChanged:
        return SettingsChanged(
            f"{self._directory} holds trials of other problems: {what}. Give another directory "
            f"with --out."
        )


OUTLINE = "SELECT problem, position, key, cluster, crc FROM problem WHERE run=? ORDER BY problem"
_TOGETHER = 1_000

Row = tuple[Any, ...]


def digest_of(rows: Iterable[Row]) -> int:
    """Return a number that changes with any value of an outline.

    >>> digest_of([(0, 0, "p0", None, 17)]) == digest_of([(0, 0, "p1", None, 17)])
    False
    """
    source, crc = iter(rows), 0
    while chunk := list(islice(source, _TOGETHER)):
        crc = crc32("".join(map(ascii, chunk)).encode(), crc)
    return crc


def outline_of(rows: CheckedRows, run: int) -> list[Row] | None:
    """Return the outline of a run; None unless its digest is that of what was entered."""
    config = next((row[5] for row in rows.rows("run", "run=?", run)), "{}")
    entered = rows.mapping(config).get("problems")
    if not isinstance(entered, dict):
        return None
    found = [row for some in rows.together(OUTLINE, _TOGETHER, run) for row in some]
    return found if entered.get("stored") == digest_of(found) else None


_CHUNK = 500  # problems that are in memory with their records


class ProblemTable(CallTable):
    """Problems, and the attempts at them that came to nothing."""

    def add_problems(
        self,
        run: int,
        problems: Iterable[ProblemRow],
        elsewhere: Callable[[], Collection[str]] = tuple,
    ) -> list[int]:
        """Record problems, and return their numbers in the order of the rows.

        Those that are there already must be what they were, once one was asked; see `Placing`.
        """
        with self.transaction():
            known = self._known_problems(run)
            if known and not self._is_asked(run):
                problems = list(problems)
                self._forget_problems(run, {row.key: row.record for row in problems})
                known = self._known_problems(run)
            placing = Placing(known, self.directory, partial(self._record, run), elsewhere)
            source = iter(problems)
            while rows := list(islice(source, _CHUNK)):
                before = placing.added
                self._write_problems(run, placing.place(rows), placing.added - before)
            self._write_problems(run, placing.displaced(), 0)
        return placing.numbers.tolist()

    def problem_count(self, run: int) -> int:
        """Return how many problems of a run are recorded, those that are gone included."""
        return self._tallies.value("problem", run)

    def _known_problems(self, run: int) -> dict[str, KnownProblem]:
        known = {p.key: KnownProblem.of(p) for p in self._each_problem(run)}
        self._require_problems(run, len(known))
        return known

    def _record(self, run: int, number: int) -> str:
        """Return the record of a problem."""
        ((*_, record),) = self._checked.rows("problem", "run=? AND problem=?", run, number)
        return str(record)

    def problems(self, run: int) -> dict[str, StoredProblem]:
        """Return the problems of a run by their keys."""
        problems = {problem.key: problem for problem in self._each_problem(run)}
        self._require_problems(run, len(problems))
        return problems

    def _each_problem(self, run: int) -> Iterator[StoredProblem]:
        rows = self._checked.rows("problem", "run=?", run, order="1, 2")
        return (StoredProblem(*row[1:6]) for row in rows)

    def _require_problems(self, run: int, count: int) -> None:
        if count != self._tallies.value("problem", run):
            raise self._checked.corrupt("problems are lost")

    def problem_digest(self, run: int) -> int:
        """Return a number that changes with any problem of a run."""
        rows = self._all(OUTLINE, run)
        self._require_problems(run, len(rows))
        return digest_of(rows)

    def numbers_by_position(self, run: int) -> list[int]:
        """Return the numbers of all problems in the order of the data."""
        query = "SELECT problem FROM problem WHERE run=? ORDER BY position, problem"
        return [number for (number,) in self._all(query, run)]

    def put_problems(self, run: int, problems: Sequence[StoredProblem]) -> None:
        """Write problems under their numbers, in place of what is there."""
        with self.transaction():
            before = self._one("SELECT count(*) FROM problem WHERE run=?", run)
            self._write_problems(run, problems, 0)
            after = self._one("SELECT count(*) FROM problem WHERE run=?", run)
            self._tallies.count("problem", run, after - before)

    def _write_problems(self, run: int, problems: Sequence[StoredProblem], new: int) -> None:
        """Write problems, some of which the store does not have yet."""
        rows = [(run, p.number, p.position, p.key, p.cluster, p.record) for p in problems]
        self._connection.executemany(
            f"INSERT {INTO['problem']} {MARKS['problem']} ON CONFLICT(run, problem) "
            "DO UPDATE SET position=excluded.position, cluster=excluded.cluster, "
            "crc=excluded.crc",
            [packed("problem", row) for row in rows],
        )
        self._tallies.count("problem", run, new)

    def add_attempts(self, run: int, attempts: Sequence[AttemptRow]) -> None:
        """Record attempts that returned no completion."""
        self._require_room()
        rows = [
            packed("attempt", (run, row.problem, row.trial, row.attempt, row.at_ms, row.outcome,
                               row.http, row.detail))
            for row in attempts
        ]  # fmt: skip
        with self.transaction():
            self._tallies.count("attempt", run, self._insert("attempt", rows, "OR IGNORE"))

    # -- inside ----------------------------------------------------------------------------

    def _forget_problems(self, run: int, records: Mapping[str, str]) -> None:
        """Delete the problems of a run without trials that have changed or are gone.

        Attempts at them and calls to judges go too: their numbers may be reused.
        """
        known = self.problems(run).values()
        unchanged = {p.number: p for p in known if records.get(p.key) == p.record}
        if len(unchanged) == len(known):
            return
        attempts = [AttemptRow(*row[1:]) for row in self.rows("attempt", "run=?", run)]
        self._forget_calls(run, unchanged)
        self._delete("problem", run)
        self._delete("attempt", run)
        self.put_problems(run, list(unchanged.values()))
        if kept := [attempt for attempt in attempts if attempt.problem in unchanged]:
            self.add_attempts(run, kept)

    def _is_asked(self, run: int) -> bool:
        return bool(self._one("SELECT EXISTS (SELECT 1 FROM trial WHERE run=?)", run))
