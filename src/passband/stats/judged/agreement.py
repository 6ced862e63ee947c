"""How well a judge agrees with the labels: by class, and in all."""

from __future__ import annotations

from dataclasses import dataclass

from passband.notes import Note
from passband.stats.judged.judged import Judged

__all__ = ["Agreement", "Rate", "agreement"]


@dataclass(frozen=True)
class Rate:
    """A share with its interval, and the counts behind it where it is one of counts."""

    value: float | None  #: None where there is nothing to take a share of
    low: float
    high: float
    count: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class Agreement:
    """A judge beside the labels, on the labelled trials that have a verdict."""

    n_labels: int
    n_failed: int  #: labelled trials without a verdict
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


def agreement(judged: Judged, *, level: float = 0.95) -> Agreement:
    """Return how well the judge agrees with the labels."""
    raise NotImplementedError
