"""Split the uncertainty of a metric by source, and predict the gain from more data."""

from __future__ import annotations

from dataclasses import dataclass

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.data import Outcomes
from passband.stats.decision import split_variance
from passband.stats.interval import Estimate
from passband.summary.summary import Request


@dataclass(frozen=True)
class Purchase:
    """The half-width of the interval now, or with twice the trials or twice the problems."""

    what: str  #: "now", "trials" or "problems"
    count: int  #: trials of each problem, or problems
    half_width: float
    is_useful: bool = False  #: whether it is the better one to buy


@dataclass(frozen=True)
class Uncertainty:
    """The parts of the variance of a metric, and the half-widths that more data would give."""

    metric: str
    share_problems: float | None  #: of the variance: which problems were asked
    share_trials: float | None  #: sampling
    purchases: tuple[Purchase, ...]
    more_trials: int  #: that either purchase takes
    price: float | None  #: of them, at the price of those there are; None where it is not known
    notes: tuple[Note, ...] = ()


def uncertainty_of(
    outcomes: Outcomes, metric: str, estimate: Estimate, request: Request, cost: float
) -> Uncertainty | None:
    """Return the variance of a metric split in two, and what to buy next.

    Half-widths shrink from that of the estimate as the standard errors do. Twice the trials and
    twice the problems take as many trials, and so the same price.
    """
    try:
        split = split_variance(outcomes, metric, policy=request.policy)
    except InvalidInput:
        return None
    if estimate.low is None or estimate.high is None or not split.se:
        return None
    half = (estimate.high - estimate.low) / 2
    errors = {"trials": split.se_double_trials, "problems": split.se_double_problems}
    half_widths = {
        what: half * error / split.se for what, error in errors.items() if error is not None
    }
    best = min(half_widths, key=lambda what: half_widths[what], default=None)
    counts = {"trials": 2 * split.most_trials, "problems": 2 * split.n_problems}
    purchases = (
        Purchase("now", split.n_problems, half),
        *(Purchase(what, counts[what], width, what == best) for what, width in half_widths.items()),
    )
    return Uncertainty(
        metric=metric,
        share_problems=split.share_between,
        share_trials=split.share_within,
        purchases=purchases,
        more_trials=estimate.n_trials,
        price=cost or None,
        notes=split.notes,
    )
