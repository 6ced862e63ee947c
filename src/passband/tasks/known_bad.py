"""Mark problems whose key or text is known to be wrong: `known_bad`.

They are asked and scored like any other; a run and its summary say how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput
from passband.tasks.data.rows import Condition


@dataclass(frozen=True)
class BadProblem:
    """A problem with the reason not to trust its key."""

    key: str
    reason: str


class KnownBad:
    """The entries of `known_bad`: a problem's name, a condition on its row, or both.

    >>> bad = KnownBad([{"problem": "7", "where": "answer == '384'", "reason": "it is 385."}])
    >>> bad.among([("7", {"answer": "384"}), ("8", {"answer": "384"})])
    [BadProblem(key='7', reason='it is 385.')]
    """

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self._entries = [
            (
                None if entry.get("problem") is None else str(entry["problem"]),
                Condition(entry["where"], name="known_bad.where") if entry.get("where") else None,
                str(entry["reason"]),
            )
            for entry in entries
        ]

    def among(self, problems: Iterable[tuple[str, Mapping[str, Any]]]) -> list[BadProblem]:
        """Return those of some problems, by key and row, that an entry applies to."""
        return [
            BadProblem(key, reason)
            for key, row in problems
            for name, condition, reason in self._entries
            if name in (None, key) and (condition is None or _holds(condition, row))
        ]


def _holds(condition: Condition, row: Mapping[str, Any]) -> bool:
    """Return whether a condition holds; one that cannot be worked out is about another copy."""
    try:
        return condition.holds(row)
    except InvalidInput:
        return False
