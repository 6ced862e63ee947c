"""Rounds over several cases, or of two functions: one trial of each, then a look."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from passband.errors import InvalidInput
from passband.stats.sequential import BernsteinSequence, RateVerdict
from passband.types import Floats

_FARTHEST = 2000  # rounds, in the search for how many would do


@dataclass
class RoundsTest:
    """The mean over cases, looked at after every round, with an interval that holds at all of them.

    The interval is the empirical-Bernstein sequence of `passband.stats.sequential.bernstein`, whose
    proof needs no large samples and no likeness of the cases. Each of the two false verdicts has
    probability (1 - level) / 2 at most.
    """

    threshold: float  #: the mean below which it fails
    lowest: float  #: above which it passes
    half_width: float  #: that the bets aim at
    level: float
    rounds: int  #: at most
    pair: bool = False  #: whether it is a difference of two means
    made: int = 0
    sums: float = 0.0
    _sequence: BernsteinSequence = field(init=False)

    def __post_init__(self) -> None:
        self._sequence = BernsteinSequence(self.half_width, self.level)

    def check(self, cases: int) -> None:
        """Refuse a test that functions which never fail could not pass."""
        perfect = RoundsTest(
            self.threshold, self.lowest, self.half_width, self.level, _FARTHEST, self.pair
        )
        while perfect.goes_on:
            perfect.add(np.ones(cases), np.ones(cases))
        if perfect.verdict == "pass" and perfect.made <= self.rounds:
            return
        needed = f"{perfect.made} rounds" if perfect.verdict == "pass" else "too many rounds"
        raise InvalidInput(
            f"even without a failure this takes {needed} of {cases} "
            f"case{'s' if cases != 1 else ''} to show at level {self.level:g}; got "
            f"trials={self.rounds}. Allow more trials, or a larger tolerance."
        )

    def add(self, scores: Floats, base: Floats | None = None) -> None:
        """Take a round: the scores of all cases, of two functions those of the new one first."""
        self.made += 1
        if self.pair:
            assert base is not None
            self._sequence.add_pair(base, scores)
            self.sums += float((scores - base).mean())
        else:
            self._sequence.add(scores)
            self.sums += float(scores.mean())

    @property
    def goes_on(self) -> bool:
        """Whether there is another round to make."""
        return self.made < self.rounds and self.verdict == "undecided"

    @property
    def value(self) -> float:
        return self.sums / self.made

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, cut to the scale."""
        ends = self._sequence.ends()
        low, high = max(ends.low, -1.0 if self.pair else 0.0), min(ends.high, 1.0)
        return min(low, self.value), max(high, self.value)

    @property
    def verdict(self) -> RateVerdict:
        if not self.made:
            return "undecided"
        ends = self._sequence.ends()
        if ends.low > self.lowest:
            return "pass"
        return "fail" if ends.high < self.threshold else "undecided"
