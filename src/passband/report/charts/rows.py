"""Lay out labels, bars on one axis and numbers; two lines a row where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from passband.report.charts.bar import Bar, draw_bar
from passband.report.charts.canvas import Anchor, Canvas, fitted, text_width
from passband.report.charts.scale import AxisScale, tick_text, ticks
from passband.report.charts.theme import Theme

WIDE, NARROW = 760.0, 380.0  #: pixels of the two drawings of a chart
MOST_ROWS = 60  #: drawn; more are unreadable
_GAP = 18.0
_LEAST_AXIS = 220.0
_WIDEST = 920.0  # for texts that would be cut otherwise
_HEAD = 26.0
_ROW, _TALL_ROW = 30.0, 46.0
_SIZE = 14.0
_LINE = 18.0  # of labels that have no room beside their numbers


@dataclass(frozen=True)
class Column:
    """Texts beside the bars."""

    head: str
    cells: Sequence[str]
    right: bool = False  #: aligned to the right
    bold: bool = False
    muted: bool = False
    most: float = 200.0  #: pixels at most
    alone: str = "{}"  #: a cell where there is no head: "{} problems"

    @property
    def width(self) -> float:
        """The room that it takes."""
        texts = [text_width(cell, _SIZE, bold=self.bold) for cell in self.cells]
        return min(max([text_width(self.head, 12.5), *texts]), self.most)

    @property
    def anchor(self) -> Anchor:
        """The side on which its texts are aligned."""
        return "end" if self.right else "start"


@dataclass(frozen=True)
class Rows:
    """The layout of bars with columns of text on both sides."""

    bars: Sequence[Bar]
    before: Sequence[Column]
    after: Sequence[Column]
    span: tuple[float, float]  #: the ends of the axis
    percent: bool = False
    marks: Sequence[float] | None = None  #: ticks of the axis; None: round numbers
    stripe: tuple[float, float] | None = None  #: shaded behind the bars
    zero: bool = False  #: whether zero is a line in the colour of text

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw all rows, in one line each or, where it is narrow, in two."""
        return self._narrow(theme) if narrow else self._wide(theme)

    def _wide(self, theme: Theme) -> Canvas:
        before, after = self._fitting()
        left, right = (sum(c.width + _GAP for c in side) for side in (before, after))
        width = max(WIDE, left + right + _LEAST_AXIS)
        canvas = Canvas(theme, width, _HEAD + _ROW * len(self.bars) + 4)
        scale = AxisScale(*self.span, left + 6, width - right - 6)
        self._head(canvas, scale)
        self._grid(canvas, scale, _HEAD, canvas.height - 2)
        self._columns(canvas, before, 0.0)
        self._columns(canvas, after, width - right + _GAP)
        for index, bar in enumerate(self.bars):
            draw_bar(canvas, bar, scale, _HEAD + _ROW * (index + 0.5))
        return canvas

    def _fitting(self) -> tuple[list[Column], list[Column]]:
        """Return the columns, the widest of them cut where even a wider drawing has no room."""
        columns = [*self.before, *self.after]
        while sum(column.width + _GAP for column in columns) > _WIDEST - _LEAST_AXIS:
            widest = max(range(len(columns)), key=lambda index: columns[index].width)
            columns[widest] = replace(columns[widest], most=columns[widest].width * 0.9)
        return columns[: len(self.before)], columns[len(self.before) :]

    def _columns(self, canvas: Canvas, columns: Sequence[Column], x: float) -> None:
        for column in columns:
            place = x + column.width if column.right else x
            canvas.text(place, 15, column.head, 12.5, fill="muted", anchor=column.anchor)
            self._cells(canvas, column, place)
            x += column.width + _GAP

    def _cells(self, canvas: Canvas, column: Column, x: float) -> None:
        fill = "muted" if column.muted else "text"
        for index, cell in enumerate(column.cells):
            y = _HEAD + _ROW * (index + 0.5) + 5
            canvas.text(
                x,
                y,
                cell,
                _SIZE,
                fill=fill,
                anchor=column.anchor,
                bold=column.bold,
                room=column.width + 1,
            )

    def _narrow(self, theme: Theme) -> Canvas:
        """Draw labels and numbers above each bar, which has the whole width."""
        extra = 0.0 if all(map(self._fits, range(len(self.bars)))) else _LINE
        row = _TALL_ROW + extra
        canvas = Canvas(theme, NARROW, _HEAD + row * len(self.bars) + 4)
        scale = AxisScale(*self.span, 8, NARROW - 8)
        self._head(canvas, scale)
        for index, bar in enumerate(self.bars):
            top = _HEAD + row * index
            self._grid(canvas, scale, top + extra + 23, top + extra + 43)
            self._words(canvas, index, top + 17, extra)
            draw_bar(canvas, bar, scale, top + extra + 33)
        return canvas

    def _words(self, canvas: Canvas, index: int, y: float, extra: float) -> None:
        """Write the label at the left, and the numbers at the right, or in a line of their own."""
        numbers = self._numbers(index)
        x = 2.0 if extra else NARROW - 2
        anchor: Anchor = "start" if extra else "end"
        canvas.text(x, y + extra, numbers, 13, fill="muted", anchor=anchor)
        room = NARROW - 4 if extra else self._room(index)
        canvas.text(2, y, self.before[0].cells[index], _SIZE, bold=True, room=room)

    def _numbers(self, index: int) -> str:
        columns = [*self.before[1:], *self.after]
        cells = [(column, column.cells[index]) for column in columns if column.cells[index]]
        numbers = " · ".join(column.alone.format(cell) for column, cell in cells)
        return fitted(numbers, 13, NARROW * 0.66)

    def _room(self, index: int) -> float:
        return NARROW - text_width(self._numbers(index), 13) - 16

    def _fits(self, index: int) -> bool:
        """Return whether a label has room beside its numbers."""
        label = self.before[0].cells[index]
        return text_width(label, _SIZE, bold=True) <= self._room(index)

    def _head(self, canvas: Canvas, scale: AxisScale) -> None:
        """Write the numbers of the axis; those at the edges stay within the drawing."""
        for mark in _labelled(self._marks(), scale):
            text = tick_text(mark, percent=self.percent)
            half = text_width(text, 12.5) / 2
            x = min(max(scale(mark), half), canvas.width - half)
            canvas.text(x, 15, text, 12.5, fill="muted", anchor="middle")

    def _grid(self, canvas: Canvas, scale: AxisScale, top: float, bottom: float) -> None:
        """Draw the background of the bars: the stripe, hairlines, and zero."""
        if self.stripe is not None:
            low, high = map(scale, self.stripe)
            canvas.rect(low, top, high - low, bottom - top, "empty")
        for mark in self._marks():
            zero = self.zero and mark == 0
            x = scale(mark)
            canvas.line(x, top, x, bottom, "text" if zero else "rule", 1.5 if zero else 1)

    def _marks(self) -> Sequence[float]:
        return ticks(*self.span) if self.marks is None else self.marks


def _labelled(marks: Sequence[float], scale: AxisScale) -> list[float]:
    """Return the marks that have room for a label: every one, or every second, and so on."""
    if len(marks) < 2:
        return list(marks)
    apart = abs(scale(marks[1]) - scale(marks[0]))
    every = 1
    while every * apart < 44 and every < len(marks):
        every += 1
    return list(marks[::every])


def rows_note(count: int, noun: str) -> str:
    """Return a sentence on rows that are not drawn, if there are any."""
    return f" The first {MOST_ROWS} of {count:,} {noun} are drawn." if count > MOST_ROWS else ""
