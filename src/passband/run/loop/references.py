"""The references of problems, read with the problems that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from passband.generate import Problem
from passband.score import Reference


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
