"""The options of the table that a run ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from passband.report.style import Layout, Style
    from passband.stats.data.outcomes import Policy

__all__ = ["TableOptions"]


class TableOptions(NamedTuple):
    """What the table of a run holds, and how it is written."""

    metrics: Sequence[str]
    level: float
    policy: Policy = "drop"
    layout: Layout = "long"
    digits: int | None = None
    percent: bool = False
    notes: bool = False

    def style(self) -> Style:
        """Return how it is written; the import is heavy, and the first request comes earlier."""
        from passband.report.style import Style

        return Style(self.digits, self.percent, self.layout, self.notes)
