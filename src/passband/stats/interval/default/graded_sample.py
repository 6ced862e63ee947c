"""The problems' values from graded scores, and what their kind allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.data.graded import ScoreGroup
from passband.stats.interval.default.carriers import carriers
from passband.stats.interval.default.cluster_notes import clusters_of
from passband.stats.interval.default.cluster_spread import kish_number
from passband.stats.interval.default.graded_noise import TrialNoise, trials_for_noise
from passband.stats.interval.default.shared_counts import SharedCounts, share_out
from passband.stats.interval.request import IntervalRequest
from passband.stats.tolerance import ROUNDING, ROUNDING_DIGITS
from passband.types import Floats, Ints

__all__ = ["GradedSample"]

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
        """How many problems carry the spread of the values."""
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
        """The number of problems, or what the clusters are worth."""
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
        """How close all scores are to 0 and 1: 1 if none lies between, soon 0 otherwise."""
        return float(self.request.outcomes.required_graded().coin_share ** _SHARPNESS)

    @cached_property
    def noise(self) -> TrialNoise:
        """The noise of sampling, of the problems with enough trials to show it."""
        groups = self.groups if self.noisy is None else self.noisy
        return TrialNoise.of(groups, self.request.metric, self.request.means)

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
