"""Names of columns, however they are written: Task ID, task_id and task-id are one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def normalized(name: str) -> str:
    """Reduce a column name to what it is recognized by.

    >>> normalized("Task ID") == normalized("task_id")
    True
    """
    return re.sub(r"[\s_-]", "", name).lower()


def matching(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the columns with one of the names, however they are written, in order of names.

    >>> matching(["Final Answer", "question"], ["answer", "final_answer"])
    ['Final Answer']
    """
    spelled: dict[str, list[str]] = {}
    for column in columns:
        spelled.setdefault(normalized(column), []).append(column)
    keys = dict.fromkeys(map(normalized, names))
    return [column for key in keys for column in spelled.get(key, ())]
