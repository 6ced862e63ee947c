"""Predictions of labels, and the noise of their mean together with what labels correct in it.

Every trial has a prediction p, made from its verdict. A labelled trial has a weight a in the
estimate, and a residual e = y - p. With r_i the sum of a e over the labels of problem i, and p_i
the mean prediction of its n_i trials, the variance of the estimate is that of the residuals and

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
from passband.stats.judged.sample import Sample
from passband.types import Floats

__all__ = ["Prediction"]

_PRIOR_PAIRS = 30.0  # pairs of labels at which half of their measured covariance is believed


@dataclass(frozen=True, eq=False)
class Prediction:
    """A prediction of every trial, with weight and residual of every labelled one."""

    sample: Sample
    predicted: Floats
    influence: Floats
    residual: Floats

    def residual_sums(self) -> Floats:
        """Return r_i, the weighted sum of the residuals of each problem."""
        return self.sample.sums(self.influence * self.residual)

    def rest(self, over: Over) -> float:
        """Return the variance beside that of the residuals; it may be negative."""
        return self._over_problems() if over == "problems" else self.within() - self.fixed_part()

    def _over_problems(self) -> float:
        count = self.sample.n_problems
        means = self.sample.means(self.predicted)
        away = means - means.mean()
        spread = float(away @ away) / (count - 1.0) / count
        return spread + 2.0 / count * float(away @ self.residual_sums())

    def within(self) -> float:
        """Return the variance within problems beside that of the residuals."""
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
