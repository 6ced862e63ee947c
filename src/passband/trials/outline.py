"""The outline of a run's problems: numbers, positions, keys and clusters, without their records.

Reading a hundred thousand records to check the rows that they are in takes longer than everything
else in a summary. A digest of the outline, kept in the checked config of a run, tells as much.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any
from zlib import crc32

from passband.trials.checked import CheckedRows

__all__ = ["OUTLINE", "digest_of", "outline_of"]

OUTLINE = "SELECT problem, position, key, cluster, crc FROM problem WHERE run=? ORDER BY problem"
_TOGETHER = 1_000

Row = tuple[Any, ...]


def digest_of(rows: Iterable[Row]) -> int:
    """Return a number that changes with any value of an outline.

    >>> digest_of([(0, 0, "p0", None, 17)]) == digest_of([(0, 0, "p1", None, 17)])
    False
    """
    source, crc = iter(rows), 0
    while chunk := list(islice(source, _TOGETHER)):
        crc = crc32("".join(map(ascii, chunk)).encode(), crc)
    return crc


def outline_of(rows: CheckedRows, run: int) -> list[Row] | None:
    """Return the outline of a run; None unless its digest is that of what was entered."""
    config = next((row[5] for row in rows.rows("run", "run=?", run)), "{}")
    entered = rows.mapping(config).get("problems")
    if not isinstance(entered, dict):
        return None
    found = [row for some in rows.together(OUTLINE, _TOGETHER, run) for row in some]
    return found if entered.get("stored") == digest_of(found) else None
