"""Draw where uncertainty comes from: one bar, split into shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.canvas import Canvas, text_width
from passband.report.charts.chart import Chart
from passband.report.charts.rows import NARROW
from passband.report.charts.theme import LIGHT, Theme
from passband.report.charts.vega import head

_WIDTH, _HEIGHT = 440.0, 34.0
_ROLES = ("blue_outer", "blue", "orange_outer", "orange")


@dataclass(frozen=True)
class SplitPart:
    """A share of the whole, and its name."""

    label: str
    share: float


@dataclass(frozen=True)
class SplitBar(Chart):
    """Shares of a variance that add up to 1.

    >>> SplitBar((SplitPart("which problems", 0.97), SplitPart("sampling", 0.03))).description
    '97 % which problems, 3 % sampling.'
    """

    parts: Sequence[SplitPart]
    what: str = "the variance of the estimate"
    title: str = "Where the uncertainty comes from"
    name: str = "uncertainty"

    @property
    def caption(self) -> str:
        """The meaning of the lengths."""
        if not any(part.share > 0 for part in self.parts):
            return f"There is nothing to split: {self.what} is zero or unknown."
        return f"Lengths are shares of {self.what}, themselves estimated."

    @property
    def description(self) -> str:
        """The shares in words."""
        return ", ".join(f"{_percent(part.share)} {part.label}" for part in self.parts) + "."

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw the parts side by side, each labelled inside if it fits, else below.

        Below, the first label is at the left and the others at the right, as their parts are.
        """
        width = NARROW if narrow else _WIDTH
        canvas = Canvas(theme, width, _HEIGHT + 24)
        canvas.rect(0, 0, width, _HEIGHT, "empty")
        x, below = 0.0, width
        total = sum(max(part.share, 0.0) for part in self.parts) or 1.0
        for index, part in enumerate(self.parts):
            length = width * max(part.share, 0.0) / total
            role = _ROLES[index % len(_ROLES)]
            canvas.rect(x, 0, length, _HEIGHT, role)
            label = f"{_percent(part.share)} {part.label}"
            inside = "_outer" in role and text_width(label, 14) + 16 <= length
            if inside:
                canvas.text(x + 10, _HEIGHT / 2 + 5, label, 14)
            elif index == 0:
                canvas.text(0, _HEIGHT + 18, label, 13, fill="muted")
            else:
                canvas.text(below, _HEIGHT + 18, label, 13, fill="muted", anchor="end")
                below -= text_width(label, 13) + 14
            x += length
        return canvas

    def vega(self) -> dict[str, Any]:
        """Return one stacked bar."""
        rows = [
            {"part": part.label, "share": part.share, "order": index}
            for index, part in enumerate(self.parts)
        ]
        colours = {
            "domain": [part.label for part in self.parts],
            "range": [getattr(LIGHT, _ROLES[i % len(_ROLES)]) for i in range(len(self.parts))],
        }
        return {
            **head(self),
            "width": 440,
            "height": 34,
            "data": {"values": rows},
            "mark": "bar",
            "encoding": {
                "x": {"field": "share", "type": "quantitative", "stack": "zero", "title": None},
                "color": {"field": "part", "type": "nominal", "scale": colours, "title": None},
                "order": {"field": "order", "type": "quantitative"},
            },
        }


def _percent(share: float) -> str:
    """Return a share as a percentage; only exact 0 and 1 read 0 % and 100 %.

    >>> _percent(0.971), _percent(0.9996), _percent(0.0004), _percent(1)
    ('97 %', 'over 99 %', 'under 1 %', '100 %')
    """
    if 0.995 <= share < 1:
        return "over 99 %"
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{100 * share:.0f} %"
