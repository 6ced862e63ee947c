"""Mistakes in a task file, its data or its templates: one diagnostic each, with file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from passband.errors import InvalidInput, Place

Level = Literal["error", "warning"]  # a warning does not keep a task from being run


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake in a task file, its data or its templates.

    >>> str(Diagnostic(Path("sums.yaml"), 3, "unknown key 'metrics'."))
    "sums.yaml:3: unknown key 'metrics'."
    """

    file: Path
    line: int
    message: str
    level: Level = "error"
    is_loud: bool = False  # of a warning: said also where a task is run, not only checked

    @classmethod
    def at(cls, place: Place, message: str, level: Level = "error") -> Diagnostic:
        """Return a diagnostic of one place."""
        return cls(place.file, place.line, message, level)

    @classmethod
    def of(cls, error: InvalidInput, path: Path) -> Diagnostic:
        """Return an error as a diagnostic, in line 1 of `path` if it has no place of its own."""
        return cls.at(error.place or Place(path, 1), error.message)

    def __str__(self) -> str:
        warning = "warning: " if self.level == "warning" else ""
        return f"{self.file}:{self.line}: {warning}{self.message}"


class TaskErrors(InvalidInput):
    """A task file that cannot be used, with all of its errors."""

    def lines(self) -> list[str]:
        """Return one line for each error."""
        return [str(argument) for argument in self.args]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def raise_errors(diagnostics: Iterable[Diagnostic]) -> None:
    """Raise `TaskErrors` with a line for each error; do nothing if there are only warnings."""
    errors = [str(diagnostic) for diagnostic in diagnostics if diagnostic.level == "error"]
    if errors:
        raise TaskErrors(*dict.fromkeys(errors))
