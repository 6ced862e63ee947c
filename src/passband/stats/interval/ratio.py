"""Ratios of two means over problems: of costs, and of cost to the share solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.spending import PER_SOLVED
from passband.stats.interval.default.wilson import student_quantile
from passband.types import Floats, Ints

__all__ = ["Ratio", "cost_per_solved", "ratio_of_means"]

_MOST_SKEWED = 6.0


@dataclass(frozen=True)
class Ratio:
    """A ratio of means with its interval over problems, or over clusters."""

    value: float
    low: float
    high: float
    se: float


def ratio_of_means(above: Floats, below: Floats, level: float, codes: Ints | None = None) -> Ratio:
    """Return mean(above) / mean(below) with an interval, both being one value per problem.

    With R the ratio, z = (above - R below) / mean(below) and t Student's quantile, the interval is
    the outer of R exp(-+ t sd(z) / (R sqrt M)) and of Johnson's, which follows the skewness of z.
    Johnson (1978), Journal of the American Statistical Association 73, 536-544.

    >>> ratio = ratio_of_means(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]), 0.95)
    >>> ratio.value, round(ratio.low, 6), round(ratio.high, 6)
    (2.0, 2.0, 2.0)
    """
    ratio = float(above.mean() / below.mean())
    z = (above - ratio * below) / below.mean()
    if codes is not None:  # a cluster's sum, on the scale of a problem
        sums = np.bincount(codes, weights=z)
        z = sums * len(sums) / len(z)
    count = len(z)
    if count < 2:
        raise NotEnoughData("a ratio of means needs two problems, or clusters, for an interval.")
    spread = float(z.std(ddof=1))
    if spread <= 1e-12 * abs(ratio):
        return Ratio(ratio, ratio, ratio, 0.0)
    t, se = float(student_quantile(level, count - 1.0)), spread / count**0.5
    factor = float(np.exp(min(t * se / ratio, 700.0)))
    low, high = ratio - _johnson(z, t) * se, ratio - _johnson(z, -t) * se
    return Ratio(ratio, max(min(ratio / factor, low), 0.0), max(ratio * factor, high), se)


def _johnson(z: Floats, quantile: float) -> float:
    """Return the quantile of the mean's studentized law, by Hall's cube root of its expansion."""
    away = z - z.mean()
    skewness = float((away**3).mean() / (away**2).mean() ** 1.5)
    k = float(np.clip(skewness, -_MOST_SKEWED, _MOST_SKEWED)) / (6.0 * len(z) ** 0.5)
    if abs(k) < 1e-9:
        return quantile
    return float((np.cbrt(1.0 + 6.0 * k * (quantile - k)) - 1.0) / (2.0 * k))


def cost_per_solved(scored: Outcomes, costs: Outcomes, over: Over, level: float) -> Ratio:
    """Return the ratio of two means over the problems that have both a score and a cost."""
    if over != "problems":
        raise InvalidInput(f"{PER_SOLVED} has an interval over problems only.")
    successes = scored.required_successes()
    both = (scored.trials > 0) & (costs.trials > 0)
    graded = costs.required_graded()
    owner = np.repeat(np.arange(costs.n_problems), costs.trials)
    spent = np.bincount(owner, weights=graded.values, minlength=costs.n_problems)[both]
    mean_cost, solved = spent / costs.trials[both], successes[both] / scored.trials[both]
    if not solved.any():
        raise NotEnoughData(
            f"nothing was solved, so {PER_SOLVED} has no value; {spent.sum():g} was spent."
        )
    codes = None
    if scored.clusters is not None:
        clusters = np.array(scored.clusters)[both]
        codes = np.unique(clusters, return_inverse=True)[1]
    if not mean_cost.any():
        return Ratio(0.0, 0.0, 0.0, 0.0)
    return ratio_of_means(mean_cost, solved, level, codes)
