"""The problems' values from graded scores, and what their kind allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.data.graded import ScoreGroup
from passband.stats.interval.default.cluster_notes import clusters_of
from passband.stats.interval.default.graded_noise import TrialNoise
from passband.stats.interval.default.shared_counts import SharedCounts, share_out
from passband.stats.interval.request import IntervalRequest
from passband.stats.tolerance import ROUNDING, ROUNDING_DIGITS
from passband.types import Floats, Ints

__all__ = ["GradedSample"]

_SHARPNESS = 6.0  # how close to 0 and 1 scores must be to be taken for successes and failures


@dataclass(frozen=True, eq=False)
class GradedSample:
    """One value per problem with k trials, on the scale of [0, 1] if the scores are bounded."""

    request: IntervalRequest
    groups: tuple[ScoreGroup, ...]  # of problems with at least k trials, fewest trials first
    values: Floats  # in the order of the groups

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
        """1 if no score is below 0, -1 if none is above, 0 if there are both."""
        scores = self.request.outcomes.required_graded().values
        if self.values.min() >= 0.0 <= scores.min():
            return 1
        return -1 if self.values.max() <= 0.0 >= scores.max() else 0

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
    def codes(self) -> Ints | None:
        """The cluster of each problem, in the order of the groups; None without clusters."""
        if not self.request.outcomes.is_clustered or self.request.over == "trials":
            return None
        order = np.concatenate([group.problem for group in self.groups])
        rank = np.argsort(np.argsort(order))
        codes: Ints = clusters_of(self.request.outcomes, self.request.k)[rank]
        return codes

    @cached_property
    def scaled(self) -> Floats:
        """The values on the scale of [0, 1], which bounded scores have."""
        low, high = self.request.range()
        return (self.values - low) / (high - low)

    @cached_property
    def shared(self) -> SharedCounts | None:
        """The problems shared out among counts of successes, which bounded scores allow."""
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
        scores = self.request.outcomes.required_graded().values
        mean = float(scores.mean())
        coin = mean * (1.0 - mean)
        between = float((scores * (1.0 - scores)).mean())
        return max(1.0 - between / coin, 0.0) ** _SHARPNESS if coin > 0.0 else 0.0

    @cached_property
    def noise(self) -> TrialNoise:
        """The noise of sampling, of the problems with enough trials to show it."""
        return TrialNoise.of(self.groups, self.request.metric, self.request.means)

    def informative(self) -> int:
        """Return the number of problems that differ from the commonest value."""
        size = 2.0 ** float(np.frexp(np.abs(self.values).max())[1])
        _, counts = np.unique(np.round(self.values / size, ROUNDING_DIGITS), return_counts=True)
        return self.problems - int(counts.max())
