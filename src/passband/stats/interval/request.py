"""Everything an interval method needs: data, metric, target, level, seed.

`as_mean_request` turns metrics that are means of other scores, votes and avg@k, into those means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.fit.count_grid import binned_counts, grid_of
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.metric.components import MeanScore
from passband.stats.metric.metric import MeanMetric, Metric
from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats


@dataclass(frozen=True, eq=False)
class IntervalRequest:
    """The data, metric, target, level and seed that an interval is made from."""

    outcomes: Outcomes
    metric: Metric
    means: tuple[float, ...]  # of the metric's parts
    value: float
    over: Over
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
        """Return the value of a problem at each pair of the grid.

        A metric that blends averages over the whole data set is replaced by its linear part,
        which has the same mean and, to first order, the same spread.
        """
        trials, successes = mixture.grid.trials, mixture.grid.successes
        parts = [part.at(trials, successes, self.k) for part in self.metric.parts]
        return self.metric.linear(parts, self.means)

    def squares(self, mixture: Mixture, values: Floats) -> Floats | None:
        """Return unbiased estimates of the squared latent value, on the scale of [0, 1]."""
        low, high = self.range()
        trials, successes = mixture.grid.trials, mixture.grid.successes
        squares = self.metric.square_at(trials, successes)
        if squares is None or high == low:
            return None
        scale = high - low
        scaled: Floats = (squares - low**2) / scale**2 - 2.0 * low * values / scale
        return scaled

    def latent(self, p: Floats) -> Floats:
        """Return the expected value of a problem with success probability p, at its many trials."""
        n = max(self.outcomes.most_trials(), 1)
        c = np.arange(n + 1)
        trials = np.full(n + 1, n)
        parts = [part.at(trials, c, self.k) for part in self.metric.parts]
        return self.metric.combined(binomial_pmf(n, c, p[:, None]) @ np.stack(parts, axis=1))

    @property
    def unit(self) -> IntervalRequest:
        """The same request for scores from 0 to 1, where both ends of another scale are stated."""
        outcomes = self.outcomes.unit if self.metric.is_score else self.outcomes
        if outcomes is self.outcomes:
            return self
        value = self.outcomes.scale.share_of(self.value)
        return replace(self, outcomes=outcomes, means=(value,), value=value)

    def of_part(self, index: int) -> IntervalRequest:
        """Return the same request for one part of a blend."""
        metric = MeanMetric(self.metric.name, self.k, self.metric.parts[index])
        mean = self.means[index]
        return IntervalRequest(
            self.outcomes, metric, (mean,), mean, self.over, self.level, self.seed
        )

    def range(self) -> tuple[float, float]:
        """Return the smallest and largest value the metric can have.

        Scores from 0 to 1 are bounded, be it stated or only seen; others are taken to have none,
        unless the request is for `unit`.
        """
        return self.metric.bounds if self.outcomes.is_share else (-np.inf, np.inf)


def mixture_of(outcomes: Outcomes, k: int) -> Mixture:
    """Fit the problems with at least k trials, once for every metric on the same outcomes."""
    pairs = binned_counts(outcomes.histogram.at_least(k))
    key = ("mixture", pairs.ns)
    if key not in outcomes.memo:
        whole = mixture_of(outcomes, 1) if outcomes.histogram.ns[0] < k else None
        grid = grid_of(pairs, None if whole is None else whole.grid)
        outcomes.memo[key] = fit_mixture(grid, grid.counts(pairs), whole)
    mixture: Mixture = outcomes.memo[key]
    return mixture


def as_mean_request(request: IntervalRequest) -> IntervalRequest:
    """Return the request for the mean of the scores that a metric averages, where it does.

    Over problems a vote is the mean of one value per problem, and vote@1 and avg@k are the mean
    score of trials. Any interval of a mean then serves them.
    """
    if not request.metric.is_mean:
        return request
    scores = request.metric.parts[0].as_scores(request.outcomes, request.k, request.over)
    if scores is None:
        return request
    mean = MeanMetric(request.metric.name, 1, MeanScore())
    return IntervalRequest(
        scores, mean, request.means, request.value, request.over, request.level, request.seed
    )
