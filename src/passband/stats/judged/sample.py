"""Weights: what each trial counts in the mean over problems, and each label in its estimate.

The target is the mean over M problems of the mean over their n_i trials, so a trial counts
1 / (M n_i). A label that was drawn with probability q counts in proportion to 1 / (M n_i q).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.judged.design import probabilities
from passband.stats.judged.judged import Judged
from passband.types import Bools, Floats, Ints

__all__ = ["Sample", "sample_of"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Judged trials with their weights; `labelled` arrays have an entry per labelled trial."""

    problem: Ints
    trials: Ints  # of each problem
    verdict: Ints
    weight: Floats  # of each trial in the mean over problems; they add up to 1
    labelled: Bools
    label: Floats  # of the labelled trials
    label_problem: Ints
    label_verdict: Ints
    label_weight: Floats  # they add up to 1

    @property
    def n_problems(self) -> int:
        return len(self.trials)

    @property
    def n_labels(self) -> int:
        return len(self.label)

    @property
    def n_labelled_problems(self) -> int:
        return len(np.unique(self.label_problem))

    def sums(self, values: Floats) -> Floats:
        """Return the sum over the labelled trials of each problem."""
        totals = np.bincount(self.label_problem, weights=values, minlength=self.n_problems)
        return np.asarray(totals, dtype=np.float64)

    def means(self, values: Floats) -> Floats:
        """Return the mean over all trials of each problem."""
        totals = np.bincount(self.problem, weights=values, minlength=self.n_problems)
        return np.asarray(totals / self.trials)


def sample_of(judged: Judged) -> Sample:
    """Return the trials with their weights."""
    trials, labelled = judged.trials, judged.is_labelled
    weight = (1.0 / (len(trials) * trials))[judged.problem]
    chance = judged.probability
    if chance is None:
        chance = probabilities(judged.design, judged.problem, trials, judged.verdict, labelled)
    chance = chance[labelled]
    if not ((chance > 0.0) & (chance <= 1.0)).all():
        raise InvalidInput("every labelled trial needs its probability of being drawn, up to 1.")
    inverse = weight[labelled] / chance
    return Sample(
        judged.problem,
        trials,
        judged.verdict,
        weight,
        labelled,
        judged.label[labelled],
        judged.problem[labelled],
        judged.verdict[labelled],
        inverse / inverse.sum(),
    )
