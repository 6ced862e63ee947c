"""Graded scores as values of problems, with their noise and their share among counts.

`GradedNoise` measures the noise of sampling within the problems themselves. A problem's value
varies by the variance of its trials' scores over their number; the best of k by the jackknife's
pseudo-values, which take the place of scores. Problems differ in noise, so the mean of these
variances is worth fewer degrees of freedom than there are trials (Satterthwaite), and the third
moments tilt the interval.

`SharedCounts` splits scores between 0 and 1 among the nearest counts of successes. Four trials that
score 0.7 in all count as 0.3 problems without a success and 0.7 problems with one: the mean is
kept, the spread grows a little. Scores that come ever closer to 0 and 1 come ever closer to their
own counts, so whatever is worked out from the shares agrees with the intervals of scores of 0 and 1
where the two kinds meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.checks import ROUNDING, ROUNDING_DIGITS
from passband.stats.data.graded import ScoreGroup
from passband.stats.interval.default.clusters import carriers, clusters_of, kish_number
from passband.stats.interval.default.wilson import Ends, outer_ends, roots, student_quantile
from passband.stats.interval.fit.count_grid import grid_for
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class GradedNoise:
    """The noise of each problem's value, of the problems with enough trials to show it."""

    variance: Floats
    third: Floats  # third central moments of the values
    trials: Floats

    @staticmethod
    def of(groups: Sequence[ScoreGroup], metric: Metric, means: Sequence[float]) -> GradedNoise:
        least = trials_for_noise(metric)
        rows = [group.ordered for group in groups if group.n >= least]
        parts = [noise_moments(metric, means, scores) for scores in rows]
        empty = np.empty(0)
        return GradedNoise(
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
    """Return the fewest trials that show the sampling noise of a problem's value."""
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


_MOST_PAIRS = 600  # beyond, numbers of trials that are within a fifth of each other are joined
_MOST_TRIALS = 2_000  # beyond, no shares are made: the scores speak for themselves
_STEP = 1.2

ValuesAt = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """The fit to shares of problems at each pair (n, c), and the value of a problem there."""

    mixture: Mixture
    values: Floats

    def variance(self, mean: float) -> float:
        """Return the mean squared distance of the shares from the mean."""
        counts = self.mixture.counts
        return float(counts @ (self.values - mean) ** 2 / counts.sum())

    def expected_variance(self, mean: float) -> float:
        """Return the expected squared distance from the mean of one further problem."""
        return float(self.mixture.predictive @ (self.values - mean) ** 2)


def share_out(
    groups: Sequence[ScoreGroup], values: Floats, values_at: ValuesAt
) -> SharedCounts | None:
    """Share out problems, in the order of the groups, by their values on the scale of [0, 1].

    None where problems have too many trials for the tables of a fit.
    """
    if groups[-1].n > _MOST_TRIALS:
        return None
    grid = grid_for(_joined_trials([group.n for group in groups]))
    at_pairs = values_at(grid.trials, grid.successes)
    counts, start = np.zeros(len(grid.trials)), 0
    for group in groups:
        place = int(np.searchsorted(grid.ns, group.n, side="right")) - 1
        n, first = grid.ns[place], int(grid.starts[place])
        cells = slice(first, first + n + 1)
        sums = group.ordered.mean(axis=1) * n
        part = values[start : start + len(sums)]
        counts[cells] += _shares(part, sums, np.maximum.accumulate(at_pairs[cells]))
        start += len(sums)
    return SharedCounts(fit_mixture(grid, counts), at_pairs)


def _joined_trials(ns: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of trials; of very many different ones, some that are near to all."""
    if sum(ns) + len(ns) <= _MOST_PAIRS:
        return tuple(ns)
    kept = [ns[0]]
    for n in ns[1:]:
        if n >= _STEP * kept[-1]:
            kept.append(n)
    return tuple(kept)


def _shares(values: Floats, sums: Floats, at_counts: Floats) -> Floats:
    """Split problems among counts of successes, by linear interpolation.

    Several counts may have the largest value, such as all but 0 for the best of n. Which of them a
    problem falls to is decided by the sum of its scores.
    """
    n = len(at_counts) - 1
    level, first = np.unique(np.round(at_counts, ROUNDING_DIGITS), return_index=True)
    if len(level) == 1:
        return _between_counts(np.clip(sums, 0.0, n), np.ones(len(values)), n)
    above = np.clip(np.searchsorted(level, values), 1, len(level) - 1)
    step = level[above] - level[above - 1]
    up = np.clip((values - level[above - 1]) / step, 0.0, 1.0)
    shares = np.bincount(first[above - 1], weights=1.0 - up, minlength=n + 1)
    top = above == len(level) - 1
    shares += np.bincount(first[above[~top]], weights=up[~top], minlength=n + 1)
    return shares + _between_counts(np.clip(sums[top], first[-1], n), up[top], n)


def _between_counts(sums: Floats, weights: Floats, n: int) -> Floats:
    """Share out problems between the two whole numbers of successes next to their sums."""
    below = np.minimum(sums.astype(np.int64), max(n - 1, 0))
    up = sums - below
    shares: Floats = np.bincount(below, weights=weights * (1.0 - up), minlength=n + 1).astype(float)
    return shares + np.bincount(below + 1, weights=weights * up, minlength=n + 1)[: n + 1]


_SHARPNESS = 6.0  # how close to 0 and 1 scores must be to be taken for successes and failures
_MANY_PROBLEMS = 10_000  # by their share in the spread


@dataclass(frozen=True, eq=False)
class GradedSample:
    """One value per problem with k trials, on the scale of [0, 1] if the scores are bounded."""

    request: IntervalRequest
    groups: tuple[ScoreGroup, ...]  # of problems with at least k trials, fewest trials first
    values: Floats  # in the order of the groups
    noisy: tuple[ScoreGroup, ...] | None = (
        None  # the problems that the noise is measured on, if not all
    )

    @staticmethod
    def of(request: IntervalRequest) -> GradedSample:
        """Take the problems that count; a blend is replaced by its linear part."""
        graded, k = request.outcomes.required_graded(), request.k
        groups = tuple(group for group in graded.groups if group.n >= max(k, 1))
        parts = [part.of_graded(graded, k) for part in request.metric.parts]
        values = request.metric.linear(parts, request.means)
        return GradedSample(request, groups, values)

    @cached_property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.request.range()).all())

    @cached_property
    def sign(self) -> int:
        """1 if no score is below 0, -1 if none is above, 0 if there are both.

        Where the scale is stated, it says which scores there can be, and not those that were drawn.
        Where it is not, 0 and one other score may be rewards and penalties one of which is missing.
        """
        scale = self.request.outcomes.scale
        least, most = self.request.outcomes.required_graded().extremes
        if scale.is_known:
            least = -np.inf if scale.low is None else scale.low
            most = np.inf if scale.high is None else scale.high
        elif self._has_two_levels:
            return 0
        if self.values.min() >= 0.0 <= least:
            return 1
        return -1 if self.values.max() <= 0.0 >= most else 0

    @property
    def _has_two_levels(self) -> bool:
        """Whether all scores are 0 or the same other number."""
        scores = self.request.outcomes.required_graded().values
        seen = scores[scores != 0.0]
        return bool(len(seen) < len(scores) and (seen == seen[:1]).all())

    @property
    def problems(self) -> int:
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        return float(self.values.mean())

    @cached_property
    def is_constant(self) -> bool:
        """Whether all problems have the same value, but for rounding."""
        largest = float(np.abs(self.values).max())
        return bool(np.abs(self.values - self.mean).max() <= ROUNDING * largest)

    @cached_property
    def carriers(self) -> float:
        """Effective number of problems behind the spread of values."""
        return carriers(self.values, np.full(self.problems, 1.0 / self.problems), self.problems)

    @cached_property
    def codes(self) -> Ints | None:
        """The cluster of each problem, in the order of the groups; None without clusters."""
        if not self.request.outcomes.is_clustered or self.request.over == "trials":
            return None
        order = np.concatenate([group.problem for group in self.groups])
        rank = np.argsort(np.argsort(order))
        codes: Ints = clusters_of(self.request.outcomes, self.request.k)[rank]
        return codes

    @property
    def units(self) -> float:
        """Number of problems, or the effective number of clusters."""
        if self.codes is None:
            return float(self.problems)
        return kish_number(np.bincount(self.codes).astype(np.float64))

    @cached_property
    def scaled(self) -> Floats:
        """The values on the scale of [0, 1], which bounded scores have."""
        low, high = self.request.range()
        return (self.values - low) / (high - low)

    @cached_property
    def shared(self) -> SharedCounts | None:
        """The problems shared out among counts of successes, which bounded scores allow.

        None where it would add nothing: a spread that rests on many problems is well known.
        """
        away = self.scaled - self.scaled.mean()
        square = away @ away
        if square**2 > _MANY_PROBLEMS * float(away**2 @ away**2):
            return None
        low, high = self.request.range()

        def at(trials: Ints, successes: Ints) -> Floats:
            parts = [
                part.at(trials, successes, self.request.k) for part in self.request.metric.parts
            ]
            linear = self.request.metric.linear(parts, self.request.means)
            return (linear - low) / (high - low)

        return share_out(self.groups, self.scaled, at)

    @cached_property
    def closeness(self) -> float:
        """Closeness of all scores to 0 and 1: 1 if none lies between, soon 0 otherwise."""
        return float(self.request.outcomes.required_graded().coin_share ** _SHARPNESS)

    @cached_property
    def noise(self) -> GradedNoise:
        """The noise of sampling, of the problems with enough trials to show it."""
        groups = self.groups if self.noisy is None else self.noisy
        return GradedNoise.of(groups, self.request.metric, self.request.means)

    @cached_property
    def measured(self) -> int:
        """The number of problems with enough trials to show the noise of sampling."""
        least = trials_for_noise(self.request.metric)
        return sum(len(group.problem) for group in self.groups if group.n >= least)

    def informative(self, enough: int) -> int:
        """Return the number of problems that differ from the commonest value, or `enough` of them.

        If that many of some problems do, then at least as many of all of them do.
        """
        for step in (max(self.problems // 1_000, 1), 1):
            some = self.values[::step]
            size = 2.0 ** float(np.frexp(np.abs(some).max())[1])
            _, counts = np.unique(np.round(some / size, ROUNDING_DIGITS), return_counts=True)
            differing = len(some) - int(counts.max())
            if differing >= enough:
                return enough
        return differing
