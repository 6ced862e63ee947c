"""Half-widths from the moments of a pilot: graded scores, blends of averages, and clusters.

There is no model of such trials to draw new ones from. The pilot's variance is what there is; how
uncertain it is comes from random weights on the pilot's problems, or clusters of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.notes import PLAN_BY_MOMENTS, Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.plan.variances import Assumed, from_pilot
from passband.stats.interval.bootstrap.units import data_seed
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.seeds import generator
from passband.stats.metric.metric import Metric
from passband.types import Floats

__all__ = ["MomentWidths", "moment_widths"]

_DRAWS = 400
_SHARE = 0.5  # of a problem that each of the pilot's counts for, as in `simulated`

_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class MomentWidths:
    """The half-widths of t intervals, one for each variance that a pilot leaves possible."""

    assumed: Assumed
    over: Over
    level: float
    n_problems: int  #: of the pilot
    size: float  #: problems of a cluster, on average
    factors: Floats  # (draws,) what to multiply the pilot's variance by
    seed: int

    @property
    def fewest(self) -> int:
        return max(self.assumed.fewest, 1 if self.over == "problems" else 2)

    @property
    def widest(self) -> float:
        return float("inf")

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self.assumed.notes, PLAN_BY_MOMENTS)

    def variances(self, trials: int) -> tuple[Floats, Floats]:
        """Return the variance between problems and that of sampling, of each draw."""
        return self.factors * self.assumed.between, self.factors * sum(self.assumed.noise(trials))

    def at(self, problems: int | None, trials: int) -> Floats:
        """Return the half-widths of runs; without a number, of the pilot's own problems."""
        count = self.n_problems if problems is None else problems
        between, within = self.variances(trials)
        variance = within if self.over == "trials" else between + within
        freedom = max(count / self.size - 1.0, 1.0)
        if self.over == "trials":
            freedom = float(count)
        found = generator(self.seed).chisquare(freedom, len(variance)) / freedom
        half: Floats = student_quantile(self.level, freedom) * np.sqrt(variance * found / count)
        return half


def moment_widths(
    outcomes: Outcomes, metric: Metric, over: Over, level: float, *, share: float = _SHARE
) -> MomentWidths:
    """Draw the variances that a pilot of any kind leaves possible."""
    assumed = from_pilot(outcomes, metric.name, "drop")
    values = metric.by_problem(outcomes)
    linear = metric.linear(list(values.T), values.mean(axis=0).tolist())
    units = linear - linear.mean()
    if over == "problems" and outcomes.is_clustered:
        enough = outcomes.trials >= max(metric.k, 1)
        units = np.bincount(outcomes.cluster_codes(enough), weights=units).astype(np.float64)
    seed = data_seed(metric, linear)
    factors = _factors(units, over, share, generator(seed))
    size = len(linear) / len(units)
    return MomentWidths(assumed, over, level, len(linear), size, factors, seed)


def _factors(units: Floats, over: Over, share: float, rng: np.random.Generator) -> Floats:
    """Draw how far the variance of the population could be from that of the pilot."""
    count = len(units)
    if over == "trials" or count < 2:
        freedom = max(share * count, 1.0)
        factors: Floats = freedom / rng.chisquare(freedom, _DRAWS)
        return factors
    weights = rng.gamma(share, size=(_DRAWS, count))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ units
    drawn = weights @ units**2 - mean**2
    return (1.0 + 1.0 / (share * count)) * drawn / max(float(units.var()), _LEAST)
