"""Load a task's problems lazily when the store already has the same ones.

Reading and rendering a hundred thousand problems takes longer than everything else in a run that
lacks nothing. The task has a hash of all that its problems are made of, and the store has one of
its problems: where both are unchanged, so are the problems. `FirstProblems` loads a part of them,
`ProblemReferences` reads what answers are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, overload

from passband.generate import Problem
from passband.run.settings import Settings
from passband.score import Reference
from passband.tasks import Task
from passband.trials import Store, is_run_directory


class ProblemReferences(Sequence[Reference]):
    """What answers are compared with, by position of the problem; nothing is kept here."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self._problems = problems

    def __len__(self) -> int:
        return len(self._problems)

    @overload
    def __getitem__(self, index: int) -> Reference: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Reference]: ...
    def __getitem__(self, index: int | slice) -> Reference | Sequence[Reference]:
        if isinstance(index, slice):
            return [problem.reference for problem in self._problems[index]]
        return self._problems[index].reference


class LazyProblems(Sequence[Problem]):
    """The problems of a task, read when the first of them is needed."""

    def __init__(self, read: Callable[[], Sequence[Problem]], digest: str) -> None:
        self._read, self.digest = read, digest
        self._problems: Sequence[Problem] | None = None
        self._count: int | None = None

    @classmethod
    def of(
        cls, task: Task, settings: Settings, read: Callable[[Task, Settings], Sequence[Problem]]
    ) -> LazyProblems | None:
        """Return the problems of a task; None if only reading them tells what they are."""
        digest_of: Callable[[int | None], str | None] | None = getattr(task.load, "digest", None)
        digest = None if digest_of is None else digest_of(settings.limit)
        return None if digest is None else cls(partial(read, task, settings), digest)

    def expect(self, count: int) -> None:
        """Take their number from the store."""
        self._count = count

    def read(self) -> Sequence[Problem]:
        """Return the problems themselves."""
        if self._problems is None:
            self._problems = self._read()
        return self._problems

    def __len__(self) -> int:
        return len(self.read()) if self._count is None else self._count

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.read())

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Problem]: ...
    def __getitem__(self, index: int | slice) -> Problem | Sequence[Problem]:
        return self.read()[index]


def opened(
    task: Task,
    settings: Settings,
    directory: Path,
    read: Callable[[Task, Settings], Sequence[Problem]],
) -> Sequence[Problem]:
    """Return the problems of a task, read at once unless the directory may know them.

    Before a directory is made, whatever is wrong with its problems has to show.
    """
    settings.check()
    unread = LazyProblems.of(task, settings, read)
    if unread is None:
        return read(task, settings)
    if not is_run_directory(directory):
        unread.read()
    return unread


def enter(store: Store, run: int, problems: Sequence[Problem], config: Mapping[str, Any]) -> None:
    """Add to a run's config what its problems are known by again."""
    if isinstance(problems, LazyProblems):
        stored = store.problem_digest(run)
        known = {"made": problems.digest, "count": len(problems), "stored": stored}
        store.set_config(run, {**config, "problems": known})


def known_numbers(
    store: Store, run: int, problems: Sequence[Problem], config: Mapping[str, Any]
) -> list[int] | None:
    """Return the numbers of problems that are in the store as they are now; None if they may not.

    `config` is that of the run before.
    """
    known = config.get("problems")
    if not known or not isinstance(problems, LazyProblems) or known["made"] != problems.digest:
        return None
    if known["stored"] != store.problem_digest(run):
        return None
    problems.expect(known["count"])
    return store.numbers_by_position(run)[: known["count"]]


@dataclass(frozen=True)
class FirstProblems:
    """Loads the first problems of a task, and never more than a number of them."""

    load: Callable[[int | None], Sequence[Problem]]
    number: int

    def __call__(self, limit: int | None = None) -> Sequence[Problem]:
        return self.load(self.number if limit is None else min(limit, self.number))


def first_share(task: Task, share: float) -> Task:
    """Return a task of the first problems, so many that they are at least a share of all."""
    number = math.ceil(len(task.load(None)) * share)
    return replace(task, load=FirstProblems(task.load, number))
