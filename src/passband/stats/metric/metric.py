"""A metric at one k: an average over problems, or a blend of several such averages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.components import ProblemValue, blend, values_by_problem, values_of
from passband.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Metric(ABC):
    """A metric at one k. Make a `MeanMetric` or a `BlendMetric`."""

    name: str
    k: int  # trials a problem must have
    parts: tuple[ProblemValue, ...]  # what is averaged over problems

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, ProblemValue):
                raise InvalidInput(
                    f"{self.name} must average values of class ProblemValue; got {part!r}."
                )

    @property
    @abstractmethod
    def is_mean(self) -> bool:
        """Whether the metric is an average over problems, so that each problem has a value."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest value there can be for scores of 0 and 1."""

    @abstractmethod
    def combined(self, means: Floats) -> Floats:
        """Return the metric from averages of its parts, which are the last axis."""

    @abstractmethod
    def has_zero_factor(self, means: Sequence[float]) -> bool:
        """Return whether the metric is a product with a factor of zero, and so has no slope."""

    @abstractmethod
    def linear(self, parts: Sequence[Floats], means: Sequence[float]) -> Floats:
        """Return one value per problem, with the metric as mean, from its parts' values."""

    @abstractmethod
    def gradient(self, totals: Floats) -> Floats:
        """Return the slopes of the metric along sums over problems.

        The last axis holds the sum of each part, and then the number of problems.
        """

    @abstractmethod
    def moments(self, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of the metric from those of the averages of its parts."""

    @abstractmethod
    def square_at(self, trials: Ints, successes: Ints) -> Floats | None:
        """Return an unbiased estimate of the squared latent value; None if there is none."""

    @property
    def is_score(self) -> bool:
        """Whether values are on the scores' scale rather than probabilities."""
        return self.is_mean and self.parts[0].is_score

    def on_scale(self, outcomes: Outcomes, *values: float) -> tuple[float, ...]:
        """Return values that were computed on upright outcomes as the scores have them.

        Two ends of an interval come back in order, cut to the scale that is stated.
        """
        if not self.is_score:
            return values
        scale = outcomes.range
        if scale.lower_is_better:
            values = tuple(map(scale.mirrored, values))[::-1]
        return tuple(map(outcomes.scale.clipped, values))

    def combine(self, means: Sequence[float]) -> float:
        """Return the metric from the averages of its parts."""
        return float(self.combined(np.asarray(means)))

    def value(self, outcomes: Outcomes) -> float:
        """Return the observed value, over the problems with at least k trials."""
        return self.combine(self.means(outcomes))

    def means(self, outcomes: Outcomes) -> list[float]:
        """Return the average of each part over the problems with at least k trials."""
        return [values_of(part, outcomes, self.k).mean() for part in self.parts]

    def by_problem(self, outcomes: Outcomes) -> Floats:
        """Return the parts of each problem with at least k trials, in order: a row per problem."""
        columns = [values_by_problem(part, outcomes, self.k) for part in self.parts]
        return np.stack(columns, axis=1)

    def latent(self, p: Floats) -> Floats:
        """Return the latent value of each part at success probabilities p: (parts, points)."""
        return np.stack([part.latent(p, self.k) for part in self.parts])


class MeanMetric(Metric):
    """The average over problems of one value per problem."""

    def __init__(self, name: str, k: int, part: ProblemValue) -> None:
        super().__init__(name, k, (part,))

    @property
    def part(self) -> ProblemValue:
        return self.parts[0]

    @property
    def is_mean(self) -> bool:
        return True

    @property
    def bounds(self) -> tuple[float, float]:
        return self.part.bounds

    def combined(self, means: Floats) -> Floats:
        return means[..., 0]

    def has_zero_factor(self, means: Sequence[float]) -> bool:
        return False

    def linear(self, parts: Sequence[Floats], means: Sequence[float]) -> Floats:
        return parts[0]

    def gradient(self, totals: Floats) -> Floats:
        problems = totals[..., -1]
        value = totals[..., 0] / problems
        return np.stack([1.0 / problems, -value / problems], axis=-1)

    def moments(self, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        return mean[..., 0], np.maximum(covariance[..., 0, 0], 0.0)

    def square_at(self, trials: Ints, successes: Ints) -> Floats | None:
        return self.part.square_at(trials, successes, self.k)


@dataclass(frozen=True, eq=False)
class BlendMetric(Metric):
    """A product of powers of averages, each over all problems and between 0 and 1."""

    powers: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.powers) != len(self.parts):
            raise InvalidInput(
                f"{self.name} needs a power for each of its {len(self.parts)} parts; "
                f"got {len(self.powers)}."
            )
        if min(self.powers) < 0.0:
            raise InvalidInput(f"{self.name} must not have negative powers; got {self.powers}.")
        for low, high in (part.bounds for part in self.parts):
            if low < 0.0 or high > 1.0:
                raise InvalidInput(
                    f"{self.name} must blend values between 0 and 1; got {low:g} to {high:g}."
                )

    @property
    def is_mean(self) -> bool:
        return False

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def combined(self, means: Floats) -> Floats:
        if np.min(means, initial=0.0) < -1e-9:  # more than the rounding of a difference of sums
            raise InvalidInput(f"{self.name} needs averages of at least 0; got {np.min(means):g}.")
        return blend(np.maximum(means, 0.0), self.powers)

    def has_zero_factor(self, means: Sequence[float]) -> bool:
        return min(means) == 0.0

    def linear(self, parts: Sequence[Floats], means: Sequence[float]) -> Floats:
        """Return the linear part of the blend around the means, per problem.

        It has the same mean and, to first order, the same spread. No mean may be zero.
        """
        value = self.combine(means)
        result: Floats = np.full(len(parts[0]), value)
        for part, mean, power in zip(parts, means, self.powers, strict=True):
            result = result + value * power / mean * (part - mean)
        return result

    def gradient(self, totals: Floats) -> Floats:
        parts, problems = totals[..., :-1], totals[..., -1]
        value = self.combined(parts / totals[..., -1:])
        powers = np.asarray(self.powers)
        slopes = powers * np.divide(value[..., None], parts, where=parts > 0, out=0.0 * parts)
        last = -(slopes * parts).sum(axis=-1) / problems
        return np.concatenate([slopes, last[..., None]], axis=-1)

    def moments(self, mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """Return the moments of a product of powers of jointly log-normal averages.

        Right to second order, and unable to leave the positive numbers.
        """
        power = np.asarray(self.powers)
        safe = np.maximum(mean, 1e-150)
        relative = covariance / (safe[..., :, None] * safe[..., None, :])
        spread = np.log(np.maximum(1.0 + relative, 1e-6))
        square = np.einsum("i,...ij,j->...", power, spread, power)
        own = np.einsum("...ii,i->...", spread, power)
        expected = self.combined(mean) * np.exp((square - own) / 2.0)
        return expected, expected**2 * np.expm1(square)

    def square_at(self, trials: Ints, successes: Ints) -> Floats | None:
        return None
