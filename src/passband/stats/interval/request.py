"""Everything an interval method needs: data, metric, target, level, seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.fit.count_grid import grid_of
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.metric.registry import Metric
from passband.types import Floats

__all__ = ["IntervalRequest", "mixture_of"]

_mixtures: WeakKeyDictionary[Outcomes, dict[Any, Mixture]] = WeakKeyDictionary()


@dataclass(frozen=True)
class IntervalRequest:
    """What an interval method is given."""

    outcomes: Outcomes
    metric: Metric
    means: tuple[float, ...]  # of the metric's parts
    value: float
    over: str
    level: float
    seed: int | None

    @property
    def k(self) -> int:
        return self.metric.k

    @property
    def tail(self) -> float:
        return (1.0 - self.level) / 2.0

    def mixture(self) -> Mixture:
        """Return the fitted spread of success probabilities of the problems that count."""
        return mixture_of(self.outcomes, self.k)

    def values(self, mixture: Mixture) -> Floats:
        """Return the value of a problem at each pair of the lattice.

        A metric that blends averages over the whole data set is replaced by its linear part,
        which has the same mean and, to first order, the same spread.
        """
        trials, successes = mixture.lattice.trials, mixture.lattice.successes
        parts = [part.at(trials, successes, self.k) for part in self.metric.parts]
        return self.metric.linear(parts, self.means)

    def squares(self, mixture: Mixture, values: Floats) -> Floats | None:
        """Return unbiased estimates of the squared latent value, on the scale of [0, 1]."""
        if self.metric.powers is not None:
            return None
        low, high = self.range()
        trials, successes = mixture.lattice.trials, mixture.lattice.successes
        found = self.metric.parts[0].square_at(trials, successes, self.k)
        if found is None or high == low:
            return None
        scale = high - low
        scaled: Floats = (found - low**2) / scale**2 - 2.0 * low * values / scale
        return scaled

    def latent(self, p: Floats) -> Floats:
        """Return the expected value of a problem with success probability p, at its many trials."""
        n = max(self.outcomes.most_trials(), 1)
        c = np.arange(n + 1)
        trials = np.full(n + 1, n)
        parts = [part.at(trials, c, self.k) for part in self.metric.parts]
        from scipy.special import gammaln, xlog1py, xlogy

        ways = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
        law = np.exp(ways + xlogy(c, p[:, None]) + xlog1py(n - c, -p[:, None]))
        return np.array([self.metric.combine(list(row)) for row in law @ np.stack(parts, axis=1)])

    def of_part(self, at: int) -> IntervalRequest:
        """Return the same question about one part of a blend."""
        metric = Metric(self.metric.name, self.k, (self.metric.parts[at],))
        mean = self.means[at]
        return IntervalRequest(
            self.outcomes, metric, (mean,), mean, self.over, self.level, self.seed
        )

    def range(self) -> tuple[float, float]:
        """Return the smallest and largest value the metric can have.

        Scores that all lie within [0, 1] are taken to be bounded by it; others have no bounds.
        """
        graded = self.outcomes.graded
        if graded is not None and not _within_unit(graded.values):
            return -np.inf, np.inf
        if self.metric.powers is not None:
            return 0.0, 1.0
        return self.metric.parts[0].bounds


def _within_unit(scores: Floats) -> bool:
    return bool(scores.min(initial=0.0) >= 0.0 and scores.max(initial=1.0) <= 1.0)


def mixture_of(outcomes: Outcomes, k: int) -> Mixture:
    """Fit the problems with at least k trials, once for every metric on the same outcomes."""
    kept = _mixtures.setdefault(outcomes, {})
    pairs = outcomes.histogram.at_least(k)
    lattice = grid_of(pairs)
    if lattice.ns not in kept:
        kept[lattice.ns] = fit_mixture(lattice, lattice.counts(pairs))
    return kept[lattice.ns]
