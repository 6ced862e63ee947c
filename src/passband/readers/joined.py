"""Columns that were added to the lines of a log, by which several logs were joined into a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passband.column_names import matching
from passband.stats.data.columns import ROLES, SPLIT_BY

__all__ = ["is_joined"]


def is_joined(record: Mapping[str, Any], *own: str) -> bool:
    """Return whether a line has columns that tell models, runs or trials apart.

    The tool itself writes none, apart from its `own`: such a file is read as a table, which splits
    by them.

    >>> is_joined({"task_id": "a", "passed": True}), is_joined({"task_id": "a", "model": "M"})
    (False, True)
    """
    return any(name not in own for name in matching(record, (*SPLIT_BY, *ROLES["trial"])))
