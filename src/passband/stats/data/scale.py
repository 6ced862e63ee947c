"""The scale of a score: its least and largest value, and which end is the better one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from passband.errors import InvalidInput

T = TypeVar("T", bound=Any)  # a number, or an array of them
#: Who states a scale, as messages name it, if it is not the source of the scores.
CALLER = "scales= (in the shell, --lower-is-better)"
_STATEMENTS = ("low", "high", "lower_is_better")
_SLACK = 1e-9  # of rounding: sacrebleu's best BLEU is a little above 100


@dataclass(frozen=True)
class Scale:
    """The ends of a score's range, None where it has none or it is not known, and its direction.

    Where no direction is stated, higher scores are better.

    >>> Scale(0.0, None, lower_is_better=True).is_right(0.3)
    False
    """

    low: float | None = None
    high: float | None = None
    lower_is_better: bool | None = None  #: None: not stated
    is_mirrored: bool = False  #: whether lower scores were better before they were mirrored

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InvalidInput(
                f"a scale must have its low end below its high end; got {self.low:g} and "
                f"{self.high:g}."
            )

    @property
    def best(self) -> float | None:
        """Best possible score, if known."""
        return self.low if self.lower_is_better else self.high

    @property
    def worst(self) -> float | None:
        """Worst possible score, if known."""
        return self.high if self.lower_is_better else self.low

    @property
    def is_known(self) -> bool:
        """Whether anything but the direction is known."""
        return self.low is not None or self.high is not None

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None

    @property
    def is_unit(self) -> bool:
        """Whether scores are from 0 to 1."""
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def right(self) -> float:
        """The score of a right answer: the best; where that is not known, 1 or, if lower, 0."""
        return float(not self.lower_is_better) if self.best is None else self.best

    def is_right(self, value: float) -> bool:
        """Return whether a score means a right answer."""
        return value <= self.right if self.lower_is_better else value >= self.right

    def holds(self, value: float) -> bool:
        """Return whether a score lies on the scale, but for rounding."""
        slack = _SLACK * (1.0 + abs(value))
        above = self.low is None or value >= self.low - slack
        return above and (self.high is None or value <= self.high + slack)

    def clipped(self, value: float) -> float:
        """Return the value, or the end of the scale that it lies beyond."""
        above = value if self.low is None else max(value, self.low)
        return above if self.high is None else min(above, self.high)

    def mirrored(self, value: T) -> T:
        """Return the value, or values, as far from the other end; without both ends, from 0."""
        if self.low is None or self.high is None:
            return cast(T, -value)
        return cast(T, self.low + self.high - value)

    def share_of(self, value: T) -> T:
        """Scale values from [low, high] to [0, 1]; both ends must be known.

        >>> Scale(-1.0, 1.0).share_of(0.5), Scale(-1.0, 1.0).at_share(0.75)
        (0.75, 0.5)
        """
        assert self.low is not None
        assert self.high is not None
        return cast(T, (value - self.low) / (self.high - self.low))

    def at_share(self, share: T) -> T:
        """Return the values that are a share of the way from the low end to the high one."""
        assert self.low is not None
        assert self.high is not None
        return cast(T, self.low + share * (self.high - self.low))

    @property
    def upright(self) -> Scale:
        """The scale of mirrored scores, of which higher ones are better."""
        low, high = self.low, self.high
        if low is None or high is None:
            low, high = (None if end is None else -end for end in (high, low))
        return Scale(low, high, is_mirrored=True)

    def joined(self, other: Scale, name: str, other_name: str = CALLER) -> Scale:
        """Combine two statements on the same scores; refuse a contradiction.

        >>> print(Scale(0.0).joined(Scale(lower_is_better=True), "a.csv: ter"))
        0 to inf, lower is better
        """
        pairs = [(getattr(self, each), getattr(other, each)) for each in _STATEMENTS]
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise InvalidInput(
                f"{name} has scores of {self}, and {other_name} says {other}; one must be wrong."
            )
        return Scale(*(one if two is None else two for one, two in pairs))

    def directed(self, lower_is_better: bool | None) -> Scale:
        """Return the same ends with this direction."""
        return replace(self, lower_is_better=lower_is_better)

    @property
    def direction(self) -> str:
        """The direction in words."""
        return "lower is better" if self.lower_is_better else "higher is better"

    def __str__(self) -> str:
        """Format the ends, and the direction if it is stated.

        >>> print(Scale(0.0, None, lower_is_better=True))
        0 to inf, lower is better
        """
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        ends = f"{low} to {high}" if self.is_known else "unknown ends"
        return ends if self.lower_is_better is None else f"{ends}, {self.direction}"


def titled(metric: str, lower_is_better: bool) -> str:
    """Return the name of a metric, with its direction if lower values are better.

    >>> titled("avg", True), titled("pass@1", False)
    ('avg (lower is better)', 'pass@1')
    """
    return f"{metric} (lower is better)" if lower_is_better else metric


UNIT = Scale(0.0, 1.0, lower_is_better=False)
UNSTATED = Scale()
