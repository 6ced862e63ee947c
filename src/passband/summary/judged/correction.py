"""Estimate a judge's lines: corrected by labels, or the judge's own, named as such."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note
from passband.readers import BY_HAND, JudgeScores
from passband.score import is_kin
from passband.stats.data import Outcomes
from passband.stats.interval import Estimate
from passband.stats.judged import Judged, corrected
from passband.stats.metric import not_enough_data, not_measurable
from passband.summary.judged import notes
from passband.summary.judged.result import JudgeResult, alone, judge_result
from passband.summary.metric_list import EntryResult
from passband.summary.summary import Line, Request

_UNLIKELY = 0.001  # chance of so few labels of a verdict, if they are drawn at random
_MEANS = ("mean", "avg", "pass@1", "pass^1", "maj@1")


class Correction:
    """Names the numbers of a judge as the judge's, or corrects them by labels."""

    def __init__(self, scores: JudgeScores, request: Request) -> None:
        self.scores = scores
        self._request = request
        self._estimates: dict[str, Estimate | Note] = {}
        self._one_sided = one_sided(scores.judged)
        self.refusal = self._refusal()
        self.result: JudgeResult = judge_result(
            scores, request, is_corrected=self.refusal is None, is_random=not self._one_sided
        )

    @property
    def mean(self) -> str:
        """The metric of one try: pass@1 of labels that pass or fail, else their mean."""
        return "pass@1" if self.scores.judged.has_binary_labels else "avg"

    def as_labelled(self, outcomes: Outcomes) -> Outcomes:
        """Return a judge's outcomes as pass or fail, where its labels are that."""
        judged = self.scores.judged
        if self.refusal is None and judged.has_binary_labels and not outcomes.is_binary:
            return outcomes.binarize(judged.threshold)
        return outcomes

    def _refusal(self) -> Note | None:
        """Return why the judge is not corrected at all; None if it is."""
        labels = self.scores.n_labels
        if not labels:
            by_hand = 0 if self.scores.labels is None else self.scores.labels.by_hand
            return notes.judge_only(self.scores.title, by_hand)
        if reason := self._unsuited() or self._one_sided:
            return notes.judge_uncorrected(self.scores.title, reason)
        result = self._estimate(self.mean)
        if isinstance(result, Note):
            return notes.judge_uncorrected(self.scores.title, result.text)
        return None

    def _unsuited(self) -> str:
        """Return what of the request has no corrected counterpart."""
        request = self._request
        if request.method != "auto":
            return f"a corrected estimate has an interval of its own, not by {request.method}"
        if request.population is not None:
            return "labels correct no estimate for a population of a known size"
        if request.policy == "fail":
            return "a corrected estimate cannot count trials without a score as failures"
        return ""

    def _estimate(self, metric: str) -> Estimate | Note:
        if metric not in self._estimates:
            request = self._request
            try:
                self._estimates[metric] = corrected(
                    self.scores.judged, metric, over=request.over, level=request.level
                )
            except NotEnoughData as error:
                self._estimates[metric] = not_enough_data(str(error))
            except InvalidInput as error:
                self._estimates[metric] = not_measurable(str(error))
        return self._estimates[metric]

    # -- lines -----------------------------------------------------------------------------

    def line(self, line: Line) -> Line:
        """Return a line of the judge's scores, corrected or named as the judge's."""
        metric = _metric_of(line)
        if self.refusal is not None or metric is None:
            return self._own(line, self.refusal or notes.judge_reduced(self.scores.title))
        result = self._estimate(self._metric(metric))
        label = self._label(line)
        if isinstance(result, Note):
            return replace(line, metric=label, estimate=None, reason=result)
        if line.estimate is not None:  # trials that nobody judged have no score either
            result = replace(result, n_unscored=line.estimate.n_unscored)
        return replace(line, metric=label, estimate=self._told(result), reason=None)

    def entry(self, result: EntryResult) -> EntryResult:
        """Return a measured entry of a metric list, corrected or with a note that it is not."""
        line = self.line(result.line(result.entry.name))
        estimate = line.estimate
        if estimate is not None:
            estimate = replace(estimate, metric=result.entry.name)
        return replace(result, estimate=estimate, reason=line.reason)

    def _metric(self, metric: str) -> str:
        return self.mean if metric in _MEANS else metric

    def _own(self, line: Line, note: Note) -> Line:
        """Return a line as the judge's own."""
        is_named = self.scores.judge in line.metric
        suffix = "judged" if is_named else f"judged by {self.scores.title}"
        estimate = line.estimate
        if estimate is not None:
            estimate = replace(estimate, notes=(note, *estimate.notes))
        return replace(line, metric=f"{line.metric} ({suffix})", estimate=estimate)

    def _label(self, line: Line) -> str:
        """Return the label of a corrected line: that of the task, unless it names the judge."""
        if self.scores.judge in line.metric:
            return f"{line.metric} (corrected)"
        return self.mean if line.metric in ("avg", "pass@1") else line.metric

    def _told(self, estimate: Estimate) -> Estimate:
        """Return a corrected estimate with the sentence on its judge."""
        if estimate.metric != self.mean or self.scores.judged.is_fully_labelled:
            return estimate
        own = alone(self.scores.judged)
        return replace(
            estimate,
            notes=(notes.corrected_by_labels(*_sentence(self.result, own)), *estimate.notes),
        )

    # -- notes on all of it ----------------------------------------------------------------

    def notes(self, model: str | None = None) -> Iterator[Note]:
        """Yield notes on the labels, on the judge, and on what would help."""
        result, labels = self.result, self.scores.labels
        if labels is not None and self.scores.judged.design != BY_HAND and labels.by_hand:
            yield notes.labels_by_hand(labels.by_hand)
        if result.n_drawn and result.n_labels < result.n_drawn:
            missing = result.n_drawn - result.n_labels
            yield notes.labels_missing(missing, result.n_drawn, _alike(self.scores.judged))
        if labels is not None and labels.frame and labels.frame < result.n_trials:
            yield notes.labels_of_part(labels.frame, result.n_trials)
        if shared := shared_name(result.model, model):
            yield notes.judge_shares_name(result.title, shared)
        yield from self._labeller_notes()
        yield from self._advice()

    def _labeller_notes(self) -> Iterator[Note]:
        for other in self.result.labellers:
            agree = None if other.agreement is None else other.agreement.agree
            if agree is None or agree.count is None or agree.of is None:
                yield notes.labellers_apart(str(self.result.labels), other.name)
            else:
                yield notes.labellers_agree(
                    str(self.result.labels), other.name, agree.count, agree.of
                )

    def _advice(self) -> Iterator[Note]:
        split = self.result.split
        if split is None or not split.purchases:
            return
        best = split.purchases[0]
        estimate = self._estimate(self.mean)
        half = None
        if isinstance(estimate, Estimate) and estimate.low is not None and split.se:
            assert estimate.high is not None
            half = (estimate.high - estimate.low) / 2 * best.se / split.se
        yield notes.judge_worth(split.worth, best.kind, best.amount, best.cost, half)


def one_sided(judged: Judged) -> str:
    """Return why labels cannot have been drawn at random: hardly any is of a common verdict.

    The chance of so few is that of a binomial number, of as many draws as problems have labels:
    the verdicts of one problem may all be alike. Trials or problems may have been drawn, so the
    verdict's share is the smaller of that among all trials and of the mean over problems.
    """
    from scipy.special import bdtr

    if judged.design != "unknown" or not judged.n_labels:
        return ""
    labelled = judged.verdict[judged.is_labelled]
    draws = len(np.unique(judged.problem[judged.is_labelled]))
    for verdict, word in ((1, "passes"), (0, "fails")):
        is_said = judged.verdict == verdict
        by_problem = np.bincount(judged.problem, weights=is_said) / judged.trials
        share = float(min(is_said.mean(), by_problem.mean()))
        seen = int((labelled == verdict).sum())
        if bdtr(math.ceil(seen * draws / len(labelled)), draws, share) < _UNLIKELY:
            are = "is of a trial" if seen < 2 else "are of trials"
            return (
                f"{seen or 'none'} of the {len(labelled)} labels {are} that the judge {word}, "
                f"which are {share:.0%} of all: they were not drawn at random"
            )
    return ""


def _alike(judged: Judged) -> str:
    """Return what every label says, if they are pass or fail and all the same."""
    labels = set(judged.label[judged.is_labelled].tolist())
    return {0.0: "fail", 1.0: "pass"}.get(labels.pop(), "") if len(labels) == 1 else ""


def _metric_of(line: Line) -> str | None:
    """Return the metric of the trials' scores that a line is; None where it is another reduction.

    A line without an estimate has the name of its metric as its label.
    """
    if line.name is None:
        return line.metric if line.estimate is None else line.estimate.metric
    reduction = line.reduction or ""
    return reduction if reduction in _MEANS or "@" in reduction or "^" in reduction else None


def _sentence(
    result: JudgeResult, own: float | None
) -> tuple[str, int, float | None, float | None, float | None]:
    """Return the judge, the labels, its own value, and its two shares of errors."""
    agreement = result.agreement
    passes = misses = None
    if agreement is not None and agreement.specificity.value is not None:
        passes = 1.0 - agreement.specificity.value
    if agreement is not None and agreement.sensitivity.value is not None:
        misses = 1.0 - agreement.sensitivity.value
    return result.title, result.n_labels, own, passes, misses


def shared_name(judge: str | None, model: str | None) -> str:
    """Return the name of the family that a judge and the model it judges share, if they do.

    >>> shared_name("openai:gpt-4o-mini", "openai:gpt-4o"), shared_name("claude-3", "gpt-4o")
    ('gpt', '')
    """
    if not judge or not model or not is_kin(judge, model):
        return ""
    word = re.match(r"[a-z]*", re.split(r"[:/]", model)[-1].casefold())
    return (word and word[0]) or model
