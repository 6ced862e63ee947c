"""The scale of a score: its least and largest value, and which end is the better one."""

from __future__ import annotations

from dataclasses import dataclass

from passband.errors import InvalidInput

__all__ = ["UNIT", "Scale"]


@dataclass(frozen=True)
class Scale:
    """The ends of a score's range, None where it has none or it is not known, and its direction.

    >>> Scale(0.0, None, lower_is_better=True).is_right(0.3)
    False
    """

    low: float | None = None
    high: float | None = None
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InvalidInput(
                f"a scale must have its low end below its high end; got {self.low:g} and "
                f"{self.high:g}."
            )

    @property
    def best(self) -> float | None:
        """The best score there can be, where that is known."""
        return self.low if self.lower_is_better else self.high

    @property
    def worst(self) -> float | None:
        """The worst score there can be, where that is known."""
        return self.high if self.lower_is_better else self.low

    @property
    def is_known(self) -> bool:
        """Whether anything but the direction is known."""
        return self.low is not None or self.high is not None

    @property
    def is_unit(self) -> bool:
        """Whether scores are from 0 to 1."""
        return (self.low, self.high) == (0.0, 1.0)

    def is_right(self, value: float) -> bool:
        """Return whether a score is the best; where that is not known, 1 or, if lower, 0 is."""
        best = self.best if self.best is not None else float(not self.lower_is_better)
        return value <= best if self.lower_is_better else value >= best

    def holds(self, value: float) -> bool:
        """Return whether a score lies on the scale."""
        above = self.low is None or value >= self.low
        return above and (self.high is None or value <= self.high)

    def mirrored(self, value: float) -> float:
        """Return the value at the same distance from the other end; without ends, from 0."""
        if self.low is None or self.high is None:
            return -value
        return self.low + self.high - value


UNIT = Scale(0.0, 1.0)
