"""Notes on corrected estimates, and refusals of labels that correct nothing."""

from __future__ import annotations

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note, plural
from passband.stats.checks import Over
from passband.stats.interval.notes import ONE_TRIAL, single_trials
from passband.stats.judged.judged import Judged
from passband.stats.judged.strata import Bounds, Strata
from passband.stats.metric.components import BestScore, Credit, MeanScore
from passband.stats.metric.metric import Metric

LABELS_TAKEN_AS_RANDOM = Note(
    "labels-taken-as-random",
    "how the labelled trials were drawn is not recorded; they are taken as a random sample, and if "
    "they were picked by eye this number is wrong",
    "weak",
)
TRIALS_AS_PROBLEMS = Note(
    "judged-over-problems",
    "the noise of sampling cannot be told from the spread of the problems for this metric, so this "
    "is the wider interval over problems",
)

_FEW_LABELS = 30
_FEW_PROBLEMS = 15  # with labels, several in one
_FEW_FAILED = 0.01  # share of trials without a verdict that is worth a note
_WORTHLESS = 0.03  # explained share below which a judge adds nothing
_VERDICTS = ("failed", "passed", "none")


def target_notes(judged: Judged, over: Over) -> list[Note]:
    """Return notes on trials that are too few to show their noise."""
    if over == "problems":
        return []
    single = int((judged.trials == 1).sum())
    if single == judged.n_problems:
        return [ONE_TRIAL]
    return [single_trials(single, judged.n_problems)] if single else []


def label_notes(judged: Judged) -> list[Note]:
    """Return notes on how many labels there are, and how they were drawn."""
    notes = [LABELS_TAKEN_AS_RANDOM] if judged.design == "unknown" else []
    if judged.n_labels < _FEW_LABELS:
        notes.append(few_labels(judged.n_labels))
    problems = len(np.unique(judged.problem[judged.is_labelled]))
    if problems < min(_FEW_PROBLEMS, judged.n_labels):
        notes.append(few_labelled_problems(problems))
    return notes


def judge_notes(explained: float, labels: int) -> list[Note]:
    """Return the note on a judge that does not help."""
    if explained < _WORTHLESS and labels >= _FEW_LABELS:
        return [judge_adds_nothing(explained)]
    return []


def verdict_notes(judged: Judged, strata: Strata, bounds: Bounds) -> list[Note]:
    """Return notes on verdicts without labels, without disagreement, and that failed."""
    notes = []
    residual = strata.prediction.residual
    sample = strata.prediction.sample
    has_verdict = sample.label_verdict < 2
    right = sample.label == sample.label_verdict
    if right[has_verdict].all() and has_verdict.any() and (residual == 0.0).all():
        bias = max(strata.value - bounds.low, bounds.high - strata.value)
        notes.append(no_disagreement(sample.n_labels, bias))
    for verdict, share, size in zip(_VERDICTS, strata.share, strata.size, strict=True):
        if share > 0.0 and size == 0.0:
            notes.append(unlabelled_verdict(verdict, float(share)))
    notes += judge_notes(explained_by(strata), sample.n_labels)
    if judged.n_failed > _FEW_FAILED * judged.n_trials:
        low = float(strata.share[:2] @ strata.mean[:2])
        labels = int((sample.label_verdict == 2).sum())
        high = low + float(strata.share[2])
        notes.append(failed_verdicts(judged.n_failed, judged.n_trials, low, high, labels))
    return notes


def explained_by(strata: Strata) -> float:
    """Return the share of the labels' variance that the verdicts explain."""
    mean = strata.value
    if not 0.0 < mean < 1.0:
        return 1.0
    between = float(strata.share @ (strata.mean - mean) ** 2)
    return between / (mean * (1.0 - mean))


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
    """Refuse labels that are too few or not drawn at random."""
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


def few_labels(labels: int) -> Note:
    """Return the note on an interval that rests on few labels."""
    return Note("few-labels", f"{labels} labels: the interval is safe but wide; 50 or more help")


def few_labelled_problems(problems: int) -> Note:
    """Return the note on labels that come from a handful of problems."""
    return Note(
        "few-labelled-problems",
        f"all labels are on {plural(problems, 'problem')}, which say little about the judge on "
        "others; spread them over more",
    )


def no_disagreement(labels: int, bias: float) -> Note:
    """Return the note on labels that all agree with the judge.

    >>> print(no_disagreement(40, 0.0612))
    the judge agrees with all 40 labels, which still leaves room for a bias of up to 6 points
    """
    return Note(
        "no-disagreement",
        f"the judge agrees with all {labels} labels, which still leaves room for a bias of up to "
        f"{100 * bias:.0f} points",
    )


def judge_adds_nothing(explained: float) -> Note:
    """Return the note on a judge whose scores hardly go along with the labels."""
    return Note(
        "judge-adds-nothing",
        f"the judge adds nothing to the labels: it explains {explained:.0%} of their variance",
    )


def unlabelled_verdict(verdict: str, share: float) -> Note:
    """Return the note on a verdict of which no trial is labelled.

    >>> print(unlabelled_verdict("passed", 0.031))
    no trial that the judge passed is labelled (3.1% of all): anything from none to all of them \
may be right
    """
    trials = "without a verdict" if verdict == "none" else f"that the judge {verdict}"
    return Note(
        "unlabelled-verdict",
        f"no trial {trials} is labelled ({share:.1%} of all): anything from none to all of them "
        "may be right",
    )


def failed_verdicts(failed: int, trials: int, low: float, high: float, labels: int) -> Note:
    """Return the note on verdicts that could not be read, and on how far they could move the value.

    >>> print(failed_verdicts(12, 800, 0.6004, 0.6151, 2))
    12 of 800 trials have no verdict, and are estimated by the 2 labels among them; with all of \
them wrong it would be 0.600, with all of them right 0.615
    """
    among = f"the {plural(labels, 'label')} among them" if labels else "the labels of the others"
    return Note(
        "failed-verdicts",
        f"{failed} of {plural(trials, 'trial')} have no verdict, and are estimated by {among}; "
        f"with all of them wrong it would be {low:.3f}, with all of them right {high:.3f}",
    )
