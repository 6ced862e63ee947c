"""What every chart can do: be drawn, be described in words, be exported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from passband.report.charts.canvas import Canvas
from passband.report.charts.figure import caption, figure
from passband.report.charts.theme import NOTEBOOK, PAGE, Theme


class Chart(ABC):
    """A chart: plain numbers and labels that can draw themselves.

    A chart is a frozen dataclass; `name` and `title` are among its fields. Every interval that a
    number has is drawn, and the caption says what it means and its level.
    """

    name: str  #: the stem of its files
    title: str

    @property
    @abstractmethod
    def caption(self) -> str:
        """What the bars and bands mean, and their level, as a text below the chart."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The numbers in words, for those who do not see the drawing."""

    @abstractmethod
    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw the chart."""

    @abstractmethod
    def vega(self) -> dict[str, Any]:
        """Return the chart as a Vega-Lite specification, with its data."""

    def svg(self, theme: Theme = PAGE, *, narrow: bool = False) -> str:
        """Return the chart as SVG: for a page unless another theme is given; narrow for phones."""
        return self.draw(theme, narrow=narrow).svg(self.title, self.description)

    def _repr_html_(self) -> str:
        """Return the chart with its caption, as Jupyter and marimo show it."""
        return figure(self.svg(NOTEBOOK), caption(self.caption))
