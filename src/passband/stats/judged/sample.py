"""Weigh each trial in the mean over problems, and each label in its estimate.

The target is the mean over M problems of the mean over their n_i trials, so a trial counts
1 / (M n_i). A label that was drawn with probability q counts in proportion to 1 / (M n_i q).

`ProblemUnits` are labels and verdicts by problem, the units of regression for pass@k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.data.outcomes import Outcomes
from passband.stats.judged.judged import Judged, probabilities, probability_of_labels
from passband.stats.metric.metric import Metric
from passband.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class LabelSample:
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


def sample_of(judged: Judged) -> LabelSample:
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
    return LabelSample(
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


#: codes of notes on intervals over trials that are those over problems instead
UNMEASURED = {"one-trial", "few-repeats", "noise-unmeasured"}
_FEWEST = 10  # problems with k labels


@dataclass(frozen=True, eq=False)
class ProblemUnits:
    """The problems with at least k trials as units: a sample, and the judge's value of each."""

    sample: LabelSample
    judge: Floats
    outcomes: Outcomes  # the judge's
    left_out: int


def label_outcomes(judged: Judged) -> Outcomes:
    """Return the labels as outcomes, of the problems that have any."""
    return _outcomes(judged, judged.label, judged.is_labelled)


def judge_outcomes(judged: Judged) -> Outcomes:
    """Return the judge's scores as outcomes: its verdicts where the labels are 0 or 1."""
    return _outcomes(judged, judge_values(judged), np.ones(judged.n_trials, dtype=bool))


def judge_values(judged: Judged) -> Floats:
    """Return the regressor of the labels: verdicts, or scores for graded labels.

    A trial without a verdict counts as failed, or as an average score. That leaves the estimate
    unbiased whatever the truth is, as labelled trials are read in the same way.
    """
    if judged.has_binary_labels:
        return np.asarray(judged.verdict == 1, dtype=np.float64)
    missing = np.isnan(judged.score)
    if missing.all():
        return np.zeros(judged.n_trials)
    return np.where(missing, judged.score[~missing].mean(), judged.score)


def limits_of(judged: Judged, metric: Metric) -> tuple[float, float]:
    """Return the least and the largest value that the metric can have.

    Labels that all lie between 0 and 1 are taken to be bounded by these; others have no bounds.
    """
    labels = judged.label[judged.is_labelled]
    if judged.has_binary_labels:
        return metric.bounds
    return (0.0, 1.0) if labels.min() >= 0.0 and labels.max() <= 1.0 else (-np.inf, np.inf)


def problem_units(judged: Judged, metric: Metric) -> ProblemUnits:
    """Return the problems with at least k trials, those with k labels being the labelled ones."""
    k = metric.k
    labels = np.bincount(judged.problem[judged.is_labelled], minlength=judged.n_problems)
    enough = judged.trials >= k
    chosen = (labels >= k)[enough]
    _check_chosen(judged, metric, labels, int(chosen.sum()))
    chance = probability_of_labels(judged.design, judged.trials, labels, k)[enough][chosen]
    outcomes = judge_outcomes(judged)
    judge = metric.by_problem(outcomes)[:, 0]
    label = metric.by_problem(label_outcomes(judged))[:, 0]
    count = int(enough.sum())
    weight = 1.0 / np.maximum(chance, 1e-12)
    sample = _sample(count, chosen, label, weight / weight.sum())
    return ProblemUnits(sample, judge, outcomes, judged.n_problems - count)


def _sample(count: int, chosen: Bools, label: Floats, weight: Floats) -> LabelSample:
    position = np.arange(count)
    return LabelSample(
        problem=position,
        trials=np.ones(count, dtype=np.int64),
        verdict=np.zeros(count, dtype=np.int64),
        weight=np.full(count, 1.0 / count),
        labelled=chosen,
        label=label,
        label_problem=position[chosen],
        label_verdict=np.zeros(len(label), dtype=np.int64),
        label_weight=weight,
    )


def _check_chosen(judged: Judged, metric: Metric, labels: Ints, chosen: int) -> None:
    if judged.design == "verdict":
        raise InvalidInput(
            f"{metric.name} needs labels drawn without regard to the verdict; these were drawn by "
            "it, and within a problem they are no random sample."
        )
    if chosen >= _FEWEST:
        return
    k, count, problems = metric.k, int(labels.sum()), int((labels > 0).sum())
    raise NotEnoughData(
        f"{metric.name} needs {k} labelled trials in each labelled problem, and {_FEWEST} such "
        f"problems; {count} labels on {problems} problems leave {chosen}. Draw by problem "
        f"(design 'problem', each={k} or more)."
    )


def _outcomes(judged: Judged, values: Floats, rows: Bools) -> Outcomes:
    codes, problem = np.unique(judged.problem[rows], return_inverse=True)
    counts = np.bincount(problem)
    scores = np.full((len(codes), int(counts.max())), np.nan)
    place = np.arange(len(problem)) - np.repeat(np.cumsum(counts) - counts, counts)
    scores[problem, place] = values[rows]
    outcomes = Outcomes.from_array(scores, problems=[judged.problems[code] for code in codes])
    return replace(outcomes, unscored={})
