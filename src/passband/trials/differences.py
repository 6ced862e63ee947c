"""Descriptions of changed settings and problems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from passband.errors import InvalidInput

__all__ = ["SettingsChanged", "differences", "record_change"]


class SettingsChanged(InvalidInput):
    """The run directory holds trials that were drawn with other settings."""

    def lines(self) -> list[str]:
        """Return one line for each setting; their values are written as JSON."""
        return str(self).split("\n")


def differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield (name, old, new) of every setting that differs, names dotted."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield name, _shown(old), _shown(new)


def record_change(old: str, new: str) -> tuple[str, str, str] | None:
    """Return (name, old, new) of what changed in a problem's record; 1 for 1.0 is no change."""
    if old == new:
        return None
    return next(differences(json.loads(old), json.loads(new)), None)


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
