"""One model's part of a corrected difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.checks import Over
from passband.stats.interval.estimate import estimate
from passband.stats.judged.judged import Judged
from passband.stats.judged.prediction import Prediction
from passband.stats.judged.refusal import is_mean_score
from passband.stats.judged.regression import regressed
from passband.stats.judged.sample import sample_of
from passband.stats.judged.strata import strata_of
from passband.stats.judged.units import UNMEASURED, judge_values, limits_of, problem_units
from passband.stats.metric.metric import Metric
from passband.types import Bools, Floats

__all__ = ["Side", "side_of"]


@dataclass(frozen=True, eq=False)
class Side:
    """A corrected value with everything that its part of a difference's variance needs."""

    value: float
    limits: tuple[float, float]
    prediction: Prediction
    floor: float  # the square of one residual of 1, weighted
    noise: float | None  # the part over trials, beside that of the residuals; None if unknown

    @property
    def n_problems(self) -> int:
        return self.prediction.sample.n_problems

    @property
    def means(self) -> Floats:
        """The mean prediction of each problem."""
        return self.prediction.sample.means(self.prediction.predicted)

    @property
    def labelled_problems(self) -> Bools:
        sample = self.prediction.sample
        return np.bincount(sample.label_problem, minlength=sample.n_problems) > 0


def side_of(judged: Judged, metric: Metric, over: Over) -> Side:
    """Return a side: by verdict for a mean of labels of 0 or 1, else by regression."""
    limits, noise = limits_of(judged, metric), None
    is_mean, is_binary = is_mean_score(metric), judged.has_binary_labels
    if is_mean and is_binary:
        strata = strata_of(sample_of(judged))
        value, prediction = strata.value, strata.prediction
    elif is_mean:
        fit = regressed(sample_of(judged), judge_values(judged), bounded=False)
        value, prediction = fit.value, fit.prediction
    else:
        units = problem_units(judged, metric)
        fit = regressed(units.sample, units.judge, bounded=is_binary)
        value, prediction = fit.value, fit.prediction
        if over == "trials":
            judge = estimate(units.outcomes, metric.name, over="trials")
            known = judge.se is not None and not {n.code for n in judge.notes} & UNMEASURED
            noise = (fit.slope * judge.se) ** 2 if known and judge.se is not None else None
    if is_mean and over == "trials" and int(judged.trials.max()) > 1:
        noise = prediction.within()
    weight = prediction.sample.label_weight
    floor = float(weight @ weight) ** 2 if is_binary else 0.0
    return Side(min(max(value, limits[0]), limits[1]), limits, prediction, floor, noise)
