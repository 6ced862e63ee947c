"""Notes on clusters: too few of them, one that outweighs the rest, or values tied to their size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.notes import RELIABLE_CLUSTERS, Note, few_clusters, one_cluster, tied_to_size
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.cluster_spread import kish_number, precision_weights
from passband.stats.interval.request import IntervalRequest
from passband.stats.tolerance import ROUNDING
from passband.types import Floats, Ints

__all__ = ["SizeEffect", "cluster_notes", "clusters_of", "few_by_kish", "size_effect"]

_CHANCE = 0.01  # of the note on clusters whose values have nothing to do with their size
_FEWEST = 4  # clusters; through fewer points nearly any line fits


@dataclass(frozen=True)
class SizeEffect:
    """How the mean of a cluster goes along with its size."""

    correlation: float  #: of the clusters' means with the logarithm of their sizes, by precision
    p_value: float  #: the chance of as much if there were nothing between them
    over_clusters: float  #: the mean of the clusters' means, each counting once
    over_problems: float  #: the mean of all problems


def cluster_notes(request: IntervalRequest) -> list[Note]:
    """Return the notes on the clusters that an interval over problems rests on."""
    if request.over == "trials" or not request.outcomes.is_clustered:
        return []
    codes = clusters_of(request.outcomes, request.k)
    if len(codes) < 2:
        return []
    notes = few_by_kish(codes)
    if request.metric.has_zero_factor(request.means or (1.0,)):
        return notes
    parts = request.metric.by_problem(request.outcomes)
    means = request.means or tuple(parts.mean(axis=0))
    effect = size_effect(request.metric.linear(list(parts.T), means), codes)
    if effect is None or effect.p_value >= _CHANCE:
        return notes
    numbers = (effect.correlation, effect.over_clusters, effect.over_problems)
    return [*notes, tied_to_size(*numbers)]


def few_by_kish(codes: Ints) -> list[Note]:
    """Return the note on fewer clusters than an interval needs, unequal ones by Kish's number."""
    sizes = np.bincount(codes).astype(np.float64)
    if len(sizes) == 1:
        return [one_cluster(len(codes))]
    effective = kish_number(sizes)
    if round(effective) >= RELIABLE_CLUSTERS:
        return []
    return [few_clusters(len(sizes), effective)]


def clusters_of(outcomes: Outcomes, k: int) -> Ints:
    """Return the cluster of each problem with at least k trials, by number; worked out once."""
    key = ("clusters", k if k > int(outcomes.trials.min()) else 1)
    if key not in outcomes.memo:
        outcomes.memo[key] = outcomes.cluster_codes(outcomes.trials >= max(k, 1))
    codes: Ints = outcomes.memo[key]
    return codes


def size_effect(values: Floats, codes: Ints) -> SizeEffect | None:
    """Return how clusters' means go along with their sizes; None where nothing can show it.

    The clusters count by the precision of their means, so that the scatter of small ones is not
    taken for an effect. The p-value is that of Student's t for a correlation.
    """
    sizes = np.bincount(codes).astype(np.float64)
    if len(sizes) < _FEWEST or sizes.min() == sizes.max():
        return None
    means = np.bincount(codes, weights=values) / sizes
    if np.ptp(means) <= ROUNDING * np.abs(means).max():
        return None
    correlation = _correlation(means, np.log(sizes), precision_weights(values, codes))
    return SizeEffect(
        correlation,
        _p_value(correlation, len(sizes) - 2.0),
        float(means.mean()),
        float(values.mean()),
    )


def _correlation(first: Floats, second: Floats, weights: Floats) -> float:
    away = [column - weights @ column for column in (first, second)]
    spread = np.sqrt((weights @ away[0] ** 2) * (weights @ away[1] ** 2))
    return float(weights @ (away[0] * away[1]) / spread) if spread > 0.0 else 0.0


def _p_value(correlation: float, freedom: float) -> float:
    from scipy.special import stdtr

    rest = max(1.0 - correlation**2, 1e-300)
    return 2.0 * float(stdtr(freedom, -abs(correlation) * (freedom / rest) ** 0.5))
