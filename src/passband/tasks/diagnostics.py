"""What is wrong with a task, and where: one line for each thing that its author has to mend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from passband.errors import InvalidInput

__all__ = ["Diagnostic", "Place", "TaskErrors", "raise_errors"]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong with a task file, its data or its templates.

    >>> str(Diagnostic(Path("sums.yaml"), 3, "unknown key 'metrics'."))
    "sums.yaml:3: unknown key 'metrics'."
    """

    file: Path
    line: int
    message: str
    level: Literal["error", "warning"] = "error"  # a warning does not keep a task from being run

    @classmethod
    def at(
        cls, place: Place, message: str, level: Literal["error", "warning"] = "error"
    ) -> Diagnostic:
        return cls(place.file, place.line, message, level)

    def __str__(self) -> str:
        warning = "warning: " if self.level == "warning" else ""
        return f"{self.file}:{self.line}: {warning}{self.message}"


class TaskErrors(InvalidInput):
    """A task file that cannot be used, with everything that is wrong with it."""

    def lines(self) -> list[str]:
        """Return one line for each problem."""
        return [str(argument) for argument in self.args]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def raise_errors(problems: Iterable[Diagnostic]) -> None:
    """Raise one error that tells every problem, each in its own line; warnings are left out."""
    errors = [str(problem) for problem in problems if problem.level == "error"]
    if errors:
        raise TaskErrors(*dict.fromkeys(errors))
