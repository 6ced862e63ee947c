"""Labels at the ends of lines, instead of a legend; they never cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from passband.report.charts.bar import Hue
from passband.report.charts.canvas import Canvas

_TALL = 40.0  # pixels of a label of two lines


@dataclass(frozen=True)
class EndLabel:
    """What stands at the end of a line."""

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
