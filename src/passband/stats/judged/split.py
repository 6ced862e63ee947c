"""The variance of a corrected estimate, in three parts: problems, trials, judge."""

from __future__ import annotations

from dataclasses import dataclass

from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.judged.judged import Judged
from passband.stats.judged.purchase import Prices, Purchase

__all__ = ["JudgedSplit", "split_judged"]


@dataclass(frozen=True)
class JudgedSplit:
    """The variance of a corrected estimate in three parts, and what to buy next."""

    metric: str
    n_problems: int
    n_trials: int
    n_labels: int
    between: float | None  #: variance of the problems' values
    within: float | None  #: variance of a trial within its problem
    residual: float | None  #: variance of a label that the judge leaves unexplained
    variance: float | None
    se: float | None
    share_between: float | None
    share_within: float | None
    share_judge: float | None  #: of the variance: what would be gone with a label on every trial
    vote_variance: float | None  #: of one vote on one answer; None without repeated votes
    reliability: float | None  #: of a score of as many votes as there are
    explained: float | None  #: share of the labels' variance that the judge explains
    worth: float | None  #: labels without a judge that one label with it is worth
    purchases: tuple[Purchase, ...] = ()  #: best first
    notes: tuple[Note, ...] = ()


def split_judged(
    judged: Judged, prices: Prices | None = None, *, over: Over = "problems"
) -> JudgedSplit:
    """Split the variance of corrected pass@1 into problems, trials and judge; say what to buy."""
    raise NotImplementedError
