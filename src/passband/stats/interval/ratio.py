"""Ratios of two means over problems: of costs, and of cost to the share solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.spending import PER_SOLVED
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.notes import TAIL_MISSING, few_informative
from passband.types import Floats, Ints

_SKEWED = 0.08  # squared skewness over the number of units; and the skewness is at least 1
_ENOUGH_SOLVED, _FEW_SOLVED = 10, 5  # problems
_HIGHEST = 700.0  # whose exponential is still a number


@dataclass(frozen=True)
class Ratio:
    """A ratio of means with its interval over problems, or over clusters."""

    value: float
    low: float
    high: float
    se: float


def ratio_of_means(
    above: Floats,
    below: Floats,
    level: float,
    codes: Ints | None = None,
    *,
    is_share: bool = False,
) -> Ratio:
    """Return mean(above) / mean(below) with an interval, both being one value per problem.

    With R the ratio, z = (above - R below) / mean(below) and t Student's quantile, the ends are
    R exp(-+ t sd(z) / (R sqrt M)), or those of log-normal values where these are farther out.
    `is_share` says that the values below are shares, which are not log-normal.

    >>> ratio = ratio_of_means(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]), 0.95)
    >>> ratio.value, round(ratio.low, 6), round(ratio.high, 6)
    (2.0, 2.0, 2.0)
    """
    if codes is not None:
        above = np.bincount(codes, weights=above).astype(np.float64)
        below = np.bincount(codes, weights=below).astype(np.float64)
    ratio = float(above.mean() / below.mean())
    z = (above - ratio * below) / below.mean()
    count = len(z)
    if count < 2:
        raise NotEnoughData("a ratio of means needs two problems, or clusters, for an interval.")
    spread = float(z.std(ddof=1))
    if spread <= 1e-12 * abs(ratio):
        return Ratio(ratio, ratio, ratio, 0.0)
    se = spread / count**0.5
    reach = float(student_quantile(level, count - 1.0)) * se / ratio
    low, high = ratio * _exp(-reach), ratio * _exp(reach)
    ends = log_normal_ends(above, below, level, is_share=is_share)
    if ends is not None:
        low, high = min(low, ends[0]), max(high, ends[1])
    return Ratio(ratio, low, high, se)


def log_normal_ends(
    above: Floats, below: Floats, level: float, *, is_share: bool = False
) -> tuple[float, float] | None:
    """Return an interval for mean(above) / mean(below) of log-normal values; None where one is 0.

    With y and x the logarithms, v and u their variances, c their covariance and t Student's
    quantile, the ends are exp(mean y - mean x + (v - u)/2 -+ t sqrt(w)), where w is
    (v + u - 2c)/M + (v^2 + u^2 - 2c^2)/(2(M - 1)). Of a share s below, log(mean s) takes the place
    of mean x + u/2, and s / mean s that of x. With ones below it is Cox's interval for a mean: Zhou
    and Gao (1997), Statistics in Medicine 16, 783-790. By itself it is wrong for other laws; as an
    outer end it makes up for the tail of costs that a sample lacks.
    """
    if not above.min() > 0.0 or not (is_share or below.min() > 0.0):
        return None
    y, count = np.log(above), float(len(above))
    x = below / below.mean() if is_share else np.log(below)
    v, c, u = np.cov(y, x)[[0, 0, 1], [0, 1, 1]]
    centre = y.mean() + v / 2.0 - (np.log(below.mean()) if is_share else x.mean() + u / 2.0)
    square = v**2 if is_share else v**2 + u**2 - 2.0 * c**2
    variance = max(v + u - 2.0 * c, 0.0) / count + max(square, 0.0) / (2.0 * (count - 1.0))
    reach = float(student_quantile(level, count - 1.0)) * variance**0.5
    return _exp(centre - reach), _exp(centre + reach)


def may_lack_tail(values: Floats, units: float) -> bool:
    """Return whether the end of a long tail may be missing from values of so many units.

    Their skewness is too large for the number of units, or that of their logarithms is beyond two
    standard errors, as with Pareto's law: the tail is then longer than a log-normal one.

    >>> may_lack_tail(np.arange(1.0, 21.0), 20), may_lack_tail(np.arange(20.0) ** 4, 20)
    (False, True)
    """
    if _skewness(values) ** 2 > max(_SKEWED * units, 1.0):
        return True
    sizes = np.abs(values)
    return bool(sizes.min() > 0.0 and _skewness(np.log(sizes)) > 2.0 * (6.0 / units) ** 0.5)


def _skewness(values: Floats) -> float:
    """Return the third standardized moment of values; 0 where all are the same."""
    away = values - values.mean()
    largest = float(np.abs(away).max())  # whose cube may be no number
    away = away / (largest or 1.0)
    return float((away**3).mean() / max((away**2).mean() ** 1.5, 1e-300))


def _exp(power: float) -> float:
    return float(np.exp(min(power, _HIGHEST)))


def cost_per_solved(
    scored: Outcomes, costs: Outcomes, over: Over, level: float
) -> tuple[Ratio, tuple[Note, ...]]:
    """Return the ratio of two means over the problems that have both a score and a cost.

    The notes say where costs may lack their tail, and where few problems were solved.
    """
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
        return Ratio(0.0, 0.0, 0.0, 0.0), ()
    count, units = int((solved > 0).sum()), len(solved) if codes is None else int(codes.max()) + 1
    notes: list[Note] = []
    if may_lack_tail(mean_cost, units):
        notes.append(TAIL_MISSING)
    if count < _ENOUGH_SOLVED:
        notes.append(few_informative(len(solved), count, is_weak=count < _FEW_SOLVED))
    return ratio_of_means(mean_cost, solved, level, codes, is_share=True), tuple(notes)
