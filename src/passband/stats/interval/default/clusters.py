"""The default interval over clusters, such as the questions about one text, and its notes.

With clusters of unequal size, a few large ones carry the mean. What counts is then not how many
clusters there are but Kish's number, (sum of sizes)^2 / (sum of squared sizes): the number of equal
clusters that would give a mean as precise.

Two estimates of the variance are averaged. One splits it into a part between clusters and a part
within them (analysis of variance) and puts it together again for these sizes; it is steady, but
takes the spread between clusters to be the same for large and small ones. The other is the
jackknife, which leaves out one cluster at a time; it assumes nothing of the kind, and is too small
where one cluster holds most of the problems. Notes say if clusters are too few, one outweighs the
rest, or values go with size.

`carriers` is the number of problems that the spread rests on, with or without clusters. A spread
that a few problems far from the rest make up is known about as well as that of so few problems,
however many there are. Their number is M m_2^2 / m_4, with the central moments of the values: M
over the kurtosis. It is M where all are equally far from the mean, and 1 where a single one is.
What is too few was chosen by measured coverage (docs/measured.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.notes import Note
from passband.stats.checks import ROUNDING, Over
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
from passband.stats.interval.notes import RELIABLE_CLUSTERS, few_clusters, one_cluster
from passband.stats.interval.request import IntervalRequest
from passband.types import Floats, Ints


@dataclass(frozen=True)
class ClusterSpread:
    """Variance of a mean over clustered problems, with its degrees of freedom."""

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
    """Return the equivalent number of equal clusters (Kish).

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


_CHANCE = 0.01  # of the note on clusters whose values have nothing to do with their size
_FEWEST = 4  # clusters; through fewer points nearly any line fits


@dataclass(frozen=True)
class SizeEffect:
    """Relation of cluster means to cluster sizes."""

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
    """Relate cluster means to sizes; None if the data cannot show it.

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
    from passband.stats.special import stdtr

    rest = max(1.0 - correlation**2, 1e-300)
    return 2.0 * float(stdtr(freedom, -abs(correlation) * (freedom / rest) ** 0.5))


_LEAST = 1e-13
_EXTRA = 2.0  # clusters added in the image of the fitted problems, so that the spread is not zero


@dataclass(frozen=True)
class ExpectedProblem:
    """Predicted moments of one further problem's value, and the noise of the mean."""

    centre: float  # the mean of the observed problems and of a few further ones
    second: float  # moments of a further problem around the centre
    third: float
    alone: float  # variance of the mean over problems, were there no clusters


@dataclass(frozen=True, eq=False)
class ClusteredValues:
    """A value in [0, 1] of each problem, and the cluster that it belongs to (0, 1, ...)."""

    values: Floats
    codes: Ints

    def ends(self, expected: ExpectedProblem, level: float, reach: float | None = None) -> Ends:
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

    def _by_sums(self, expected: ExpectedProblem, mean: Floats, z: float) -> Ends:
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


def _by_number(spread: ClusterSpread, expected: ExpectedProblem, mean: Floats, z: float) -> Ends:
    """Return Wilson's ends for as many equal clusters as these are worth."""
    variance = max(spread.variance, expected.alone, _LEAST)
    share = _share(spread.effective * variance, expected.centre)
    q = student_quantile(level_of(z), spread.freedom)
    low, high = _wilson(mean, share, q, spread.effective)
    return Ends(low, high, np.sqrt(np.asarray(variance)))


def _share(variance: float, centre: float) -> float:
    """Return a variance relative to a coin with this mean."""
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


def expected_of(mixture: Mixture, values: Floats) -> ExpectedProblem:
    """Return the fit's prediction for one further problem, values scaled to [0, 1]."""
    problems = float(mixture.counts.sum())
    distribution = (mixture.counts + 2.0 * mixture.predictive) / (problems + 2.0)
    centre = float(distribution @ values)
    return ExpectedProblem(
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


_ENOUGH: dict[Over, tuple[float, float]] = {  # carriers, and their share of all problems
    "problems": (4.0, 1.0 / 12.0),
    "trials": (7.0, 1.0 / 20.0),
}


def carriers(values: Floats, weights: Floats, problems: float) -> float:
    """Return the effective number of problems behind the spread; `weights` scale values.

    >>> round(carriers(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 30))
    30
    >>> round(carriers(np.array([0.0, 1.0]), np.array([0.99, 0.01]), 100), 2)
    1.02
    """
    away = np.where(weights > 0.0, values - weights @ values, 0.0)
    largest = float(np.abs(away).max())
    if largest == 0.0:
        return 0.0
    square = (away / largest) ** 2  # whose square may be too small for a number
    return problems * float(weights @ square) ** 2 / float(weights @ square**2)


def are_few(carrying: float, problems: float, over: Over) -> bool:
    """Return whether an interval that rests on as many carriers may well be too short.

    Of few problems the intervals are wide enough all the same, unless next to none carries
    anything.
    """
    enough, share = _ENOUGH[over]
    return carrying < min(enough, share * problems)


def tied_to_size(correlation: float, over_clusters: float, over_problems: float) -> Note:
    """Return the note on clusters whose values go along with their sizes.

    >>> print(tied_to_size(-0.62, 0.551, 0.412))
    larger clusters have lower values (correlation -0.62 with the logarithm of size): the mean is \
0.412 over problems and 0.551 over clusters; which is meant matters, and the interval of the first \
may be short
    """
    direction = "higher" if correlation > 0 else "lower"
    return Note(
        "tied-to-size",
        f"larger clusters have {direction} values (correlation {correlation:.2f} with the "
        f"logarithm of size): the mean is {over_problems:.3g} over problems and "
        f"{over_clusters:.3g} over clusters; which is meant matters, and the interval of the first "
        "may be short",
    )
