"""The default interval over clusters, such as the questions about one text."""

from __future__ import annotations

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.wilson import (
    Ends,
    between_ends,
    level_of,
    normal_quantile,
    roots,
    student_quantile,
)
from passband.stats.interval.fit.mixture import Mixture
from passband.types import Floats

__all__ = ["cluster_sums", "over_clusters"]

_LEAST = 1e-13
_EXTRA = 2.0  # clusters added in the image of the fitted problems, so that the spread is not zero


def over_clusters(
    outcomes: Outcomes,
    mixture: Mixture,
    values: Floats,
    k: int,
    level: float,
    reach: float | None = None,
) -> Ends:
    """Return the interval for clusters like these, values being scaled to [0, 1].

    The variance is that of the clusters' sums of deviations, with two clusters added whose
    problems are independent draws from the fit, and never less than if there were no clusters.
    """
    problems = float(mixture.counts.sum())
    mean = mixture.counts @ values / problems
    sums, count = cluster_sums(outcomes, mixture, values - mean, k)
    size = problems / count
    distribution = (mixture.counts + 2.0 * mixture.predictive) / (problems + 2.0)
    centre = distribution @ values
    second = float(mixture.predictive @ (values - centre) ** 2)
    third = float(mixture.predictive @ (values - centre) ** 3)
    square = float((sums**2).sum()) + _EXTRA * size**2 * second
    correction = count / max(count - 1.0, 1.0) * count / (count + _EXTRA)
    alone = float(distribution @ (values - centre) ** 2) / max(problems - 1.0, 1.0)
    variance = max(correction * square / problems**2, alone, _LEAST)
    share = min(1.0, count * variance / max(float(centre * (1.0 - centre)), _LEAST))
    tilt = (float((sums**3).sum()) + _EXTRA * size**3 * third) / max(square * size, _LEAST)
    z = normal_quantile(level) if reach is None else reach
    q = z + (student_quantile(level_of(z), max(count - 1.0, 1.0)) - z) * (1.0 - share)
    wilson = roots(mean, share * mean * (1 - mean), share * (1 - 2 * mean), share, q, count)
    skewed = roots(mean, np.asarray(count * variance), np.asarray(tilt), share, q, count)
    low, high = between_ends(wilson, skewed, 0.5)
    return Ends(low, high, np.sqrt(np.asarray(variance))).containing(mean)


def cluster_sums(
    outcomes: Outcomes, mixture: Mixture, deviations: Floats, k: int
) -> tuple[Floats, float]:
    """Return the sum of deviations of each cluster, and the number of clusters."""
    enough = outcomes.trials >= max(k, 1)
    successes = outcomes.required_successes()[enough]
    place = mixture.grid.places(outcomes.trials[enough], successes)
    weights = deviations[place]
    sums: Floats = np.bincount(outcomes.cluster_codes(enough), weights).astype(np.float64)
    return sums, float(len(sums))
