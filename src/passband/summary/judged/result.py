"""Summarise a judge: its labels, its agreement with them, and the next data to buy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.readers import BY_HAND, JudgeScores, Labels, title_of

if TYPE_CHECKING:
    from passband.stats.interval import Estimate
    from passband.stats.judged import JudgeAgreement, Judged, JudgedSplit, Prices
    from passband.summary.summary import Request
    from passband.types import Bools, Floats


@dataclass(frozen=True)
class Labeller:
    """A further labeller beside the one whose labels count."""

    name: str  #: of the scorer
    n_labels: int
    n_shared: int  #: trials that both labelled
    agreement: JudgeAgreement | None = (
        None  #: with the labels that count; None where too few are shared
    )


@dataclass(frozen=True)
class JudgeResult:
    """A judge: how much it was asked, how much of it is labelled, and how well it does."""

    scorer: str
    model: str | None  #: that judges, where it is recorded
    n_trials: int  #: that it was asked about
    n_failed: int  #: of them, without a verdict
    #: the judge's own, a mean over problems; None where it grades, and passes nothing
    pass_rate: float | None
    #: with every trial without a verdict failed, and passed; None where all have one
    bracket: tuple[float, float] | None
    labels: str | None = None  #: the scorer, or column, that holds the labels that count
    n_labels: int = 0
    n_labelled_problems: int = 0
    n_by_hand: int = 0  #: labels of trials that a person chose, which correct nothing
    design: str | None = None  #: how the labelled trials were drawn
    n_drawn: int | None = None  #: trials that were drawn for labels
    is_corrected: bool = False  #: whether the labels are enough to correct the judge
    agreement: JudgeAgreement | None = None
    split: JudgedSplit | None = None  #: of the variance of the corrected value
    labellers: tuple[Labeller, ...] = ()

    @property
    def title(self) -> str:
        """What tables call it."""
        return title_of(self.scorer, self.model)


def rests_on_labels(estimate: Estimate) -> bool:
    """Return whether an estimate is one of labels, and not of the scores of its trials."""
    is_corrected = estimate.method.startswith("corrected")
    return is_corrected or any(note.code == "fully-labelled" for note in estimate.notes)


def judge_result(
    scores: JudgeScores, request: Request, *, is_corrected: bool, is_random: bool = True
) -> JudgeResult:
    """Return what is known of a judge; labels that are not random say nothing of its errors."""
    judged, labels = scores.judged, scores.labels
    is_rate = _is_rate(judged)
    labelled = {int(problem) for problem in judged.problem[judged.is_labelled]}
    return JudgeResult(
        scorer=scores.judge,
        model=scores.model,
        n_trials=judged.n_trials,
        n_failed=judged.n_failed,
        pass_rate=_mean(judged, judged.verdict == 1, judged.verdict < 2) if is_rate else None,
        bracket=_bracket(judged) if is_rate and judged.n_failed else None,
        labels=None if labels is None else labels.name,
        n_labels=scores.n_labels,
        n_labelled_problems=len(labelled) if scores.n_labels else 0,
        n_by_hand=0 if labels is None else labels.by_hand,
        design=None if labels is None else judged.design,
        n_drawn=None if labels is None or judged.design == BY_HAND else labels.drawn,
        is_corrected=is_corrected,
        agreement=_agreement(scores, request.level) if is_random else None,
        split=_split(scores, request, request.prices) if is_corrected else None,
        labellers=tuple(_labeller(scores, other, request.level) for other in scores.others),
    )


def alone(judged: Judged) -> float | None:
    """Return what the judge says by itself of what the labels are about.

    It is the judge's pass rate beside labels of pass and fail, else the mean of its scores.
    """
    values = judged.verdict == 1 if judged.has_binary_labels else judged.score
    return _mean(judged, values, judged.verdict < 2)


def _is_rate(judged: Judged) -> bool:
    """Return whether verdicts pass or fail: not beside grades, nor of scores such as percent."""
    scores = judged.score[judged.verdict < 2]
    in_range = bool(((scores >= 0.0) & (scores <= 1.0)).all()) or judged.threshold != 0.5
    return judged.has_binary_labels and in_range


def _bracket(judged: Judged) -> tuple[float, float]:
    """Return the pass rate with every trial without a verdict failed, and passed."""
    everything = judged.verdict >= 0
    low = _mean(judged, judged.verdict == 1, everything)
    high = _mean(judged, judged.verdict >= 1, everything)
    assert low is not None
    assert high is not None
    return low, high


def _mean(judged: Judged, values: Floats | Bools, rows: Bools) -> float | None:
    """Return the mean over problems of the mean of some of their trials, as estimates have it."""
    import numpy as np

    problem = judged.problem[rows]
    counts = np.bincount(problem)
    if not len(problem):
        return None
    sums = np.bincount(problem, weights=np.asarray(values, dtype=np.float64)[rows])
    return float((sums[counts > 0] / counts[counts > 0]).mean())


def _agreement(scores: JudgeScores, level: float) -> JudgeAgreement | None:
    """Return the agreement of judge and labels; of graded or hand-picked labels there is none."""
    from passband.stats.judged import agreement

    if not scores.n_labels:
        return None
    try:
        return agreement(scores.judged, level=level)
    except InvalidInput:
        return None


def _split(scores: JudgeScores, request: Request, prices: Prices | None) -> JudgedSplit | None:
    from passband.stats.judged import split_judged

    try:
        return split_judged(scores.judged, prices, over=request.over)
    except InvalidInput:
        return None


def _labeller(scores: JudgeScores, other: Labels, level: float) -> Labeller:
    from passband.stats.judged import Judged, agreement

    first = {} if scores.labels is None else scores.labels.values
    shared = [trial_key for trial_key in other.values if trial_key in first]
    labeller_agreement = None
    if shared:
        try:
            both = Judged.of(
                [key for key, _ in shared],
                [trial for _, trial in shared],
                [other.values[trial_key] for trial_key in shared],
                [first[trial_key] for trial_key in shared],
            )
            labeller_agreement = agreement(both, level=level)
        except InvalidInput:
            labeller_agreement = None
    return Labeller(other.name, len(other.values), len(shared), labeller_agreement)
