"""The default interval over clusters, such as the questions about one text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.cluster_notes import clusters_of
from passband.stats.interval.default.cluster_spread import ClusterSpread, cluster_spread
from passband.stats.interval.default.wilson import (
    Ends,
    between_ends,
    level_of,
    normal_quantile,
    roots,
    student_quantile,
)
from passband.stats.interval.fit.mixture import Mixture
from passband.types import Floats, Ints

__all__ = ["ClusteredValues", "Expected", "cluster_values", "expected_of", "over_clusters"]

_LEAST = 1e-13
_EXTRA = 2.0  # clusters added in the image of the fitted problems, so that the spread is not zero


@dataclass(frozen=True)
class Expected:
    """What a fit says of one further problem: moments of its value, and the noise of the mean."""

    centre: float  # the mean of the observed problems and of a few further ones
    second: float  # moments of a further problem around the centre
    third: float
    alone: float  # variance of the mean over problems, were there no clusters


@dataclass(frozen=True, eq=False)
class ClusteredValues:
    """A value in [0, 1] of each problem, and the cluster that it belongs to (0, 1, ...)."""

    values: Floats
    codes: Ints

    def ends(self, expected: Expected, level: float, reach: float | None = None) -> Ends:
        """Return the outer ends of two intervals: by sums of clusters, and by Kish's number.

        A single cluster does not show how clusters differ. Then all but the chance that the level
        leaves may lie at either end of the scale.
        """
        mean = np.asarray(self.values.mean())
        z = normal_quantile(level) if reach is None else reach
        spread = cluster_spread(self.values, self.codes)
        by_sums = self._by_sums(expected, mean, z)
        if spread.clusters == 1:
            missed = 1.0 - (1.0 - level_of(z)) / 2.0
            whole = Ends(mean * (1.0 - missed), mean + missed * (1.0 - mean), by_sums.se)
            return whole.containing(mean)
        ends = _by_number(spread, expected, mean, z)
        low, high = np.minimum(by_sums.low, ends.low), np.maximum(by_sums.high, ends.high)
        return Ends(low, high, np.maximum(by_sums.se, ends.se)).containing(mean)

    def _by_sums(self, expected: Expected, mean: Floats, z: float) -> Ends:
        """Return ends from the clusters' sums of deviations, as if they were of equal size.

        Two clusters are added whose problems are independent draws from the fit, so that the
        spread is never zero, and it is never less than if there were no clusters.
        """
        sums = np.bincount(self.codes, weights=self.values - mean)
        count, problems = float(len(sums)), float(len(self.values))
        size = problems / count
        square = float(sums @ sums) + _EXTRA * size**2 * expected.second
        correction = count / max(count - 1.0, 1.0) * count / (count + _EXTRA)
        variance = max(correction * square / problems**2, expected.alone, _LEAST)
        share = _share(count * variance, expected.centre)
        third = float((sums**3).sum()) + _EXTRA * size**3 * expected.third
        tilt = third / max(square * size, _LEAST)
        q = z + (student_quantile(level_of(z), max(count - 1.0, 1.0)) - z) * (1.0 - share)
        wilson = _wilson(mean, share, q, count)
        skewed = roots(mean, np.asarray(count * variance), np.asarray(tilt), share, q, count)
        low, high = between_ends(wilson, skewed, 0.5)
        return Ends(low, high, np.sqrt(np.asarray(variance)))


def _by_number(spread: ClusterSpread, expected: Expected, mean: Floats, z: float) -> Ends:
    """Return Wilson's ends for as many equal clusters as these are worth."""
    variance = max(spread.variance, expected.alone, _LEAST)
    share = _share(spread.effective * variance, expected.centre)
    q = student_quantile(level_of(z), spread.freedom)
    low, high = _wilson(mean, share, q, spread.effective)
    return Ends(low, high, np.sqrt(np.asarray(variance)))


def _share(variance: float, centre: float) -> float:
    """Return a variance as a share of that of a coin with this mean."""
    return min(1.0, variance / max(centre * (1.0 - centre), _LEAST))


def _wilson(mean: Floats, share: float, q: float, count: float) -> tuple[Floats, Floats]:
    return roots(mean, share * mean * (1 - mean), share * (1 - 2 * mean), share, q, count)


def over_clusters(
    outcomes: Outcomes,
    mixture: Mixture,
    values: Floats,
    k: int,
    level: float,
    reach: float | None = None,
) -> Ends:
    """Return the interval for clusters like these, values being scaled to [0, 1]."""
    expected = expected_of(mixture, values)
    return cluster_values(outcomes, mixture, values, k).ends(expected, level, reach)


def expected_of(mixture: Mixture, values: Floats) -> Expected:
    """Return what the fit says of one further problem, values being scaled to [0, 1]."""
    problems = float(mixture.counts.sum())
    distribution = (mixture.counts + 2.0 * mixture.predictive) / (problems + 2.0)
    centre = float(distribution @ values)
    return Expected(
        centre,
        float(mixture.predictive @ (values - centre) ** 2),
        float(mixture.predictive @ (values - centre) ** 3),
        float(distribution @ (values - centre) ** 2) / max(problems - 1.0, 1.0),
    )


def cluster_values(outcomes: Outcomes, mixture: Mixture, values: Floats, k: int) -> ClusteredValues:
    """Return the value of each problem with at least k trials, and its cluster."""
    enough = outcomes.trials >= max(k, 1)
    successes = outcomes.required_successes()[enough]
    place = mixture.grid.places(outcomes.trials[enough], successes)
    return ClusteredValues(values[place], clusters_of(outcomes, k))
