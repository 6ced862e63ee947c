"""The share of trials labelled right, post-stratified by the judge's verdict.

The strata h are the trials that the judge fails, those that it passes, and those without a verdict.
W_h is the share of a stratum among all trials, y_h the mean of its labels:

    value = sum_h W_h y_h

Every trial is predicted by the mean of its stratum, p = y_h. A label has the weight
a = W_h b / sum_h b, with b its weight in the sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.judged.prediction import Prediction
from passband.stats.judged.sample import Sample
from passband.types import Floats

__all__ = ["STRATA", "Strata", "strata_of"]

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


def strata_of(sample: Sample) -> Strata:
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
