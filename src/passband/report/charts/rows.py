"""Rows: labels, bars on one axis, and numbers beside them; two lines a row where it is narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from passband.report.charts.bar import Bar, draw_bar
from passband.report.charts.canvas import Canvas, fitted, text_width
from passband.report.charts.scale import Scale, tick_text, ticks
from passband.report.charts.theme import Theme

__all__ = ["MOST_ROWS", "NARROW", "WIDE", "Column", "Rows", "rows_note"]

WIDE, NARROW = 760.0, 380.0  #: pixels of the two drawings of a chart
MOST_ROWS = 60  #: drawn; more are unreadable
_GAP = 18.0
_HEAD = 26.0
_ROW, _TALL_ROW = 30.0, 46.0
_SIZE = 14.0


@dataclass(frozen=True)
class Column:
    """Texts beside the bars."""

    head: str
    cells: Sequence[str]
    right: bool = False  #: aligned to the right
    bold: bool = False
    muted: bool = False
    most: float = 200.0  #: pixels at most

    @property
    def width(self) -> float:
        """The room that it takes."""
        texts = [text_width(cell, _SIZE, bold=self.bold) for cell in self.cells]
        return min(max([text_width(self.head, 12.5), *texts]), self.most)


@dataclass(frozen=True)
class Rows:
    """The layout of bars with columns of text on both sides."""

    bars: Sequence[Bar]
    before: Sequence[Column]
    after: Sequence[Column]
    span: tuple[float, float]  #: the ends of the axis
    percent: bool = False
    marks: Sequence[float] | None = None  #: ticks of the axis; None: round numbers
    behind: Callable[[Canvas, Scale, float, float], None] | None = None  #: drawn below the bars

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw all rows, in one line each or, where it is narrow, in two."""
        return self._narrow(theme) if narrow else self._wide(theme)

    def _wide(self, theme: Theme) -> Canvas:
        canvas = Canvas(theme, WIDE, _HEAD + _ROW * len(self.bars) + 4)
        left = sum(column.width + _GAP for column in self.before)
        right = sum(column.width + _GAP for column in self.after)
        scale = Scale(*self.span, left + 6, WIDE - right - 6)
        self._axis(canvas, scale)
        x = 0.0
        for column in self.before:
            self._column(canvas, column, x)
            x += column.width + _GAP
        x = WIDE - right + _GAP
        for column in self.after:
            self._column(canvas, column, x)
            x += column.width + _GAP
        for index, bar in enumerate(self.bars):
            draw_bar(canvas, bar, scale, _HEAD + _ROW * (index + 0.5))
        return canvas

    def _column(self, canvas: Canvas, column: Column, x: float) -> None:
        place = x + column.width if column.right else x
        anchor = "end" if column.right else "start"
        fill = "muted" if column.muted else "text"
        canvas.text(place, 15, column.head, 12.5, fill="muted", anchor=anchor)  # type: ignore[arg-type]
        for index, cell in enumerate(column.cells):
            y = _HEAD + _ROW * (index + 0.5) + 5
            canvas.text(
                place, y, cell, _SIZE, fill=fill, anchor=anchor, bold=column.bold,  # type: ignore[arg-type]
                room=column.width + 1,
            )  # fmt: skip

    def _axis(self, canvas: Canvas, scale: Scale) -> None:
        bottom = canvas.height - 2
        if self.behind is not None:
            self.behind(canvas, scale, _HEAD, bottom)
        marks = ticks(*self.span) if self.marks is None else self.marks
        labelled = _labelled(marks, scale)
        for mark in marks:
            canvas.line(scale(mark), _HEAD, scale(mark), bottom, "rule")
            if mark in labelled:
                text = tick_text(mark, percent=self.percent)
                canvas.text(scale(mark), 15, text, 12.5, fill="muted", anchor="middle")

    def _narrow(self, theme: Theme) -> Canvas:
        """Draw labels and numbers above each bar, which has the whole width."""
        canvas = Canvas(theme, NARROW, _HEAD + _TALL_ROW * len(self.bars) + 4)
        scale = Scale(*self.span, 8, NARROW - 8)
        self._axis(canvas, scale)
        for index, bar in enumerate(self.bars):
            top = _HEAD + _TALL_ROW * index
            self._words(canvas, index, top + 17)
            draw_bar(canvas, bar, scale, top + 33)
        return canvas

    def _words(self, canvas: Canvas, index: int, y: float) -> None:
        """Write the label at the left, the numbers at the right, further words between them."""
        label, *notes = self.before[0].cells[index], *(c.cells[index] for c in self.before[1:])
        numbers = "  ".join(filter(None, [*notes, *(c.cells[index] for c in self.after)]))
        numbers = fitted(numbers, 13, NARROW * 0.66)
        taken = text_width(numbers, 13)
        canvas.text(NARROW - 2, y, numbers, 13, fill="muted", anchor="end")
        canvas.text(2, y, label, _SIZE, bold=True, room=NARROW - taken - 16)


def _labelled(marks: Sequence[float], scale: Scale) -> list[float]:
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
