"""Fields of a record of another tool: of the type that they should have, or an error.

A field that a number rests on is checked. One that is only kept, such as a text, is left out where
it is not what it should be: see `kept_text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passband.errors import InvalidInput

Record = Mapping[str, Any]


def text(record: Record, name: str) -> str | None:
    """Return a text; None where the record has none."""
    value = record.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _unexpected(name, "text", value)


def key(record: Record, name: str) -> str | int:
    """Return the id of a problem, which must be there."""
    value = record.get(name)
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return value
    raise _unexpected(name, "text or a whole number", value)


def flag(record: Record, name: str) -> bool | None:
    """Return true or false; None where the record has neither.

    >>> flag({"passed": True}, "passed"), flag({}, "passed")
    (True, None)
    """
    value = record.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise _unexpected(name, "true or false", value)


def part(record: Record, name: str) -> dict[str, Any]:
    """Return an object within the record; an empty one where it has none."""
    value = record.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise _unexpected(name, "an object", value)


def values(record: Record, name: str) -> list[Any]:
    """Return a list within the record; an empty one where it has none."""
    value = record.get(name)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise _unexpected(name, "a list", value)


def texts(record: Record, name: str) -> list[str]:
    """Return a list of texts within the record; an empty one where it has none."""
    found = values(record, name)
    for value in found:
        if not isinstance(value, str):
            raise _unexpected(name, "a list of texts", value)
    return found


def kept_text(value: Any) -> str | None:
    """Return a text that no number rests on; None for anything else."""
    return value if isinstance(value, str) else None


def _unexpected(name: str, expected: str, value: Any) -> InvalidInput:
    return InvalidInput(f"{name} must be {expected}; got {value!r:.60}.")
