"""Measure a judge's agreement with the labels, by class and in all.

Counts of labelled trials make a table of two by two: label 0 or 1, verdict 0 or 1. Its shares are
weighted where labels were not drawn with equal probability, such as half by verdict, so that they
are those of all trials. Intervals of shares are Jeffreys'; those of the coefficients are normal,
after half a trial is added to each cell, without which they cover as little as 43 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from passband.errors import NotEnoughData
from passband.notes import Note
from passband.stats.checks import as_level
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.judged.judged import Judged
from passband.stats.judged.notes import check_labels, few_labels
from passband.stats.judged.sample import LabelSample, sample_of
from passband.stats.judged.strata import believed_effect, jeffreys
from passband.types import Bools, Floats

_FEW_LABELS = 30
Chance = Callable[[Floats], tuple[float, Floats]]
_ADDED = 0.5  # trials added to each cell of the table


@dataclass(frozen=True)
class Rate:
    """A share or a coefficient with its interval, and the counts behind it where it has any."""

    value: float | None  #: None where there is nothing to take a share of
    low: float
    high: float
    count: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge beside the labels, on the labelled trials that have a verdict."""

    n_labels: int  #: labelled trials with a verdict
    n_failed: int  #: labelled trials without one
    sensitivity: Rate  #: of the trials labelled right, the share that the judge passes
    specificity: Rate  #: of the trials labelled wrong, the share that the judge fails
    passed_right: Rate  #: of the trials that the judge passes, the share labelled right
    failed_wrong: Rate  #: of the trials that the judge fails, the share labelled wrong
    agree: Rate  #: share of trials on which both agree
    ac1: Rate  #: Gwet's first-order agreement coefficient
    kappa: Rate  #: Cohen's
    judge_rate: float  #: the judge's pass rate on the labelled trials
    label_rate: float  #: the labels' on the same trials
    level: float
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """Format the errors of the judge.

        >>> scores, labels = [1, 0, 1, 1] * 10, [1, 0, 1, 0] * 10
        >>> print(agreement(Judged.of(range(40), [0] * 40, scores, labels, design="spread")))
        passes 50% of what labels fail (10 of 20), fails 0% of what labels pass (0 of 20)
        """
        words = (
            ("passes", self.specificity, "fail"),
            ("fails", self.sensitivity, "pass"),
        )
        return ", ".join(_errors(verb, rate, label) for verb, rate, label in words)


def _errors(verb: str, rate: Rate, label: str) -> str:
    if rate.value is None or rate.of is None or rate.count is None:
        return f"no label says {label}"
    missed = rate.of - rate.count
    return f"{verb} {1 - rate.value:.0%} of what labels {label} ({missed} of {rate.of})"


def agreement(judged: Judged, *, level: float = 0.95) -> JudgeAgreement:
    """Measure the judge's agreement with labels of 0 or 1.

    Sensitivity and specificity say what the judge does; AC1 and kappa sum it up, kappa being low
    wherever nearly all trials are of one class, however good the judge (Gwet 2008, British Journal
    of Mathematical and Statistical Psychology 61, 29-48). Labels of one problem count as far as
    they differ: a share's number of trials is divided by their design effect.
    """
    level = as_level(level)
    if not judged.has_binary_labels:
        raise NotEnoughData("agreement by class needs labels of 0 or 1.")
    check_labels(judged)
    sample = sample_of(judged)
    has_verdict = sample.label_verdict < 2
    if not has_verdict.any():
        raise NotEnoughData("no labelled trial has a verdict, so there is nothing to agree.")
    table = _Table(sample, has_verdict, level)
    right, passed = sample.label == 1.0, sample.label_verdict == 1
    return JudgeAgreement(
        n_labels=int(has_verdict.sum()),
        n_failed=int((~has_verdict).sum()),
        sensitivity=table.share(passed, right),
        specificity=table.share(~passed, ~right),
        passed_right=table.share(right, passed),
        failed_wrong=table.share(~right, ~passed),
        agree=table.share(right == passed, has_verdict),
        ac1=table.ac1(),
        kappa=table.kappa(),
        judge_rate=table.rate(passed),
        label_rate=table.rate(right),
        level=level,
        notes=_notes(sample),
    )


def _notes(sample: LabelSample) -> tuple[Note, ...]:
    notes = [few_labels(sample.n_labels)] if sample.n_labels < _FEW_LABELS else []
    if sample.n_labels > sample.n_labelled_problems:
        notes.append(agreement_by_clusters(sample.n_labels, sample.n_labelled_problems))
    return tuple(notes)


class _Table:
    """Labels and verdicts of the labelled trials, weighted."""

    def __init__(self, sample: LabelSample, has_verdict: Bools, level: float) -> None:
        self._sample, self._known, self._level = sample, has_verdict, level
        weight = np.where(has_verdict, sample.label_weight, 0.0)
        self._weight = weight / weight.max()  # 1 where all are equal, so that sums are exact
        right, passed = sample.label == 1.0, sample.label_verdict == 1
        self._size = self._worth(right == passed, has_verdict)
        cells = [
            self.rate((right == label) & (passed == verdict) & has_verdict)
            for label in (False, True)
            for verdict in (False, True)
        ]
        smooth = self._size * np.array(cells).reshape(2, 2) + _ADDED
        self._cells: Floats = smooth / smooth.sum()
        self._plain: Floats = np.array(cells).reshape(2, 2)

    def rate(self, rows: Bools) -> float:
        """Return the weighted share of rows among all labelled trials with a verdict."""
        return float(self._weight @ rows) / float(self._weight.sum())

    def share(self, rows: Bools, among: Bools) -> Rate:
        """Return the share of `rows` among others, with Jeffreys' interval."""
        among = among & self._known
        count, of = int((rows & among).sum()), int(among.sum())
        if of == 0:
            return Rate(None, 0.0, 1.0, 0, 0)
        value = min(float(self._weight @ (rows & among)) / float(self._weight @ among), 1.0)
        value = float(count == of) if count in (0, of) else value
        size = np.array([self._worth(rows, among)])
        low, high = jeffreys(value * size, size, (1.0 - self._level) / 2.0)
        return Rate(value, float(low[0]), float(high[0]), count, of)

    def _worth(self, rows: Bools, among: Bools) -> float:
        """Return the number of independent labels of equal weight that some labels are worth."""
        weight = self._weight * among
        weight = weight / weight.sum()
        plain = 1.0 / float(weight @ weight)
        problems = len(np.unique(self._sample.label_problem[among]))
        labels_each = int(among.sum()) / problems
        if labels_each <= 1.001:
            return plain
        mean = float(weight @ rows)
        alone = mean * (1.0 - mean) / plain
        ratio = labels_each
        if alone > 0.0 and problems > 1:
            sums = self._sample.sums(weight * (rows - mean))
            ratio = problems / (problems - 1.0) * float(sums @ sums) / alone
        return plain / believed_effect(ratio, labels_each, problems)

    def kappa(self) -> Rate:
        """Return Cohen's kappa: chance agreement if both kept their own rates."""
        return self._coefficient(_chance_of_both)

    def ac1(self) -> Rate:
        """Return Gwet's AC1: chance agreement 2 q (1 - q), with q the mean of both rates."""
        return self._coefficient(_chance_of_mean)

    def _coefficient(self, chance: Chance) -> Rate:
        """Return (observed - chance) / (1 - chance) with its interval by the delta method."""
        value = _beyond_chance(self._plain, chance)
        expected, slopes = chance(self._cells)
        disagree = 1.0 - float(np.trace(self._cells))
        slopes = np.eye(2) / (1.0 - expected) - disagree / (1.0 - expected) ** 2 * slopes
        mean = float((self._cells * slopes).sum())
        variance = float((self._cells * (slopes - mean) ** 2).sum()) / self._size
        reach = normal_quantile(self._level) * variance**0.5
        centre = _beyond_chance(self._cells, chance) or 0.0
        observed = centre if value is None else value
        low, high = min(centre - reach, observed), max(centre + reach, observed)
        return Rate(value, max(low, -1.0), min(high, 1.0))


def _beyond_chance(cells: Floats, chance: Chance) -> float | None:
    """Return the coefficient; None where both always say the same one thing."""
    expected, _ = chance(cells)
    return None if expected >= 1.0 else (float(np.trace(cells)) - expected) / (1.0 - expected)


def _chance_of_both(cells: Floats) -> tuple[float, Floats]:
    """Return the agreement by chance of two raters with these rates, and its slopes."""
    labels, verdicts = cells.sum(axis=1), cells.sum(axis=0)
    return float(labels @ verdicts), verdicts[:, None] + labels[None, :]


def _chance_of_mean(cells: Floats) -> tuple[float, Floats]:
    """Return the agreement by chance of two raters with the mean of both rates, and its slopes."""
    rate = (float(cells[1].sum()) + float(cells[:, 1].sum())) / 2.0
    ones = np.array([0.0, 0.5])
    return 2.0 * rate * (1.0 - rate), 2.0 * (1.0 - 2.0 * rate) * (ones[:, None] + ones[None, :])


def agreement_by_clusters(labels: int, problems: int) -> Note:
    """Return the note on agreement measured by several labels from one problem."""
    return Note(
        "agreement-clustered",
        f"{labels} labels are on {problems} problems; the intervals of the agreement count labels "
        "of one problem as far as they differ",
    )
