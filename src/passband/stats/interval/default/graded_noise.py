"""The noise of sampling in graded scores, measured within the problems themselves.

A problem's value varies by the variance of its trials' scores over their number; the best of k by
the jackknife's pseudo-values, which take the place of scores. Problems differ in noise, so the mean
of these variances is worth fewer degrees of freedom than there are trials (Satterthwaite), and the
third moments tilt the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.data.graded import ScoreGroup
from passband.stats.interval.default.wilson import Ends, outer_ends, roots, student_quantile
from passband.stats.metric.metric import Metric
from passband.types import Floats

__all__ = ["TrialNoise", "noise_moments", "trials_for_noise"]


@dataclass(frozen=True, eq=False)
class TrialNoise:
    """The noise of each problem's value, of the problems with enough trials to show it."""

    variance: Floats
    third: Floats  # third central moments of the values
    trials: Floats

    @staticmethod
    def of(groups: Sequence[ScoreGroup], metric: Metric, means: Sequence[float]) -> TrialNoise:
        least = trials_for_noise(metric)
        rows = [group.ordered for group in groups if group.n >= least]
        parts = [noise_moments(metric, means, scores) for scores in rows]
        empty = np.empty(0)
        return TrialNoise(
            np.concatenate([empty, *(variance for variance, _ in parts)]),
            np.concatenate([empty, *(third for _, third in parts)]),
            np.concatenate([empty, *(np.full(len(scores), scores.shape[1]) for scores in rows)]),
        )

    def __len__(self) -> int:
        return len(self.variance)

    @cached_property
    def mean(self) -> float:
        return float(self.variance.mean())

    def direct(self, mean: float, problems: int, level: float, sign: int) -> Ends:
        """Return the outer of two intervals: one that follows the skewness, and one without.

        For scores of one sign and without bounds the second is symmetric in the logarithm.
        """
        unit = 2.0 ** float(np.frexp(self.variance.max())[1])
        share = self.variance / unit
        freedom = float(share.sum() ** 2 / (share**2 / (self.trials + 1.0)).sum())
        q = student_quantile(level, max(freedom, 1.0))
        tilt = np.asarray(float(self.third.mean()) / self.mean)
        centre, variance = np.asarray(mean), np.asarray(self.mean)
        se = np.sqrt(variance / problems)
        skewed = Ends(*roots(centre, variance, tilt, 0.0, q, float(problems)), se)
        if sign == 0 or mean == 0.0:
            return outer_ends(Ends(centre - q * se, centre + q * se, se), skewed)
        factor = np.exp(min(q * float(se) / abs(mean), 3.0))
        ends = [np.asarray(end) for end in sorted((mean / factor, mean * factor))]
        outer = outer_ends(Ends(ends[0], ends[1], se), skewed)
        # No score lies on the other side of 0, so no mean can.
        low = np.maximum(outer.low, 0.0) if sign > 0 else outer.low
        return Ends(low, np.minimum(outer.high, 0.0) if sign < 0 else outer.high, se)


def trials_for_noise(metric: Metric) -> int:
    """Return how many trials of a problem show how its value varies with sampling."""
    return max(part.trials_for_noise(metric.k) for part in metric.parts)


def noise_moments(metric: Metric, means: Sequence[float], rows: Floats) -> tuple[Floats, Floats]:
    """Return variance and third moment of the value of problems with these scores, in order.

    Both are unbiased for the mean score. Two trials show no third moment.
    """
    parts = [part.pseudo_values(rows, metric.k).ravel() for part in metric.parts]
    pseudo = metric.linear(parts, means).reshape(rows.shape)
    n = rows.shape[1]
    away = pseudo - pseudo.mean(axis=1, keepdims=True)
    variance = (away**2).sum(axis=1) / (n - 1) / n
    if n < 3:
        return variance, np.zeros(len(rows))
    return variance, (away**3).sum(axis=1) / ((n - 1) * (n - 2) * n)
