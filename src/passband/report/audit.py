"""Lines of text about what an audit of a store has read and found."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from passband.trials.audit import Audit

__all__ = ["audit_lines"]

_MOST = 100  # damaged rows that are named
_NAMES = {
    "trial": "trials",
    "body": "completions",
    "score": "scores",
    "scorer": "scorers",
    "problem": "problems",
    "attempt": "failed attempts",
}


def audit_lines(audit: Audit) -> Iterator[str]:
    """Yield a line on what was read, then one for each thing that is damaged."""
    counts = ", ".join(f"{audit.rows.get(table, 0):,} {name}" for table, name in _NAMES.items())
    if audit.is_intact:
        how = "readable; layout 1 has no checksums" if audit.version == 1 else "all as written"
        yield f"{audit.directory}: {counts}: {how}."
        return
    read = counts if audit.rows else "nothing could be read"
    yield f"{audit.directory}: {read}; DAMAGED in {len(audit.damage)} places:"
    yield from (f"  {line}" for line in audit.damage[:_MOST])
    if len(audit.damage) > _MOST:
        yield f"  and {len(audit.damage) - _MOST} more; --json names them all"
    yield f"{shlex.join(['passband', 'salvage', audit.directory])} NEW copies what can be read."
