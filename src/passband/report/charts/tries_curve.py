"""Draw a metric at every k, with bands that hold for all k at once.

Labels at the ends of lines replace a legend; they never overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from passband.report.charts.bar import Ends, Hue, level_text, wider_note
from passband.report.charts.canvas import Canvas
from passband.report.charts.chart import Chart
from passband.report.charts.interval_bars import scale_note
from passband.report.charts.scale import AxisScale, share_range, tick_text, ticks
from passband.report.charts.theme import Theme
from passband.report.charts.vega import HUES, hue_scale, spec
from passband.stats.interval import Rounding, common_rounding

_TALL = 40.0  # pixels of a label of two lines


@dataclass(frozen=True)
class EndLabel:
    """A label at the end of a line."""

    text: str  #: "pass@16 0.720"
    words: str  #: "at least one right"
    hue: Hue
    y: float  #: of the line's end
    top: float  #: of its band's end
    bottom: float


def beside(
    canvas: Canvas, labels: Sequence[EndLabel], right: float, top: float, bottom: float
) -> None:
    """Write labels to the right of the plot, each as near to its line as the others let it."""
    places = apart([label.y for label in labels], _TALL, top + 6, bottom - 22)
    room = canvas.width - right - 12
    for label, y in zip(labels, places, strict=True):
        if abs(y - label.y) > 8:
            canvas.line(right + 5, label.y, right + 11, y, label.hue)
        canvas.text(right + 13, y, label.text, 14.5, fill=label.hue, bold=True, room=room)
        canvas.text(right + 13, y + 17, label.words, 13.5, fill="muted", room=room)


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places as little as needed to be a gap apart, within a range, in their order.

    >>> apart([100, 90, 200], 40, 0, 300)
    [115.0, 75.0, 200.0]
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[list[float]] = []  # the place of the first of several neighbours, and their number
    for index in order:
        blocks.append([float(wanted[index]), 1])
        while len(blocks) > 1 and blocks[-1][0] < blocks[-2][0] + blocks[-2][1] * gap:
            first, count = blocks.pop()
            before = blocks[-1]
            total = before[0] * before[1] + (first - before[1] * gap) * count
            blocks[-1] = [total / (before[1] + count), before[1] + count]
    places = [first + step * gap for first, count in blocks for step in range(int(count))]
    moved = dict(zip(order, _pushed(places, gap, low, high), strict=True))
    return [moved[index] for index in range(len(wanted))]


def _pushed(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Push rising places into a range; from the lower end first, so the upper end holds."""
    for index in range(len(places)):
        places[index] = max(places[index], low + index * gap)
    for index in range(len(places)):
        places[index] = min(places[index], high - (len(places) - 1 - index) * gap)
    return places


def within(
    canvas: Canvas, labels: Sequence[EndLabel], right: float, top: float, bottom: float
) -> None:
    """Write labels inside a narrow plot: above the highest band, the last below the lowest.

    A label that would run into the axis or into another one goes to the free side instead.
    """
    ordered = sorted(labels, key=lambda label: label.y)
    wanted = [label.top - 10 for label in ordered]
    if len(ordered) > 1:
        wanted[-1] = ordered[-1].bottom + 18
    places = apart(wanted, 18, 13, bottom - 7)
    for label, y in zip(ordered, places, strict=True):
        words = f"{label.words}: {label.text}" if label.words else label.text
        canvas.text(
            right, y, words, 12.5, fill=label.hue, anchor="end", bold=True, room=canvas.width - 60
        )


Edges = tuple[Sequence[float], Sequence[float]]  #: the lower and the upper edge of a band
_MOST_POINTS = 160  # of a line; more cannot be seen


@dataclass(frozen=True)
class TriesLine:
    """A metric at every k. `outer` holds for problems like these, `inner` for these very ones."""

    metric: str  #: of the whole curve, with a star for k: "pass@*"
    k: Sequence[int]
    value: Sequence[float]
    outer: Edges | None = None
    inner: Edges | None = None
    hue: Hue = "blue"
    words: str = ""  #: the event: "at least one right"

    def at(self, k: int) -> str:
        """Return the name of the metric at a k."""
        return self.metric.replace("*", str(k))

    def last(self) -> tuple[float, float | None, float | None]:
        """Return the value at the largest k, and the ends of its band."""
        edges = self.outer or self.inner
        return (self.value[-1], None, None) if edges is None else (
            self.value[-1], edges[0][-1], edges[1][-1],
        )  # fmt: skip


@dataclass(frozen=True)
class _Plot:
    """Where the parts of a drawing are."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    size: float  # of the font


_WIDE = _Plot(760, 380, 46, 760 - 162, 14, 380 - 52, 14)
_NARROW = _Plot(380, 300, 38, 380 - 12, 28, 300 - 46, 12.5)


@dataclass(frozen=True)
class TriesCurve(Chart):
    """Metrics at every k on a doubling axis, with their bands.

    >>> line = TriesLine("pass@*", [1, 2], [0.5, 0.75], ([0.4, 0.6], [0.6, 0.8]))
    >>> TriesCurve((line,)).description
    'pass@1 0.50, pass@2 0.75, band 0.60 to 0.80.'
    """

    lines: Sequence[TriesLine]
    level: float = 0.95
    rounding: Rounding | None = None  #: that of the table beside it; None: by the bands
    title: str = "More tries"
    name: str = "tries"

    @property
    def written(self) -> Rounding:
        """How numbers are written."""
        return self.rounding or common_rounding(line.last() for line in self.lines)

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the vertical axis."""
        edges = [
            edge for line in self.lines for both in (line.outer, line.inner) for edge in both or ()
        ]
        return share_range(
            number for row in [*(line.value for line in self.lines), *edges] for number in row
        )

    @property
    def caption(self) -> str:
        """The meaning of the bands."""
        outer, inner = any(x.outer for x in self.lines), any(x.inner for x in self.lines)
        if not (outer or inner):
            return "Lines: the estimates. There are no bands." + scale_note(self.span)
        bands = "Outer bands hold for problems like these, inner bands for these very problems"
        if not (outer and inner):
            bands = "Bands hold for " + ("problems like these" if outer else "these very problems")
        sure = f"{bands}; each holds for all k at once ({level_text(self.level)})."
        return sure + wider_note(self._ends()) + scale_note(self.span)

    def _ends(self) -> Iterator[tuple[Ends, Ends]]:
        """Yield the ends of both bands at every k."""
        for line in self.lines:
            if line.outer is not None and line.inner is not None:
                yield from zip(
                    zip(*line.outer, strict=True), zip(*line.inner, strict=True), strict=True
                )

    @property
    def description(self) -> str:
        """The ends of the lines in words."""
        return " ".join(map(self._sentence, self.lines)) or "No lines."

    def _sentence(self, line: TriesLine) -> str:
        value, low, high = line.last()
        parts = [f"{line.at(line.k[0])} {self.written.value(line.value[0])}"]
        if len(line.k) > 1:
            parts.append(f"{line.at(line.k[-1])} {self.written.value(value)}")
        if low is not None and high is not None:
            parts.append(f"band {self.written.value(low)} to {self.written.value(high)}")
        return ", ".join(parts) + "."

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw axes, bands, lines, and a label at the end of each line instead of a legend."""
        plot = _NARROW if narrow else _WIDE
        canvas = Canvas(theme, plot.width, plot.height)
        x = _Doubling(self._most_k(), plot.left, plot.right)
        y = AxisScale(*self.span, plot.bottom, plot.top)
        self._axes(canvas, plot, x, y)
        for line in self.lines:
            _bands(canvas, line, x, y)
        for line in self.lines:
            _line(canvas, line, x, y)
        labels = [self._label(line, y) for line in self.lines]
        place = within if narrow else beside
        place(canvas, labels, plot.right, plot.top, plot.bottom)
        return canvas

    def _most_k(self) -> int:
        return max((line.k[-1] for line in self.lines), default=1)

    def _label(self, line: TriesLine, y: AxisScale) -> EndLabel:
        value, low, high = line.last()
        text = f"{line.at(line.k[-1])} {self.written.value(value)}"
        ends = (value if low is None else low), (value if high is None else high)
        return EndLabel(text, line.words, line.hue, y(value), y(ends[1]), y(ends[0]))

    def _axes(self, canvas: Canvas, plot: _Plot, x: _Doubling, y: AxisScale) -> None:
        percent = self.written.percent
        for mark in ticks(*self.span):
            canvas.line(plot.left, y(mark), plot.right, y(mark), "rule")
            text = (
                f"{mark:.2f}"
                if self.span == (0.0, 1.0) and not percent
                else tick_text(mark, percent=percent)
            )
            canvas.text(plot.left - 8, y(mark) + 4.5, text, plot.size, fill="muted", anchor="end")
        for k in x.marks():
            canvas.line(x(k), plot.bottom, x(k), plot.bottom + 5, "muted")
            canvas.text(x(k), plot.bottom + 20, str(k), plot.size, fill="muted", anchor="middle")
        middle = (plot.left + plot.right) / 2
        doubling = " (each step doubles)" if len(x.marks()) > 2 else ""
        words = f"k, number of tries{doubling}"
        canvas.text(middle, plot.bottom + 40, words, plot.size, fill="muted", anchor="middle")

    def vega(self) -> dict[str, Any]:
        """Return both bands as areas, and the lines, over a doubling axis."""
        x = {
            "field": "k", "type": "quantitative", "title": "k, number of tries",
            "scale": {"type": "log", "base": 2, "nice": False},
        }  # fmt: skip
        y = {"type": "quantitative", "scale": {"domain": list(self.span)}, "title": None}
        areas = [
            {
                "transform": [{"filter": f"isValid(datum.{which}_low)"}],
                "mark": {"type": "area", "opacity": opacity},
                "encoding": {"y": {"field": f"{which}_low", **y}, "y2": {"field": f"{which}_high"}},
            }
            for which, opacity in (("outer", 0.25), ("inner", 0.4))
        ]
        line = {"mark": {"type": "line", "point": True}, "encoding": {"y": {"field": "value", **y}}}
        rows = [row for each in self.lines for row in _rows(each)]
        colour = {**hue_scale(HUES), "field": "hue"}
        encoding = {"x": x, "color": colour, "detail": {"field": "metric"}}
        return spec(self, rows, [*areas, line], encoding=encoding, height=300)


@dataclass(frozen=True)
class _Doubling:
    """A scale of tries on which each step doubles."""

    most: int
    left: float
    right: float

    def __call__(self, k: int) -> float:
        """Return the place of a number of tries; one try alone is in the middle."""
        return AxisScale(0, math.log2(self.most), self.left, self.right)(math.log2(k))

    def marks(self) -> list[int]:
        """Return powers of two that have room for a label, and the largest number."""
        powers = [2**power for power in range(int(math.log2(self.most)) + 1)]
        room = max(26.0, 10.0 + 8 * len(str(self.most)))
        marks = [k for k in powers if self(self.most) - self(k) >= room]
        every = math.ceil(room / (self(2) - self(1))) if self.most > 1 else 1
        return [*marks[::every], self.most]


def _bands(canvas: Canvas, line: TriesLine, x: _Doubling, y: AxisScale) -> None:
    for edges, role, opacity, width in (
        (line.outer, f"{line.hue}_outer", 0.55, 12),
        (line.inner, line.hue, 0.38, 6),
    ):
        if edges is None:
            continue
        kept = _kept(line.k)
        upper = [(x(line.k[i]), y(edges[1][i])) for i in kept]
        lower = [(x(line.k[i]), y(edges[0][i])) for i in reversed(kept)]
        if len(kept) == 1:
            (place, top), (_, bottom) = upper[0], lower[0]
            canvas.rect(place - width / 2, top, width, max(bottom - top, 2), role, radius=width / 2)
        else:
            canvas.polygon([*upper, *lower], role, opacity)


def _line(canvas: Canvas, line: TriesLine, x: _Doubling, y: AxisScale) -> None:
    points = [(x(line.k[i]), y(line.value[i])) for i in _kept(line.k)]
    if len(points) > 1:
        canvas.polyline(points, line.hue, 2.5)
        canvas.circle(*points[-1], 4.5, line.hue)
    canvas.circle(*points[0], 4.5, "text")


def _kept(k: Sequence[int]) -> list[int]:
    """Return the indices of the points to draw: all, or enough that they do not overlap."""
    if len(k) <= _MOST_POINTS:
        return list(range(len(k)))
    step = math.log2(k[-1] / k[0]) / _MOST_POINTS
    kept = [0]
    for index, tries in enumerate(k):
        if math.log2(tries / k[kept[-1]]) >= step or tries & (tries - 1) == 0:
            kept.append(index)
    return sorted({*kept, len(k) - 1})


def _rows(line: TriesLine) -> list[dict[str, object]]:
    """Return a line as rows of data, one for each drawn k."""
    rows: list[dict[str, object]] = []
    for i in _kept(line.k):
        row: dict[str, object] = {"metric": line.metric, "hue": line.hue, "words": line.words}
        row |= {"k": line.k[i], "value": line.value[i]}
        for which, edges in (("outer", line.outer), ("inner", line.inner)):
            if edges is not None:
                row |= {f"{which}_low": edges[0][i], f"{which}_high": edges[1][i]}
        rows.append(row)
    return rows
