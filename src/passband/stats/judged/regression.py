"""Estimates by regression on the judge: for graded labels, and for pass@k by problem.

With y the value of a labelled unit, f the judge's of every unit, F its mean over all units, and
weights a that add up to 1 over the labelled ones,

    value = s F + sum a (y - s f),        s = the weighted slope of y on f, 0 or more.

The units are trials for a mean of graded labels; for pass@k they are the problems with at least k
labels, y being the metric of the labels and f that of all verdicts. With r_i the weighted residuals
of problem i around their mean, and m problems with labels,

    V = rest + m / (m - 2) (sum r_i^2 + 1 / m'^2),      rest as in `Prediction`,

where the last term, one residual of 1 among the m' = 1 / sum a^2 that the labels are worth, is for
values of 0 to 1 only: few labels may all agree by luck. V is at least 0.3 of its second part. The
degrees of freedom are Welch and Satterthwaite's.

A `Prediction` holds predicted labels, and the noise of their corrected mean. Every trial has a
prediction p, made from its verdict. A labelled trial has a weight a in the estimate, and a residual
e = y - p. With r_i the sum of a e over the labels of problem i, and p_i the mean prediction of its
n_i trials, the variance of the estimate is that of the residuals and

    over problems   var(p_i) / M + (2 / M) sum_i (p_i - mean) r_i
    over trials     sum_i var_t(p_it) / (n_i M^2) + (2 / M) sum a e (p_it - p_i) / (n_i - 1)
                    - w B / M

where B is the covariance of two residuals of one problem, which belongs to the problem and is no
noise while the problems are fixed; w = pairs / (pairs + 30) is how far it is believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.checks import Over
from passband.stats.judged.sample import LabelSample
from passband.types import Floats

_PRIOR_PAIRS = 30.0  # pairs of labels at which half of their measured covariance is believed


@dataclass(frozen=True, eq=False)
class Prediction:
    """A prediction of every trial, with weight and residual of every labelled one."""

    sample: LabelSample
    predicted: Floats
    influence: Floats
    residual: Floats

    def residual_sums(self) -> Floats:
        """Return r_i, the weighted sum of the residuals of each problem."""
        return self.sample.sums(self.influence * self.residual)

    def rest(self, over: Over) -> float:
        """Return the variance not due to residuals; it may be negative."""
        return self._over_problems() if over == "problems" else self.within() - self.fixed_part()

    def _over_problems(self) -> float:
        count = self.sample.n_problems
        means = self.sample.means(self.predicted)
        away = means - means.mean()
        spread = float(away @ away) / (count - 1.0) / count
        return spread + 2.0 / count * float(away @ self.residual_sums())

    def within(self) -> float:
        """Return the variance within problems not due to residuals."""
        sample, count = self.sample, self.sample.n_problems
        means = sample.means(self.predicted)
        away = self.predicted - means[sample.problem]
        freedom = np.maximum(sample.trials - 1, 1)[sample.problem]
        noise = float((sample.weight * away) @ (away / freedom)) / count
        alone = means[sample.trials == 1]
        if len(alone):  # one trial shows no noise: it is at most the spread of the problems
            noise += float(((alone - means.mean()) ** 2).sum()) / (count - 1.0) / count
        shared = (self.influence * self.residual) @ (away / freedom)[sample.labelled]
        return noise + 2.0 / count * float(shared)

    def fixed_part(self) -> float:
        """Return the part of the residuals' variance that belongs to the problems."""
        sums, weights = self.residual_sums(), self.sample.sums(self.influence)
        moved = self.influence * self.residual
        labels = np.bincount(self.sample.label_problem)
        pairs = float((labels * (labels - 1)).sum()) / 2.0
        divisor = float(weights @ weights - self.influence @ self.influence)
        if pairs == 0.0 or divisor <= 0.0:
            return 0.0
        between = max(float(sums @ sums - moved @ moved) / divisor, 0.0)
        return pairs / (pairs + _PRIOR_PAIRS) * between / self.sample.n_problems


_LEAST_SHARE = 0.3  # of the labels' noise that is left when the trials' cancels it


@dataclass(frozen=True, eq=False)
class Regression:
    """A regression estimate, and the parts of its variance."""

    value: float
    slope: float
    noise: float  # the labels' part of the variance
    prediction: Prediction
    explained: float  # share of the labels' variance

    def variance(self, rest: float) -> tuple[float, float]:
        """Return the variance including the judge's mean, and its degrees of freedom."""
        sample = self.prediction.sample
        total = max(self.noise + rest, _LEAST_SHARE * self.noise)
        few, many = sample.n_labelled_problems - 2.0, sample.n_problems - 1.0
        divisor = self.noise**2 / few + rest**2 / many
        return total, total**2 / divisor if divisor > 0.0 else few

    def rest(self, over: Over) -> float:
        return self.prediction.rest(over)


def slope_of(y: Floats, f: Floats, weight: Floats, most: float = np.inf) -> float:
    """Return the weighted slope of y on f, between 0 and `most`."""
    away = f - weight @ f
    square = float(weight @ away**2)
    if square <= 1e-14 * float(weight @ f**2):
        return 0.0
    return min(max(float((weight * away) @ y) / square, 0.0), most)


def regressed(sample: LabelSample, f: Floats, *, bounded: bool) -> Regression:
    """Return the regression of the labels on the judge's values f, one per row of the sample.

    `bounded` says that all values lie between 0 and 1.
    """
    y, weight = sample.label, sample.label_weight
    known = f[sample.labelled]
    has_spread = bool(np.ptp(y) > 0.0)
    slope = slope_of(y, known, weight, 1.0 if bounded else np.inf) if has_spread else 0.0
    error = y - slope * known
    centre = float(weight @ error) if has_spread else float(y[0])  # without a rounding error
    prediction = Prediction(sample, slope * f, weight, error - centre)
    sums = prediction.residual_sums()
    problems = sample.n_labelled_problems
    floor = float(weight @ weight) ** 2 if bounded else 0.0
    noise = problems / (problems - 2.0) * (float(sums @ sums) + floor)
    spread = float(weight @ (y - weight @ y) ** 2)
    left = float(weight @ (error - centre) ** 2)
    explained = max(1.0 - left / spread, 0.0) if spread > 0.0 else 0.0
    value = slope * float(sample.weight @ f) + centre
    return Regression(value, slope, noise, prediction, explained)
