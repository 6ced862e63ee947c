"""Define what every chart can do: draw itself, describe itself in words, be exported.

Notebooks get charts as HTML figures whose style rules touch nothing else of the page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from passband.report.charts.canvas import Canvas, escape
from passband.report.charts.theme import NOTEBOOK, PAGE, Theme

# Notebooks have themes of their own and do not say which: colours are those of the text around.
# The class is doubled where a notebook has rules for tables that would win.
_STYLE = """
.passband{margin:4px 0;max-width:784px}
.passband svg{display:block;max-width:100%;height:auto;overflow:visible}
.passband figcaption{font-size:13px;line-height:1.45;margin-top:6px;opacity:.75}
.passband ul{margin:4px 0 0;padding-left:18px}
.passband table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
.passband.passband tr{background:none}
.passband.passband th,.passband.passband td{padding:3px 14px 3px 0;text-align:left;
border-bottom:1px solid rgba(128,128,128,.3);vertical-align:middle}
.passband.passband th{font-weight:400;opacity:.75}
.passband.passband .number{text-align:right}
.passband p{font-size:13px;margin:2px 0;opacity:.75}
""".strip().replace("\n", "")


def figure(*parts: str) -> str:
    """Return parts of a figure, which are HTML, with their style."""
    return f'<figure class="passband"><style>{_STYLE}</style>{"".join(parts)}</figure>'


def caption(*sentences: str, notes: tuple[str, ...] = ()) -> str:
    """Return sentences below a drawing, and notes as a list.

    >>> caption("All 95 % intervals.", "1 < 2.")
    '<figcaption>All 95 % intervals. 1 &lt; 2.</figcaption>'
    """
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    listed = f"<ul>{items}</ul>" if items else ""
    return f"<figcaption>{escape(' '.join(filter(None, sentences)))}{listed}</figcaption>"


def lines(texts: Iterable[str]) -> str:
    """Return texts as lines above a drawing.

    >>> lines(["3 problems", "a < b"])
    '<p>3 problems</p><p>a &lt; b</p>'
    """
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


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
        """The meaning of the bars and bands, and their level, as a text below the chart."""

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
