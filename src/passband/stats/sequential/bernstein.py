"""The stratified empirical-Bernstein sequence: an interval that holds at every round at once.

Let X_it be the score of problem i in round t, in [0, 1], with its own mean p_i, and mu the mean of
the p_i over these M problems. Given the past, q_it is a prediction of X_it and l_t in [0, 1) a bet,
one for the whole round. With psi(l) = -ln(1 - l) - l,

    mu  in  sum_t l_t Y_t / sum_t l_t  +-  (ln(2/alpha) + sum_t psi(l_t) V_t) / (M sum_t l_t)

at all rounds at once with probability at least 1 - alpha; Y_t is the mean score of round t and
V_t = sum_i (X_it - q_it)^2.

Proof. 1. For x >= -1 and 0 <= l < 1, exp(l x - psi(l) x^2) <= 1 + l x (Fan, Grama and Liu 2015,
   lemma 4.1: (ln(1 + l x) - l x) / x^2 grows with x and is -psi(l) at x = -1).
2. For X in [0, 1] and any q in [0, 1] that the past decides, put x = X - q >= -1 and multiply by
   exp(l (q - p)): E exp(l (X - p) - psi(l) (X - q)^2) <= exp(l (q - p)) (1 + l (p - q)) <= 1, as
   1 + a <= exp(a).
3. Trials of one round are independent given the past, so the product over the problems of a round,
   and then over rounds, is a supermartingale that starts at 1. In its exponent
   sum_i l_t (X_it - p_i) = l_t M (Y_t - mu): the p_i need not be alike, only l_t must be.
4. By Ville's inequality it ever exceeds 2/alpha with probability at most alpha/2; the same with
   1 - X for X gives the other side.

Which q and l are chosen affects the width only. q_it is the past mean of that problem, shrunk to
that of all; the bet is h / (h + s2) with s2 the past estimate of the mean of p(1 - p): it maximises
l h - psi(l) s2, and so reaches a half-width h first. In the limit this takes 2 ln(2/alpha) / z^2
(1.92 for 95 %) times the trials of a design whose size was right beforehand.

Two models: for the difference of b and a, put in the trials of b as they are and those of a as
1 - X. Their V_t and s2 add up; the proof is the same.

A trial without a score counts as 0 at the lower end and as 1 at the upper one, whatever it would
have scored.

Fan, Grama and Liu (2015), Electronic Journal of Probability 20, 1-22; Howard et al. (2021), Annals
of Statistics 49, 1055-1080; Waudby-Smith and Ramdas (2023), JRSS B 86, 1-27.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import as_level, as_positive
from passband.stats.data.outcomes import Outcomes
from passband.types import ArrayLike, Floats


@dataclass(frozen=True, eq=False)
class Rounds:
    """Complete rounds: the score of every problem in each, or NaN where a trial has none.

    A round is one trial of every problem. An incomplete round holds those trials that happened to
    come back first, and answers that come late differ from the others; so it is not part of these.

    >>> rounds = Rounds.of([[1, 0, 1], [0, 0, None]])
    >>> rounds.count, rounds.upto(2).successes.tolist()
    (3, [1, 0])
    """

    scores: Floats  # problems x rounds
    problems: Sequence[str] | None = None
    clusters: Sequence[str] | None = None

    @classmethod
    def of(
        cls,
        scores: ArrayLike | Sequence[Sequence[float | None]],
        problems: Sequence[str] | None = None,
    ) -> Rounds:
        """Make rounds from a matrix: a row per problem, an entry per round."""
        try:
            values = np.array(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("every problem must have one score, or None, per round.") from None
        if values.ndim != 2 or not len(values):
            raise InvalidInput(
                f"rounds must be a matrix of problems x rounds; got shape {values.shape}."
            )
        return cls(values, problems)

    @property
    def count(self) -> int:
        return int(self.scores.shape[1])

    @property
    def n_problems(self) -> int:
        return len(self.scores)

    def upto(self, rounds: int) -> Outcomes:
        """Return the outcomes of the first rounds."""
        return Outcomes.from_array(
            self.scores[:, :rounds], problems=self.problems, clusters=self.clusters
        )


_PULLS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])  # trials that the common mean weighs
_WIDEST = 0.25  # the largest variance of a score in [0, 1]
_ADDED = 2.0  # to the sum of variances, against bets that a few trials alike would make too high


class BernsteinEnds(NamedTuple):
    """The interval after a round, not cut to the scale, and half of its width."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2.0


def psi(bet: float) -> float:
    """Return -ln(1 - l) - l.

    >>> round(psi(0.5), 4)
    0.1931
    """
    return -math.log1p(-bet) - bet


def best_bet(half_width: float, variance: float) -> float:
    """Return the bet h / (h + s2).

    >>> best_bet(0.25, 0.25)
    0.5
    """
    return half_width / (half_width + variance)


def bernstein_interval(rounds: Rounds, half_width: float, level: float = 0.95) -> BernsteinEnds:
    """Return the interval of the mean score over these problems, after all these rounds.

    `half_width` is the one that the bets aim at; the interval is right whatever it is.

    >>> ends = bernstein_interval(Rounds.of([[1, 1, 0, 1] * 50, [0, 0, 0, 1] * 50]), 0.1)
    >>> round(ends.low, 3), round(ends.high, 3)
    (0.43, 0.569)
    """
    return BernsteinSequence.of(rounds, half_width, level).ends()


def bernstein_difference(
    a: Rounds, b: Rounds, half_width: float, level: float = 0.95
) -> BernsteinEnds:
    """Return the interval of mean(b) - mean(a) on the same problems and rounds."""
    if a.scores.shape != b.scores.shape:
        raise InvalidInput(
            f"a and b must have the same problems and rounds; got {a.scores.shape} and "
            f"{b.scores.shape}."
        )
    sequence = BernsteinSequence(half_width, level)
    for before, after in zip(a.scores.T, b.scores.T, strict=True):
        sequence.add_pair(before, after)
    return sequence.ends()


class BernsteinSequence:
    """The state of the sequence: add a round, read the interval."""

    def __init__(self, half_width: float, level: float = 0.95) -> None:
        self._target = as_positive("half_width", half_width)
        self._log = math.log(2.0 / (1.0 - as_level(level)))
        self._lower = _Track(self._target)  # where trials without a score failed
        self._upper = _Track(self._target)  # where they succeeded

    @classmethod
    def of(cls, rounds: Rounds, half_width: float, level: float = 0.95) -> BernsteinSequence:
        """Return the sequence after these rounds."""
        sequence = cls(half_width, level)
        for scores in rounds.scores.T:
            sequence.add(scores)
        return sequence

    def add(self, scores: Floats) -> None:
        """Take one round: a score of every problem, NaN where it has none."""
        _check(scores)
        self._lower.add(np.nan_to_num(scores, nan=0.0))
        self._upper.add(np.nan_to_num(scores, nan=1.0))

    def add_pair(self, a: Floats, b: Floats) -> None:
        """Add one round of both models; the sequence is then for b - a.

        With 1 - X for the scores of a, its mean is half of 1 + b - a.
        """
        _check(a)
        _check(b)
        self._lower.add(_joined(np.nan_to_num(a, nan=1.0), np.nan_to_num(b, nan=0.0)), pair=True)
        self._upper.add(_joined(np.nan_to_num(a, nan=0.0), np.nan_to_num(b, nan=1.0)), pair=True)

    def rounds_left(self) -> float:
        """Return about how many more rounds will bring the half-width that the bets aim at.

        It is infinite where trials without a score keep the two ends apart.
        """
        apart = (self._upper.centre - self._lower.centre) / 2.0
        tracks = (self._lower, self._upper)
        return max(track.rounds_left(self._log, self._target - apart) for track in tracks)

    def ends(self) -> BernsteinEnds:
        """Return the interval after the rounds so far."""
        low, high = self._lower, self._upper
        return BernsteinEnds(low.centre - low.reach(self._log), high.centre + high.reach(self._log))


class _Track:
    """The sums of one supermartingale, and what predicts its next round."""

    def __init__(self, target: float) -> None:
        self._target = target
        self._rounds = 0
        self._bets = self._weighted = self._paid = 0.0
        self._count = 0  # strata: problems, or those of both models
        self._per_unit = 1  # strata that make up one unit of the mean
        self._sums = self._squares = np.zeros(0)
        self._errors = np.zeros(len(_PULLS))  # of each pull so far

    def add(self, scores: Floats, *, pair: bool = False) -> None:
        if not self._rounds:
            self._count, self._per_unit = len(scores), 2 if pair else 1
            self._sums, self._squares = np.zeros(self._count), np.zeros(self._count)
        elif len(scores) != self._count:
            raise InvalidInput(f"every round must have {self._count} scores; got {len(scores)}.")
        predictions = self._predictions()
        bet = best_bet(self._target, self._per_unit * self._variance())
        errors = ((scores - predictions) ** 2).sum(axis=1)
        self._bets += bet
        self._weighted += bet * (self._per_unit * float(scores.mean()) - self._per_unit + 1)
        self._paid += psi(bet) * float(errors[int(np.argmin(self._errors))])
        self._errors += errors
        self._sums = self._sums + scores
        self._squares = self._squares + scores**2
        self._rounds += 1

    @property
    def centre(self) -> float:
        return self._weighted / self._bets if self._rounds else 0.5

    def reach(self, log: float) -> float:
        """Return the distance of the end from the centre."""
        if not self._rounds:
            return math.inf
        return (log + self._paid) / (self._count / self._per_unit * self._bets)

    def rounds_left(self, log: float, reach: float) -> float:
        """Return the rounds left to this reach at the present bet."""
        units, variance = self._count / self._per_unit, self._per_unit * self._variance()
        bet = best_bet(self._target, variance)
        lacking = log + self._paid - units * self._bets * reach
        brought = units * (bet * reach - psi(bet) * variance)
        return lacking / brought if brought > 0.0 else math.inf

    def _predictions(self) -> Floats:
        """Return the next score of each stratum as each pull predicts it."""
        trials = self._rounds * self._count
        common = (self._sums.sum() + 0.5) / (trials + 1.0)
        pulls = _PULLS[:, None]
        predictions: Floats = (self._sums + pulls * common) / (self._rounds + pulls)
        return predictions

    def _variance(self) -> float:
        """Return the mean variance of a score within its stratum, as the past shows it."""
        n = self._rounds
        if n == 0:
            return _WIDEST
        if n == 1:
            mean = (self._sums.sum() + 1.0) / (self._count + 2.0)
            return float(mean * (1.0 - mean))
        within = float((self._squares - self._sums**2 / n).sum()) * n / (n - 1)
        return min((within + _ADDED) / (self._count * n), _WIDEST)


def _joined(a: Floats, b: Floats) -> Floats:
    return np.concatenate([1.0 - a, b])


def _check(scores: Floats) -> None:
    outside = (scores < 0.0) | (scores > 1.0)
    if outside.any():
        raise InvalidInput(f"the proof needs scores between 0 and 1; got {scores[outside][0]:g}.")
