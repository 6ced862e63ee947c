"""Cache each side's intervals at a grid of levels, for all pairs that it is part of.

The confidence in a difference is the level at which its interval touches 0, found by a search. For
m models that is m (m - 1) / 2 searches, each with two intervals per step, though there are only m
sides. A table holds the distances of a side's ends from its value at 25 levels; between them a
polynomial of degree five through six neighbours is exact to far more digits than are needed, except
next to a kink, such as an end that reached the bound of the metric. There the search goes on with
the intervals themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np

from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.difference import Independent
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.estimation import Estimate, estimate
from passband.stats.interval.registry import interval_for
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.metric import Metric
from passband.types import Floats

_STEP = 0.25
_NODES = 25  # normal deviations 0, 0.25, ..., 6
_DEGREE = 5
_LEAST_LEVEL = 1e-6
_HALVES = 0.5 ** np.arange(_DEGREE + 1)
_SURE = 1e-9
_ACCURACY = 1e-7  # of the deviation at which an interval touches 0


@dataclass(frozen=True, eq=False)
class EndCurve:
    """A function of the normal deviation, known at the nodes of the grid."""

    nodes: Floats
    exact: Callable[[float], float]  # the function itself

    @cached_property
    def _differences(self) -> Floats:
        return np.abs(np.diff(self.nodes, _DEGREE))

    def piece(self, cell: int) -> tuple[Floats, float]:
        """Return the polynomial between two nodes, and about how far off it may be.

        Its argument counts steps from the first node of the cell. Of the stencils of six nodes
        that hold the cell, it is the one with the smallest fifth difference: a kink elsewhere
        does not matter. The error is the distance to the next best in the middle of the cell.
        """
        first = max(0, cell - _DEGREE + 1)
        last = min(cell, len(self._differences) - 1)
        order = np.argsort(self._differences[first : last + 1], kind="stable")[:2]
        best, *others = (self._through(first + int(start), cell) for start in order)
        return best, max((abs(float(_HALVES @ (best - other))) for other in others), default=np.inf)

    def middle(self, cell: int) -> float | None:
        """Return the value in the middle of a cell; None where it is not sure to nine digits."""
        piece, error = self.piece(cell)
        if error > _SURE * abs(float(self.nodes[cell + 1] - self.nodes[cell])):
            return None
        return float(_HALVES @ piece)

    def _through(self, start: int, cell: int) -> Floats:
        """Return the coefficients of the polynomial through six nodes."""
        coefficients: Floats = _weights(start - cell) @ self.nodes[start : start + _DEGREE + 1]
        return coefficients


@lru_cache(maxsize=2 * _NODES)
def _weights(offset: int) -> Floats:
    """Return the matrix from values at six places, the first of them `offset`, to coefficients."""
    places = np.arange(offset, offset + _DEGREE + 1, dtype=np.float64)
    return np.asarray(np.linalg.inv(np.vander(places, increasing=True)), dtype=np.float64)


class SideTable:
    """The default interval of one side: exact at any level, and tabulated for searches."""

    def __init__(self, side: Outcomes, metric: Metric, over: Over) -> None:
        self._side, self._metric, self._over = side, metric, over
        self._known: dict[float, Estimate] = {}

    def estimate(self, level: float) -> Estimate:
        """Return the estimate at a level, made once."""
        if level not in self._known:
            self._known[level] = estimate(
                self._side, self._metric.name, over=self._over, level=level
            )
        return self._known[level]

    @cached_property
    def curves(self) -> tuple[EndCurve, EndCurve] | None:
        """Distances of the lower and the upper end; None where there is no interval."""
        every_other = [self._distances(_STEP * node) for node in range(0, _NODES, 2)]
        if any(distances is None for distances in every_other):
            return None
        coarse = [EndCurve(nodes, abs) for nodes in np.array(every_other, dtype=np.float64).T]
        down, up = np.empty(_NODES), np.empty(_NODES)
        down[::2], up[::2] = coarse[0].nodes, coarse[1].nodes
        for node in range(1, _NODES, 2):
            middle = [curve.middle(node // 2) for curve in coarse]
            if any(value is None for value in middle):
                middle = list(self._distances(_STEP * node) or (np.nan, np.nan))
            down[node], up[node] = middle
        return EndCurve(down, self._down), EndCurve(up, self._up)

    @cached_property
    def _request(self) -> IntervalRequest:
        means = tuple(self._metric.means(self._side))
        value = self._metric.combine(means)
        return IntervalRequest(self._side, self._metric, means, value, self._over, 0.5, None)

    def _distances(self, z: float) -> tuple[float, float] | None:
        """Return the distances of both ends from the value at a deviation z."""
        request = replace(self._request, level=max(level_of(z), _LEAST_LEVEL))
        interval = interval_for("auto", request)
        if interval.low is None or interval.high is None:
            return None
        return request.value - interval.low, interval.high - request.value

    def _down(self, z: float) -> float:
        return (self._distances(z) or (np.nan, np.nan))[0]

    def _up(self, z: float) -> float:
        return (self._distances(z) or (np.nan, np.nan))[1]


def crossing(distance: float, first: EndCurve, second: EndCurve) -> float | None:
    """Return the deviation at which the root of the sum of two squares reaches a distance.

    It is the last node where it never does. None where the first node is beyond it already, or
    where there is more than one such deviation.
    """
    left = distance - np.hypot(first.nodes, second.nodes)
    passed = np.flatnonzero(left < 0.0)
    if not len(passed):
        return _STEP * (_NODES - 1)
    if passed[0] == 0 or len(passed) != _NODES - passed[0]:
        return None
    cell = int(passed[0]) - 1
    pieces = [curve.piece(cell) for curve in (first, second)]
    if sum(error for _, error in pieces) > _ACCURACY / _STEP * float(left[cell] - left[cell + 1]):
        return _searched(distance, first, second, cell, left)
    return _STEP * (cell + _root(distance, *(piece[::-1].tolist() for piece, _ in pieces)))


def _searched(distance: float, first: EndCurve, second: EndCurve, cell: int, left: Floats) -> float:
    """Search a cell by false position with the Illinois correction."""
    near, far = _STEP * cell, _STEP * (cell + 1)
    at_near, at_far = float(left[cell]), float(left[cell + 1])
    z = near
    for _ in range(60):
        z, before = near + (far - near) * at_near / (at_near - at_far), z
        here = distance - float(np.hypot(first.exact(z), second.exact(z)))
        if abs(z - before) < _ACCURACY / 10.0 or here == 0.0:
            break
        if here > 0.0:
            near, at_near, at_far = z, here, at_far / 2.0
        else:
            far, at_far, at_near = z, here, at_near / 2.0
    return z


def _root(distance: float, first: list[float], second: list[float]) -> float:
    """Halve the cell until two polynomials, highest power first, reach the distance."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        reached = _at(first, middle) ** 2 + _at(second, middle) ** 2
        low, high = (middle, high) if reached < distance**2 else (low, middle)
    return (low + high) / 2.0


def _at(coefficients: list[float], position: float) -> float:
    value = 0.0
    for coefficient in coefficients:
        value = value * position + coefficient
    return value


SideTables = dict[tuple[int, Over], SideTable]  # by the side's identity


class CachedIndependent(Independent):
    """Two independent sides that share their intervals with all other pairs."""

    def __init__(
        self,
        a: Outcomes,
        b: Outcomes,
        metric: Metric,
        over: Over,
        notes: tuple[Note, ...] = (),
        *,
        tables: SideTables,
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
