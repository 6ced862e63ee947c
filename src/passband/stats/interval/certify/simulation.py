"""Simulate a design under one law, and count the intervals that contain the truth.

The design is the number of problems with each number of trials.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.registry import interval_for
from passband.stats.interval.request import IntervalRequest
from passband.types import Bools, Floats, Ints

_SLACK = 1e-9  # an end and the truth may be the same number, computed in two ways


@dataclass(frozen=True, eq=False)
class SimulatedEnds:
    """The ends of the interval of each data set; NaN where it has none."""

    low: Floats
    high: Floats


class Simulation(ABC):
    """Data sets of one design drawn from one law."""

    law: str
    truth: Floats  # one entry per data set

    @abstractmethod
    def ends(self, level: float) -> SimulatedEnds:
        """Return the default interval of every data set at a level."""

    @property
    def sets(self) -> int:
        return len(self.truth)

    def covered(self, level: float) -> Bools:
        """Return which intervals contain the truth; an interval that does not exist does not."""
        ends = self.ends(level)
        slack = _SLACK * np.maximum(1.0, np.abs(self.truth))
        covered: Bools = (ends.low <= self.truth + slack) & (self.truth - slack <= ends.high)
        return covered

    def coverage(self, level: float) -> float:
        """Return the share of data sets whose interval contains the truth."""
        return float(self.covered(level).mean())


@dataclass(frozen=True, eq=False)
class SingleSets(Simulation):
    """Data sets that the default method is asked about one by one."""

    law: str
    truth: Floats
    requests: Sequence[IntervalRequest]

    def ends(self, level: float) -> SimulatedEnds:
        found = [interval_for("auto", replace(each, level=level)) for each in self.requests]
        low = np.array([np.nan if each.low is None else each.low for each in found])
        high = np.array([np.nan if each.high is None else each.high for each in found])
        return SimulatedEnds(low, high)


def request_of(request: IntervalRequest, successes: Ints) -> IntervalRequest:
    """Return the request for the same trials and clusters with other successes."""
    design = request.outcomes
    outcomes = Outcomes.from_counts(successes, design.trials, clusters=design.clusters)
    means = tuple(request.metric.means(outcomes))
    return replace(request, outcomes=outcomes, means=means, value=request.metric.combine(means))


def with_edges(ends: SimulatedEnds, mixture: Mixture, request: IntervalRequest) -> SimulatedEnds:
    """Return the ends, replacing those of data sets with all trials alike.

    They have a rule of their own, and there are but two of them: no success, and no failure.
    """
    grid = mixture.grid
    low, high = ends.low.copy(), ends.high.copy()
    for misses, share in ((grid.successes > 0, 0), (grid.successes < grid.trials, 1)):
        alike = mixture.counts[..., misses].sum(axis=-1) == 0.0
        if alike.any():
            bound = interval_for("auto", request_of(request, share * request.outcomes.trials))
            low[alike], high[alike] = bound.low, bound.high
    return SimulatedEnds(low, high)


_MOST_NS = 8  # different numbers of trials that are simulated
_MOST_TRIALS = 256  # of a problem, unless 2k is more
_PAIRS = 200  # pairs (n, c) up to which all data sets are simulated


@dataclass(frozen=True)
class SimulatedDesign:
    """Numbers of trials, fewest first, and how many problems have each."""

    ns: tuple[int, ...]
    problems: tuple[int, ...]

    @staticmethod
    def of(histogram: Histogram, k: int) -> SimulatedDesign:
        """Return the design of some outcomes, similar numbers of trials taken together if many.

        Numbers below 2k are never joined with others: the default rule treats them differently.

        >>> pairs = Histogram.of_counts(np.arange(2, 40), np.ones(38, dtype=int))
        >>> SimulatedDesign.of(pairs, 1)
        SimulatedDesign(ns=(4, 8, 13, 18, 23, 28, 32, 37), problems=(5, 4, 5, 5, 5, 4, 5, 5))
        """
        ns, index = np.unique(histogram.trials, return_inverse=True)
        problems = np.bincount(index, histogram.problems).astype(np.int64)
        least = np.minimum(ns, max(_MOST_TRIALS, 2 * k))
        if len(ns) > _MOST_NS:
            least = _joined(least, problems, 2 * k)
        kept, index = np.unique(least, return_inverse=True)
        counts = np.bincount(index, problems).astype(np.int64)
        return SimulatedDesign(tuple(kept.tolist()), tuple(counts.tolist()))

    @property
    def n_problems(self) -> int:
        return sum(self.problems)

    @property
    def n_pairs(self) -> int:
        return sum(self.ns) + len(self.ns)

    def affordable(self, sets: int) -> int:
        """Return the number of data sets to simulate, fewer for many pairs."""
        return max(min(sets, sets * _PAIRS // self.n_pairs), min(sets, 100))

    def nearest(self, trials: Ints) -> Ints:
        """Return for each number of trials the nearest one of the design."""
        ns = np.array(self.ns)
        middle = (ns[1:] + ns[:-1]) / 2
        result: Ints = ns[np.searchsorted(middle, trials)]
        return result

    def trials(self) -> Ints:
        """Return the number of trials of each problem, fewest first."""
        return np.repeat(self.ns, self.problems)


def _joined(ns: Ints, problems: Ints, border: int) -> Ints:
    """Return a number of trials for each: the mean of a group with about as many problems."""
    result = ns.copy()
    sides = [side for side in (ns < border, ns >= border) if side.any()]
    for side in sides:
        groups = min(_MOST_NS // len(sides), int(side.sum()))
        behind = np.cumsum(problems[side]) - problems[side] / 2
        group = np.minimum(groups * behind / problems[side].sum(), groups - 1).astype(np.int64)
        total = np.bincount(group, problems[side], groups)
        mean = np.bincount(group, problems[side] * ns[side], groups) / np.maximum(total, 1.0)
        result[side] = np.clip(np.round(mean).astype(ns.dtype)[group], *_ends(ns[side]))
    return result


def _ends(ns: Ints) -> tuple[int, int]:
    return int(ns.min()), int(ns.max())
