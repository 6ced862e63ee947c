"""How much a mean over problems varies if whole clusters of them are drawn, of any sizes.

With clusters of unequal size, a few large ones carry the mean. What counts is then not how many
clusters there are but Kish's number, (sum of sizes)^2 / (sum of squared sizes): the number of equal
clusters that would give a mean as precise.

Two estimates of the variance are averaged. One splits it into a part between clusters and a part
within them (analysis of variance) and puts it together again for these sizes; it is steady, but
takes the spread between clusters to be the same for large and small ones. The other is the
jackknife, which leaves out one cluster at a time; it assumes nothing of the kind, and is too small
where one cluster holds most of the problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.types import Floats, Ints

__all__ = ["ClusterSpread", "cluster_spread", "kish_number", "precision_weights"]


@dataclass(frozen=True)
class ClusterSpread:
    """The variance of a mean over clustered problems, and how well it is known."""

    clusters: int
    effective: float  #: Kish's number of clusters
    variance: float  #: of the mean over problems
    freedom: float  #: degrees of freedom that the variance is worth


def cluster_spread(values: Floats, codes: Ints) -> ClusterSpread:
    """Return the spread of the mean of values, `codes` being the cluster of each (0, 1, ...).

    One cluster shows no spread: its variance is 0, with one degree of freedom.

    >>> values = np.array([0.0, 0.2, 1.0, 0.8, 0.4, 0.6])
    >>> even = cluster_spread(values, np.array([0, 0, 1, 1, 2, 2]))
    >>> even.clusters, round(even.effective, 6), round(even.variance, 6)
    (3, 3.0, 0.053333)
    """
    sizes = np.bincount(codes).astype(np.float64)
    effective = kish_number(sizes)
    if len(sizes) < 2:
        return ClusterSpread(len(sizes), effective, 0.0, 1.0)
    away = values - values.mean()
    sums: Floats = np.bincount(codes, weights=away).astype(np.float64)
    means = sums / sizes
    within = _within(away, codes, means)
    weights = _precision(sizes, means, within)
    between = _between(sizes, means, within, weights)
    share = sizes / sizes.sum()
    split = float(share**2 @ (between + within / sizes))
    freedom = (max(1.0 / float(weights @ weights) - 1.0, 1.0) + max(effective - 1.0, 1.0)) / 2.0
    return ClusterSpread(
        len(sizes), effective, (split + _jackknife(sizes, sums)) / 2.0, max(freedom, 1.0)
    )


def kish_number(sizes: Floats) -> float:
    """Return how many equal clusters are worth as much as clusters of these sizes.

    >>> kish_number(np.array([5.0, 5.0])), round(kish_number(np.array([50.0] + [3.0] * 19)), 1)
    (2.0, 4.3)
    """
    return float(sizes.sum() ** 2 / (sizes @ sizes))


def precision_weights(values: Floats, codes: Ints) -> Floats:
    """Return for each cluster how much its mean should count, the more the less it scatters."""
    sizes = np.bincount(codes).astype(np.float64)
    away = values - values.mean()
    means = np.bincount(codes, weights=away) / sizes
    return _precision(sizes, means, _within(away, codes, means))


def _within(values: Floats, codes: Ints, means: Floats) -> float:
    """Return the variance of values within their clusters; 0 where every cluster has one value."""
    return float(((values - means[codes]) ** 2).sum()) / max(len(values) - len(means), 1)


def _jackknife(sizes: Floats, sums: Floats) -> float:
    """Return the variance of the mean by leaving out one cluster at a time."""
    count = len(sizes)
    moved = sums / (sizes.sum() - sizes)
    return float(moved @ moved) * (count - 1) / count


def _precision(sizes: Floats, means: Floats, within: float) -> Floats:
    """Return the weights under which a mean of cluster means would be the most precise."""
    total, count = float(sizes.sum()), len(sizes)
    if count == 1:
        return np.ones(1)
    typical = (total - float(sizes @ sizes) / total) / (count - 1)
    among = float(sizes @ means**2) / (count - 1)  # the means are deviations from the overall mean
    between = max(among - within, 0.0) / typical
    noise = between + within / sizes
    # Where nothing varies at all, every cluster is as good as any other.
    weights: Floats = 1.0 / noise if noise.min() > 0.0 else np.ones(count)
    return weights / float(weights.sum())


def _between(sizes: Floats, means: Floats, within: float, weights: Floats) -> float:
    """Return the variance between clusters, by the squares of their means under the weights."""
    away = means - weights @ means
    rest = weights * (1.0 - weights)
    excess = float(weights @ away**2) - within * float((rest / sizes).sum())
    return max(excess / float(rest.sum()), 0.0)
