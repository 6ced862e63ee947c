"""How the trials that are labelled were drawn, and the probability that each had of being drawn.

With M problems, problem i of n_i trials, and m labels, a trial of problem i is drawn with

    spread    e_i / n_i, e_i the expected labels of the problem: one in every full round, and the
              share of problems that the last round reaches
    trial     m / N, N being all trials
    problem   (chosen problems / M) * (labels in the problem / n_i)
    verdict   (labels with this verdict) / (trials with this verdict)
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from passband.errors import InvalidInput
from passband.types import Bools, Floats, Ints

__all__ = [
    "Design",
    "check_design",
    "labels_in_rounds",
    "probabilities",
    "probability_of_labels",
]

Design = Literal["spread", "trial", "problem", "verdict", "unknown", "chosen"]


def check_design(design: object) -> None:
    """Refuse a design that has no name here."""
    if not isinstance(design, str) or design not in get_args(Design):
        names = ", ".join(map(repr, get_args(Design)))
        raise InvalidInput(f"design must be one of {names}; got {design!r}.")


def labels_in_rounds(trials: Ints, count: int) -> Floats:
    """Return the expected number of labels of each problem if `count` are dealt out in rounds.

    Every round goes once through the problems that have a trial left, in random order.

    >>> labels_in_rounds(np.array([1, 2, 2]), 4).tolist()
    [1.0, 1.5, 1.5]
    """
    expected = np.zeros(len(trials))
    left = count
    for done in range(int(trials.max())):
        open_problems = trials > done
        share = min(left / open_problems.sum(), 1.0)
        expected += share * open_problems
        left -= int(open_problems.sum())
        if left <= 0:
            break
    return expected


def probabilities(
    design: Design, problem: Ints, trials: Ints, verdict: Ints, labelled: Bools
) -> Floats:
    """Return the probability of each trial to be labelled, from how many labels there are."""
    count = int(labelled.sum())
    if design == "verdict":
        share = np.bincount(verdict[labelled], minlength=3) / np.maximum(
            np.bincount(verdict, minlength=3), 1
        )
        return np.asarray(share[verdict])
    if design == "spread":
        return np.asarray((labels_in_rounds(trials, count) / trials)[problem])
    if design == "problem":
        labels = np.bincount(problem[labelled], minlength=len(trials))
        return np.asarray((float((labels > 0).mean()) * labels / trials)[problem])
    return np.full(len(problem), count / len(problem))


def probability_of_labels(design: Design, trials: Ints, labels: Ints, k: int) -> Floats:
    """Return the probability of each problem to have at least k labels.

    It depends on the number of trials alone, as neither design looks at verdicts.
    """
    from scipy.special import bdtrc

    count = int(labels.sum())
    if design == "problem":
        return np.full(len(trials), float((labels > 0).mean()))
    if design == "spread":
        expected = labels_in_rounds(trials, count)
        return np.clip(expected - (k - 1), 0.0, 1.0)
    return np.asarray(bdtrc(k - 1, trials, count / trials.sum()))
