r"""Widen an interval by the changes between verdicts that were given twice.

A program that depends on the hash seed, the clock or the load of the machine may pass today and
fail tomorrow. Two parts of that have to be kept apart.

Changes that are independent from trial to trial make the verdicts of a problem scatter, and the
interval is made of that scatter already: adding them again would count them twice. In expectation
they cancel: a first verdict and a second one are then exchangeable, so as many change one way as
the other.

What the trials cannot show is what they have in common: all first verdicts were given under one
hash seed, on one machine, on one day. It shows as a *net* change between the first verdicts and
those given again under other conditions. Let g(n, c) be the value of a problem with c successes in
n trials, P the number of problems, and let stratum a have N_a verdicts, of which m_a were given
again. A verdict that changed by s = +1 or -1 moves the metric by

    w = N_a / m_a * (g(n, c + s) - g(n, c)) / P,

and the sum D of all w estimates, without bias and to first order in the rate of changes, by how
much the metric would differ on average over conditions. The w above zero make one sum, those below
another; each is a weighted sum of Poisson counts, with the limits of Dobson, Kuulasmaa, Eberle and
Scherer (1991) at Jeffreys' limits of the count. The limits of D are those of their difference, and
the limits of the metric plus D those of a sum, both by the method of variance estimates recovery
(MOVER, Zou and Donner 2008). The interval that is given is the hull of that and of the interval
without it: it never shrinks, and the value stays that of the first verdicts. A side on which no
verdict changed adds nothing; `missed_at_most` says what could have been missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from passband.notes import Note
from passband.stats.checks import as_level
from passband.stats.interval.estimation import Estimate
from passband.stats.metric.metric import Metric


@dataclass(frozen=True)
class RerunFlip:
    """A verdict that was another one the second time."""

    trials: int  #: of its problem
    successes: int  #: of its problem, by the first verdicts
    step: int  #: +1: it failed and then passed; -1: the other way round
    weight: float  #: verdicts that it speaks for: those of its stratum by those given again


@dataclass(frozen=True)
class Reruns:
    """Verdicts that were given a second time, under other conditions."""

    verdicts: int  #: given once
    again: int  #: of them, given twice
    flips: tuple[RerunFlip, ...] = ()

    @property
    def gained(self) -> int:
        """Trials that failed first and then passed."""
        return sum(flip.step > 0 for flip in self.flips)

    @property
    def lost(self) -> int:
        """Trials that passed first and then failed."""
        return len(self.flips) - self.gained

    @property
    def share(self) -> float:
        """The share of second verdicts that were others."""
        return len(self.flips) / self.again if self.again else 0.0

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """Return Jeffreys' interval of the share of verdicts that change.

        >>> [round(end, 4) for end in Reruns(2000, 131).limits()]
        [0.0, 0.019]
        """
        from passband.stats.special import betaincinv

        tail = (1 - as_level(level)) / 2
        count, n = len(self.flips), self.again
        low = float(betaincinv(count + 0.5, n - count + 0.5, tail)) if count else 0.0
        high = float(betaincinv(count + 0.5, n - count + 0.5, 1 - tail)) if count < n else 1.0
        return low, high


@dataclass(frozen=True)
class Shift:
    """By how much a metric would differ on average over conditions, with limits."""

    value: float
    low: float
    high: float


def shift_of(reruns: Reruns, metric: Metric, problems: int, level: float = 0.95) -> Shift | None:
    """Return the net change of a metric; None where it has no value for each problem.

    `problems` are those that the metric is an average over.
    """
    if not metric.is_mean or metric.parts[0].needs_answers:
        return None
    moves = [move for flip in reruns.flips if (move := _move(flip, metric, problems))]
    gains = _weighted([move for move in moves if move > 0], level)
    losses = _weighted([-move for move in moves if move < 0], level)
    value = gains.value - losses.value
    below = math.hypot(gains.value - gains.low, losses.high - losses.value)
    above = math.hypot(gains.high - gains.value, losses.value - losses.low)
    return Shift(value, value - below, value + above)


def with_reruns(estimate: Estimate, reruns: Reruns, metric: Metric) -> Estimate:
    """Widen an estimate's interval by the net change of its verdicts.

    Without a verdict that changed, or for a metric that is no average of problems, it is the same.
    """
    if estimate.low is None or estimate.high is None or not reruns.flips:
        return estimate
    shift = shift_of(reruns, metric, estimate.n_problems, estimate.level)
    if shift is None:
        return estimate
    low, high = _hull(estimate.value, estimate.low, estimate.high, shift)
    bottom, top = metric.bounds
    low, high = max(low, min(bottom, estimate.low)), min(high, max(top, estimate.high))
    if (low, high) == (estimate.low, estimate.high):
        return estimate
    note: Note = flaky_interval(estimate.low, estimate.high)
    return replace(estimate, low=low, high=high, notes=(*estimate.notes, note))


def _hull(value: float, low: float, high: float, shift: Shift) -> tuple[float, float]:
    centre = value + shift.value
    below = math.hypot(value - low, shift.value - shift.low)
    above = math.hypot(high - value, shift.high - shift.value)
    return min(low, centre - below), max(high, centre + above)


def _move(flip: RerunFlip, metric: Metric, problems: int) -> float:
    """Return by how much one changed verdict moves the metric, for all that it speaks for."""
    import numpy as np

    if flip.trials < metric.k:
        return 0.0
    trials = np.array([flip.trials, flip.trials])
    successes = np.array([flip.successes, flip.successes + flip.step])
    before, after = metric.parts[0].at(trials, successes, metric.k)
    return flip.weight * float(after - before) / problems


def _weighted(weights: Sequence[float], level: float) -> Shift:
    """Return a weighted sum of Poisson counts, one for each weight, with its limits."""
    count, total = len(weights), math.fsum(weights)
    if not count:
        return Shift(0.0, 0.0, 0.0)
    from passband.stats.special import gammaincinv

    tail = (1 - level) / 2
    unit = math.sqrt(math.fsum(weight**2 for weight in weights) / count)
    low, high = (float(gammaincinv(count + 0.5, end)) for end in (tail, 1 - tail))
    return Shift(total, total - unit * (count - low), total + unit * (high - count))


def flaky_interval(low: float, high: float) -> Note:
    """Return the note on an interval with room for verdicts that change."""
    return Note(
        "flaky-interval",
        f"the interval has room for verdicts that changed in re-runs; without them it is "
        f"[{low:.3f}, {high:.3f}]",
    )
