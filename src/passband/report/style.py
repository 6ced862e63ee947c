"""Choose how numbers of a table are written: decimals, percentages, long or wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from passband.stats.interval import Rounding, common_rounding

Layout = Literal["long", "wide"]


class Figure(NamedTuple):
    """An estimate to be written."""

    value: float
    low: float | None = None
    high: float | None = None
    is_share: bool = False  # of 1, so that it can be a percentage

    @property
    def numbers(self) -> tuple[float, float | None, float | None]:
        """The value and the ends of the interval."""
        return self.value, self.low, self.high


@dataclass(frozen=True)
class Style:
    """The options of a table."""

    digits: int | None = None  #: decimals; None: by the error
    percent: bool = False  #: write shares of 1 as percentages
    layout: Layout = "long"
    notes: bool = False  #: every note below it, not only the most severe

    @property
    def is_plain(self) -> bool:
        """Whether numbers are unrounded."""
        return self.digits is None and not self.percent

    def roundings(self, figures: Sequence[Figure | None]) -> list[Rounding]:
        """Return how each estimate of a column is written, alike for those of one scale.

        >>> figures = [Figure(0.51, 0.39, 0.63, True), Figure(34.2, 31.5, 36.9), None]
        >>> [rounding.places for rounding in Style().roundings(figures)]
        [2, 1, 2]
        """
        scales = [self._scale(figure) for figure in figures]
        chosen = {
            scale: self.rounding(
                figure for figure, own in zip(figures, scales, strict=True) if own == scale
            )
            for scale in scales
        }
        return [chosen[scale] for scale in scales]

    def rounding(self, figures: Iterable[Figure | None]) -> Rounding:
        """Return how estimates of one scale are written."""
        present = [figure for figure in figures if figure is not None]
        percent = self.percent and all(figure.is_share for figure in present)
        if self.digits is not None:
            return Rounding(self.digits, percent)
        return common_rounding((figure.numbers for figure in present), percent=percent)

    def number(self, number: float | None, rounding: Rounding) -> str | float | None:
        """Return a number for programs: in full, unless decimals are asked for."""
        if number is None:
            return None
        if self.digits is not None:
            return rounding.value(number)
        return 100 * number if rounding.percent else number

    def _scale(self, figure: Figure | None) -> tuple[bool, bool]:
        """Classify a scale: percentages, numbers up to 1, larger ones."""
        if figure is None:
            return False, False
        largest = max(abs(number) for number in figure.numbers if number is not None)
        return self.percent and figure.is_share, largest > 1


PLAIN = Style()
