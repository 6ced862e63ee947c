"""What a summary says of a judge: its labels, its agreement with them, what would help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.readers.judge_scores import BY_HAND, JudgeScores, Labels, title_of

if TYPE_CHECKING:
    from passband.stats.interval.estimate import Estimate
    from passband.stats.judged import Agreement, JudgedSplit, Prices
    from passband.summary.summary import Request

__all__ = ["JudgeResult", "Labeller", "judge_result", "rests_on_labels"]


@dataclass(frozen=True)
class Labeller:
    """A further labeller beside the one whose labels count."""

    name: str  #: of the scorer
    n_labels: int
    n_shared: int  #: trials that both labelled
    agreement: Agreement | None = None  #: with the labels that count; None where too few are shared


@dataclass(frozen=True)
class JudgeResult:
    """A judge: how much it was asked, how much of it is labelled, and how well it does."""

    scorer: str
    model: str | None  #: that judges, where it is recorded
    n_trials: int  #: that it was asked about
    n_failed: int  #: of them, without a verdict
    pass_rate: float | None  #: the judge's own, of its verdicts
    #: with every trial without a verdict failed, and passed; None where all have one
    bracket: tuple[float, float] | None
    labels: str | None = None  #: the scorer, or column, that holds the labels that count
    n_labels: int = 0
    n_labelled_problems: int = 0
    n_by_hand: int = 0  #: labels of trials that a person chose, which correct nothing
    design: str | None = None  #: how the labelled trials were drawn
    n_drawn: int | None = None  #: trials that were drawn for labels
    is_corrected: bool = False  #: whether the labels are enough to correct the judge
    agreement: Agreement | None = None
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


def judge_result(scores: JudgeScores, request: Request, *, is_corrected: bool) -> JudgeResult:
    """Return what is known of a judge."""
    judged, labels = scores.judged, scores.labels
    passed, failed = int((judged.verdict == 1).sum()), judged.n_failed
    asked = judged.n_trials
    labelled = {int(problem) for problem in judged.problem[judged.is_labelled]}
    return JudgeResult(
        scorer=scores.judge,
        model=scores.model,
        n_trials=asked,
        n_failed=failed,
        pass_rate=passed / (asked - failed) if asked > failed else None,
        bracket=(passed / asked, (passed + failed) / asked) if failed else None,
        labels=None if labels is None else labels.name,
        n_labels=scores.n_labels,
        n_labelled_problems=len(labelled) if scores.n_labels else 0,
        n_by_hand=0 if labels is None else labels.by_hand,
        design=None if labels is None else judged.design,
        n_drawn=None if labels is None or judged.design == BY_HAND else labels.drawn,
        is_corrected=is_corrected,
        agreement=_agreement(scores, request.level),
        split=_split(scores, request, request.prices) if is_corrected else None,
        labellers=tuple(_labeller(scores, other, request.level) for other in scores.others),
    )


def _agreement(scores: JudgeScores, level: float) -> Agreement | None:
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
    shared = [place for place in other.values if place in first]
    found = None
    if shared:
        try:
            both = Judged.of(
                [key for key, _ in shared],
                [trial for _, trial in shared],
                [other.values[place] for place in shared],
                [first[place] for place in shared],
            )
            found = agreement(both, level=level)
        except InvalidInput:
            found = None
    return Labeller(other.name, len(other.values), len(shared), found)
