"""Draw ranks of models as intervals: a rank is no more certain than its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.bar import Bar, level_text
from passband.report.charts.canvas import Canvas, short
from passband.report.charts.chart import Chart
from passband.report.charts.rows import MOST_ROWS, Column, Rows, rows_note
from passband.report.charts.theme import Theme
from passband.report.charts.vega import bars_spec

_STEPS = [factor * 10**power for power in range(9) for factor in (1, 2, 5)]


@dataclass(frozen=True)
class Rank:
    """The ranks that a model may have."""

    model: str
    best: int
    worst: int
    rank: int | None = None  #: by its estimate
    score: str = ""  #: its estimate, as the table writes it

    @property
    def text(self) -> str:
        """The ranks as text."""
        return str(self.best) if self.best == self.worst else f"{self.best} to {self.worst}"


@dataclass(frozen=True)
class RankBars(Chart):
    """The range of ranks of each model.

    >>> RankBars((Rank("a", 1, 2), Rank("b", 1, 2), Rank("c", 3, 3))).description
    'a: rank 1 to 2. b: rank 1 to 2. c: rank 3.'
    """

    ranks: Sequence[Rank]
    level: float = 0.95
    title: str = "Ranks"
    name: str = "ranks"

    @property
    def caption(self) -> str:
        """The meaning of the bars."""
        sure = level_text(self.level)
        return (
            f"Bar: the ranks that the data allow; all bars hold at once ({sure}). Line: the rank "
            "by the estimate. Rank 1 is best; models whose bars overlap are not told apart."
            + rows_note(len(self.ranks), "models")
        )

    @property
    def description(self) -> str:
        """The ranks in words."""
        return " ".join(
            f"{short(rank.model)}: rank {rank.text}." for rank in self.ranks[:MOST_ROWS]
        )

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the axis."""
        return 0.5, max((rank.worst for rank in self.ranks), default=1) + 0.5

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw label, estimate, bar and ranks of every model."""
        ranks = self.ranks[:MOST_ROWS]
        before = [Column("model", [rank.model for rank in ranks], bold=True)]
        if any(rank.score for rank in ranks):
            before.append(Column("estimate", [rank.score for rank in ranks], right=True))
        after = [Column("rank", [rank.text for rank in ranks], right=True, alone="rank {}")]
        rows = Rows(self._bars(), before, after, self.span, marks=self._marks())
        return rows.draw(theme, narrow=narrow)

    def _marks(self) -> list[int]:
        """Return every rank, or round ones where there are many."""
        last = round(self.span[1] - 0.5)
        step = next(step for step in _STEPS if last / step <= 12)
        return sorted({1, *range(step, last + 1, step)})

    def _bars(self) -> list[Bar]:
        return [
            Bar(rank.model, rank.rank, outer=(rank.best - 0.35, rank.worst + 0.35))
            for rank in self.ranks[:MOST_ROWS]
        ]

    def vega(self) -> dict[str, Any]:
        """Return a bar for each model."""
        return bars_spec(self, self._bars(), self.span, "rank", self._marks())
