"""A simulation: data sets drawn from one law, and which of their intervals contain the truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.methods import interval_for
from passband.stats.interval.request import IntervalRequest
from passband.types import Bools, Floats, Ints

__all__ = ["SimulatedEnds", "Simulation", "SingleSets", "request_of", "with_edges"]

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
        """Return the share of the data sets whose interval contains the truth."""
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
    """Return the ends with those of data sets in which all trials are alike put right.

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
