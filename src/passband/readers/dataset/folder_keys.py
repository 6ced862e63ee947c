"""Folders named key=value above files that have a column of that name."""

from __future__ import annotations

from typing import Any

from passband.errors import InvalidInput
from passband.readers.dataset.address import DataFile
from passband.stats.data.cells import label, shortened

__all__ = ["require_key"]


def require_key(file: DataFile, name: str, value: str | None, values: Any) -> None:
    """Raise `InvalidInput` if a column has other values than the folder of its name says."""
    for other in values.to_pylist():
        if not _same(value, None if other is None else label(other)):
            raise InvalidInput(
                f"{file}: column {name} has {shortened(str(other))}, but the folder is named "
                f"{name}={value}; leave out one of the two."
            )


def _same(one: str | None, other: str | None) -> bool:
    """Return whether a folder and a value have one label, 007 being 7."""
    if one is None or other is None or one == other:
        return one == other
    try:
        return float(one) == float(other)
    except ValueError:
        return one.lower() == other.lower() and one.lower() in ("true", "false")
