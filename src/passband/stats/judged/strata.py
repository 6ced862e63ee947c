"""Post-stratify the share of trials labelled right by the judge's verdict.

The strata h are the trials that the judge fails, those that it passes, and those without a verdict.
W_h is the share of a stratum among all trials, y_h the mean of its labels:

    value = sum_h W_h y_h

Every trial is predicted by the mean of its stratum, p = y_h. A label has the weight
a = W_h b / sum_h b, with b its weight in the sample.

Its interval combines Jeffreys' intervals of the strata by MOVER, which squares and adds the
distances from the estimate to the ends of its parts' intervals, so that strata whose labels all
agree keep the width that so few labels leave open. The labels' part is multiplied by a design
effect D where several labels come from one problem, and the part of the trials and problems
themselves is added:

    low  = value - sqrt(k D sum_h W_h^2 (y_h - l_h)^2 + T^2 rest)
    high = value + sqrt(k D sum_h W_h^2 (u_h - y_h)^2 + T^2 rest)

(l_h, u_h) is Jeffreys' interval, Beta(c + 1/2, m_h - c + 1/2), T is Student's quantile, and k < 1
where the labels' noise and the trials' cancel in part. docs/measured.md says where the constants
come from.

Zou and Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER); Brown, Cai and DasGupta (2001),
Statistical Science 16, 101-133 (Jeffreys).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.checks import Over
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.judged.regression import Prediction
from passband.stats.judged.sample import LabelSample
from passband.types import Floats

STRATA = 3  # failed, passed, no verdict


@dataclass(frozen=True, eq=False)
class Strata:
    """Shares and label means, an entry per stratum, and the prediction that they make."""

    share: Floats  # W_h
    mean: Floats  # y_h; the mean of all labels in a stratum without labels
    size: Floats  # labels of equal weight that those of the stratum are worth; 0 without labels
    prediction: Prediction

    @property
    def value(self) -> float:
        low, high = self.mean.min(), self.mean.max()
        return min(max(float(self.share @ self.mean), float(low)), float(high))

    def label_noise(self) -> float:
        """Return the variance that the labels add if they are independent."""
        coin = self.mean * (1.0 - self.mean)
        has_labels = self.size > 0.0
        return float((self.share**2 * coin)[has_labels] @ (1.0 / self.size[has_labels]))


def strata_of(sample: LabelSample) -> Strata:
    """Return the post-stratified estimate and its parts."""
    share = np.bincount(sample.verdict, weights=sample.weight, minlength=STRATA)
    share = share / share.sum()
    b = sample.label_weight
    total, right, square = (
        np.bincount(sample.label_verdict, weights=weights, minlength=STRATA)
        for weights in (b, b * sample.label, b * b)
    )
    has_labels = total > 0.0
    everything = np.full(STRATA, right.sum() / total.sum())
    mean = np.clip(np.divide(right, total, out=everything, where=has_labels), 0.0, 1.0)
    size = np.divide(total**2, square, out=np.zeros(STRATA), where=has_labels)
    factor = np.divide(share, total, out=np.zeros(STRATA), where=has_labels)
    predicted = mean[sample.verdict]
    residual = sample.label - predicted[sample.labelled]
    influence = b * factor[sample.label_verdict]
    return Strata(share, mean, size, Prediction(sample, predicted, influence, residual))


_PRIOR_PROBLEMS = 4.0  # problems, their labels all alike, that D is averaged with
_MOST_EFFECT = 1.5  # D is at most this many times the labels per problem
_LEAST_SHARE = 0.25  # of the labels' noise that is left when the trials' cancels it


@dataclass(frozen=True)
class Bounds:
    """The ends of an interval and its standard error."""

    low: float
    high: float
    se: float


def jeffreys(right: Floats, size: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return Jeffreys' interval for `right` of `size`; 0 and 1 where the size is 0.

    >>> low, high = jeffreys(np.array([0.0, 5.0]), np.array([10.0, 10.0]), 0.025)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.224], [0.217, 0.776])
    """
    from passband.stats.special import betaincinv

    wrong = size - right
    low = np.where(right <= 0.0, 0.0, betaincinv(right + 0.5, wrong + 0.5, tail))
    high = np.where(wrong <= 0.0, 1.0, betaincinv(right + 0.5, wrong + 0.5, 1.0 - tail))
    return low, high


def design_effect(strata: Strata) -> float:
    """Return by how much several labels from one problem raise the labels' noise.

    The measured ratio of clustered to independent noise is averaged with that of labels which are
    all alike within a problem, as if four more problems had shown it.
    """
    sample = strata.prediction.sample
    problems = sample.n_labelled_problems
    labels_each = sample.n_labels / problems
    if labels_each <= 1.001:
        return 1.0
    alone = strata.label_noise()
    ratio = labels_each
    if alone > 0.0 and problems > 1:
        sums = strata.prediction.residual_sums()
        ratio = problems / (problems - 1.0) * float(sums @ sums) / alone
    return believed_effect(ratio, labels_each, problems)


def believed_effect(ratio: float, labels_each: float, problems: int) -> float:
    """Shrink a measured design effect towards that of identical labels per problem."""
    effect = (problems * ratio + _PRIOR_PROBLEMS * labels_each) / (problems + _PRIOR_PROBLEMS)
    return min(max(effect, 1.0), _MOST_EFFECT * labels_each)


def mover(strata: Strata, over: Over, level: float) -> Bounds:
    """Return the interval for the post-stratified share."""
    sample = strata.prediction.sample
    rest = strata.prediction.rest(over)
    is_fixed = over == "trials"
    freedom = (sample.trials - 1).sum() if is_fixed else sample.n_problems - 1
    effect = design_effect(strata)
    noise = effect * strata.label_noise()
    kept = 1.0
    if rest < 0.0:
        kept = min(max((noise + rest) / noise, _LEAST_SHARE), 1.0) if noise > 0.0 else 1.0
        rest = 0.0
    right = strata.size * strata.mean
    low, high = jeffreys(right, strata.size, (1.0 - level) / 2.0)
    square = kept * effect * strata.share**2
    t = student_quantile(level, max(float(freedom), 1.0))
    down = float(square @ (strata.mean - low) ** 2) + t * t * rest
    up = float(square @ (high - strata.mean) ** 2) + t * t * rest
    smooth = (right + 0.5) / (strata.size + 1.0)
    spread = float(square @ (smooth * (1.0 - smooth) / (strata.size + 2.0)))
    value = strata.value
    return Bounds(max(value - down**0.5, 0.0), min(value + up**0.5, 1.0), (spread + rest) ** 0.5)
