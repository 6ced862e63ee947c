"""Convert frozen values to what JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def record_keys(record: type) -> tuple[str, ...]:
    """Return the fields of a dataclass or named tuple; of another type none."""
    if is_dataclass(record):
        return tuple(field.name for field in fields(record))
    return tuple(getattr(record, "_fields", ()))


Keys = Callable[[object], Iterable[str]]


def _every_key(record: object) -> Iterable[str]:
    return record_keys(type(record))


def json_values(record: object, keys: Keys = _every_key) -> dict[str, Any]:
    """Convert a dataclass, named tuple or mapping to a dict, and so all its parts.

    `keys` chooses and orders the fields of records. A part with a `from_json` has a version and a
    shape of its own, which its `as_json` gives.

    >>> from passband.notes import Note
    >>> json_values({"notes": (Note("one-problem", "only one problem"),)})
    {'notes': [{'code': 'one-problem', 'text': 'only one problem', 'severity': 'remark'}]}
    """
    if isinstance(record, Mapping):
        return {str(name): _json_value(part, keys) for name, part in record.items()}
    return {name: _json_value(getattr(record, name), keys) for name in keys(record)}


def _json_value(value: Any, keys: Keys) -> Any:
    if isinstance(value, Mapping):
        return json_values(value, keys)
    if record_keys(type(value)):
        return value.as_json() if hasattr(value, "from_json") else json_values(value, keys)
    if isinstance(value, (list, tuple)):
        return [_json_value(part, keys) for part in value]
    return value
