"""The problems of a run and their places in the data, which may grow and be put in another order.

A problem is known by its key. Its number is given by the store and stays; its position is where
the data have it now. Of a hundred thousand problems the records, with all their prompts, are never
in memory together: they are compared one by one as the data come.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from passband.errors import InvalidInput
from passband.trials.differences import SettingsChanged, record_change
from passband.trials.rows import ProblemRow

__all__ = ["BEHIND", "KnownProblem", "Placing", "StoredProblem"]


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
