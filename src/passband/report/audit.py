"""Render what the audit of a store has read and found."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from passband.report.words import counted

_MOST = 100  # damaged rows that are named
_NOUNS = {
    "trial": "trial",
    "body": "completion",
    "score": "score",
    "scorer": "scorer",
    "problem": "problem",
    "attempt": "failed attempt",
}
_JUDGED = {"call": "judge call"}  # counted only where there are any


def audit_lines(directory: str, rows: Mapping[str, int], damage: Sequence[str]) -> Iterator[str]:
    """Yield a line on the rows read, then one for each damaged row."""
    nouns = _NOUNS | (_JUDGED if rows.get("call") else {})
    counts = ", ".join(counted(rows.get(table, 0), noun) for table, noun in nouns.items())
    if not damage:
        yield f"{directory}: {counts}: all as written."
        return
    yield f"{directory}: {counts if rows else 'nothing could be read'}; DAMAGED:"
    yield from (f"  {line}" for line in damage[:_MOST])
    if len(damage) > _MOST:
        yield f"  and {len(damage) - _MOST} more; --json names them all"
    yield f"{shlex.join(['passband', 'salvage', directory])} NEW copies what can be read."
