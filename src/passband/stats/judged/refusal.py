"""Judged trials for which there is no corrected number, and the sentence that says why."""

from __future__ import annotations

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.judged.judged import Judged
from passband.stats.metric.components import BestScore, Credit, MeanScore
from passband.stats.metric.metric import Metric

__all__ = ["FEWEST_LABELS", "check_labels", "check_metric", "is_mean_score"]

FEWEST_LABELS = 10
FEWEST_PROBLEMS = 5  # with labels in them


def is_mean_score(metric: Metric) -> bool:
    """Return whether a metric is the mean score of one trial: pass@1, avg and their like."""
    part = metric.parts[0]
    if metric.k != 1 or not metric.is_mean:
        return False
    if isinstance(part, Credit):
        return bool(np.array_equal(part.credit, [0.0, 1.0]))
    return isinstance(part, (MeanScore, BestScore))


def check_metric(judged: Judged, metric: Metric) -> None:
    """Refuse a metric that labels of single trials do not determine."""
    part = metric.parts[0]
    if part.needs_answers or part.is_posterior or not metric.is_mean:
        raise InvalidInput(
            f"{metric.name} cannot be corrected by labels, as it is no mean over problems of their "
            "trials' scores; pass@k, pass^k, maj@k, avg and max@k can."
        )
    if part.needs_binary and not judged.has_binary_labels:
        labels = judged.label[judged.is_labelled]
        other = labels[(labels != 0.0) & (labels != 1.0)][0]
        raise InvalidInput(
            f"{metric.name} needs labels of 0 or 1; got {other:g}. Use avg, or turn the labels "
            "into 0 and 1."
        )


def check_labels(judged: Judged) -> None:
    """Refuse labels that are too few, or that nobody drew at random."""
    count = judged.n_labels
    if count == 0:
        raise NotEnoughData(
            "there are no labels: this is the judge's pass rate, not the task's. Label at least "
            f"{FEWEST_LABELS} trials that were drawn at random, better 50."
        )
    if judged.design == "chosen":
        raise InvalidInput(
            f"the {count} labelled trials were chosen, not drawn at random, so they say nothing "
            "about the others. Draw trials to label by `passband label` or draw_labels."
        )
    if count < FEWEST_LABELS:
        raise NotEnoughData(
            f"{count} label{'s' * (count != 1)}: at least {FEWEST_LABELS} are needed to correct a "
            "judge, better 50."
        )
    problems = len(np.unique(judged.problem[judged.is_labelled]))
    if problems < FEWEST_PROBLEMS:
        raise NotEnoughData(
            f"the {count} labels are on {problems} problem{'s' * (problems != 1)}: at least "
            f"{FEWEST_PROBLEMS} problems need labels to say how the judge does on others."
        )
