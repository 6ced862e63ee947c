"""A metric of the labels, estimated from a judge's verdicts and the labelled part of the trials."""

from __future__ import annotations

from passband.stats.checks import Over
from passband.stats.interval.estimate import Estimate
from passband.stats.judged.judged import Judged

__all__ = ["corrected"]


def corrected(
    judged: Judged, metric: str = "pass@1", *, over: Over = "problems", level: float = 0.95
) -> Estimate:
    """Return a metric of the labels, from the judge's scores of all trials and the labels of some.

    Raises `NotEnoughData` with a sentence for the user where there are too few labels, or too few
    in each labelled problem for this k, and `InvalidInput` where the labels were chosen by eye.
    """
    import numpy as np

    labelled = judged.is_labelled
    value = 0.0
    for verdict in (0, 1, 2):
        share = float((judged.verdict == verdict).mean())
        chosen = labelled & (judged.verdict == verdict)
        value += share * float(judged.label[chosen if chosen.any() else labelled].mean())
    se = float(np.sqrt(value * (1 - value) / labelled.sum()))
    return Estimate(
        metric,
        value,
        max(value - 2 * se, 0.0),
        min(value + 2 * se, 1.0),
        se,
        level,
        over,
        "corrected",
        judged.n_problems,
        judged.n_trials,
        0,
        judged.n_failed,
        "drop",
        None,
    )
