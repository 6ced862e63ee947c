"""The problems of a run and their places in the data, which may grow and be put in another order.

A problem is known by its key. Its number is given by the store and stays; its position is where
the data have it now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from passband.errors import InvalidInput
from passband.trials.differences import SettingsChanged, record_change
from passband.trials.rows import ProblemRow

__all__ = ["StoredProblem", "placed"]


@dataclass(frozen=True, slots=True)
class StoredProblem:
    """A problem under its number."""

    number: int
    position: int
    key: str
    cluster: str | None
    record: str


def placed(
    known: Mapping[str, StoredProblem], rows: Iterable[ProblemRow], directory: Path
) -> tuple[list[int], list[StoredProblem]]:
    """Return the numbers of problems, and those that are new, moved or in another cluster.

    One whose record has changed is refused, and so is one in the place of another that
    is gone: then the data are others, not the same in another order. Clusters may change: they
    say how problems are measured, not what was asked.
    """
    following = 1 + max((problem.number for problem in known.values()), default=-1)
    present: dict[str, StoredProblem] = {}
    for row in rows:
        if row.key in present:
            raise InvalidInput(f"two problems are named {row.key!r}.")
        earlier = known.get(row.key)
        if earlier is None:
            number, following = following, following + 1
            record = row.record
        else:
            _refuse_change(earlier, row, directory)
            number, record = earlier.number, earlier.record
        present[row.key] = StoredProblem(number, row.position, row.key, row.cluster, record)
    moved = _displaced(known, present, directory)
    changed = [p for p in (*present.values(), *moved) if known.get(p.key) != p]
    return [problem.number for problem in present.values()], changed


def _displaced(
    known: Mapping[str, StoredProblem], present: Mapping[str, StoredProblem], directory: Path
) -> list[StoredProblem]:
    """Return problems that the data lack now and whose places are taken, behind all others."""
    taken = {problem.position: problem for problem in present.values()}
    absent = sorted(
        (problem for key, problem in known.items() if key not in present),
        key=lambda problem: problem.position,
    )
    displaced = [problem for problem in absent if problem.position in taken]
    for problem in displaced:
        other = taken[problem.position]
        if other.key not in known:
            raise _other_problems(
                directory,
                f"problem {problem.position + 1} of the data was {problem.key!r} and is now "
                f"{other.key!r}",
            )
    last = max((*taken, *(problem.position for problem in absent)), default=-1)
    return [replace(problem, position=last + 1 + place) for place, problem in enumerate(displaced)]


def _refuse_change(earlier: StoredProblem, row: ProblemRow, directory: Path) -> None:
    change = record_change(earlier.record, row.record)
    if change is not None:
        name, old, new = change
        raise _other_problems(
            directory, f"problem {row.key!r} has changed its {name}: {old} then, {new} now"
        )


def _other_problems(directory: Path, what: str) -> SettingsChanged:
    return SettingsChanged(
        f"{directory} holds trials of other problems: {what}. Give another directory with --out."
    )
