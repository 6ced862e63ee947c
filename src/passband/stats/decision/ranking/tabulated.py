"""Two independent sides whose intervals many pairs share."""

from __future__ import annotations

from statistics import NormalDist

from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.difference import Independent
from passband.stats.decision.ranking.side_table import SideTable, crossing
from passband.stats.interval.estimate import Estimate
from passband.stats.metric.metric import Metric

__all__ = ["Tables", "Tabulated"]

Tables = dict[tuple[int, Over], SideTable]  # by the side's identity


class Tabulated(Independent):
    """Two independent sides that share their intervals with all other pairs."""

    def __init__(
        self,
        a: Outcomes,
        b: Outcomes,
        metric: Metric,
        over: Over,
        notes: tuple[Note, ...] = (),
        *,
        tables: Tables,
    ) -> None:
        self._tables = [
            tables.setdefault((id(side), over), SideTable(side, metric, over)) for side in (a, b)
        ]
        super().__init__(a, b, metric, over, notes)

    def _sides(self, level: float) -> tuple[Estimate, Estimate]:
        return self._tables[0].estimate(level), self._tables[1].estimate(level)

    def tail(self, at: float) -> float | None:
        a, b = (table.curves for table in self._tables)
        gap = self.value - at
        if a is None or b is None or gap == 0.0:
            return super().tail(at)
        near, far = (b[0], a[1]) if gap > 0.0 else (b[1], a[0])
        z = crossing(abs(gap), near, far)
        return super().tail(at) if z is None else NormalDist().cdf(-z)
