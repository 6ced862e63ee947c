"""Names of problems and of clusters: given as anything, kept as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from passband.errors import InvalidInput
from passband.stats.data.cells import is_absent

__all__ = ["Numbered", "as_labels", "check_labels", "problem_labels"]


class Numbered(Sequence[str]):
    """The names "0", "1", ..., made when needed.

    >>> Numbered(3)[1], Numbered(3) == ("0", "1", "2")
    ('1', True)
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        chosen = range(self._count)[index]
        return str(chosen) if isinstance(chosen, int) else tuple(map(str, chosen))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return self._count == other._count
        return isinstance(other, (list, tuple)) and self[:] == tuple(other)

    def __hash__(self) -> int:
        return hash(self[:])


def problem_labels(labels: Sequence[object] | None, count: int) -> Sequence[str]:
    """Return the names of problems as text, or numbers if there are none."""
    return Numbered(count) if labels is None else as_labels(labels) or ()


def as_labels(labels: Sequence[object] | None) -> tuple[str, ...] | None:
    """Return labels as text; None stays None, and a label that is missing is refused."""
    if labels is None:
        return None
    given = list(labels)
    for index, label in enumerate(given):
        if not isinstance(label, str) and is_absent(label):
            raise InvalidInput(
                f"every problem must have a label; that of problem {index} is {label}."
            )
    return tuple(map(str, given))


def check_labels(name: str, labels: Sequence[str], count: int, *, distinct: bool) -> None:
    """Refuse labels that do not name every problem, or that name two alike."""
    if len(labels) != count:
        raise InvalidInput(f"{name} must name all {count} problems; got {len(labels)} names.")
    if distinct and not isinstance(labels, Numbered) and len(set(labels)) < count:
        twice = next(label for label, times in Counter(labels).items() if times > 1)
        raise InvalidInput(f"{name} must be distinct; {twice!r} is duplicated.")
