"""Intervals as bars beside a table, and the problems of a group in one line, for wide terminals.

    metric   value  95% interval    0                   0.5                   1
    pass@1   0.420  [0.365, 0.477]  ┊              ─━●━─ ┊                    ┊
    problems ████████▇▇▆▆▅▄▄▃▂▂▁▁                 37 always, 107 sometimes, 56 never

`─` is the interval for problems like these, `━` that for these very problems, `●` the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from passband.report.layout import rows
from passband.report.rendering import Cell, Row, printable, render
from passband.report.style import Style
from passband.report.table_line import TableLine, table_lines
from passband.summary import Group, Spread, Summary

LEAST_COLUMNS = 100  #: of a terminal that has room for bars
SIGNS = "─━●┊▁▂▃▄▅▆▇█"  #: that the encoding of the terminal must have
LEGEND = "Bars: ● the estimate, ━ its interval for these very problems, ─ for problems like these."
_NARROWEST, _WIDEST = 25, 61  # letters of a bar; odd, so that one half has a place of its own
_SPREAD = 40  # letters of the line of problems

Interval = tuple[float, float]


def barred_rows(
    summary: Summary, style: Style, columns: int, inner: Summary | None = None
) -> list[Row]:
    """Return the rows of a long table, with bars if there is room for them in so many columns.

    `inner` has the same metrics with intervals over trials. Metrics that are no shares of 1 have
    no bar.
    """
    table = rows(summary, style)
    lines = table_lines(summary)
    width = _width(table, columns)
    if not width or not any(one.figure and one.figure.is_share for one in lines):
        return table
    narrow = {} if inner is None else _intervals(inner)
    head = _axis(width, percent=style.percent)
    return [
        {**row, head: _bar(one, narrow, summary.request.over, width)}
        for row, one in zip(table, lines, strict=True)
    ]


def _width(table: Sequence[Row], columns: int) -> int:
    """Return the letters that are left for bars, an odd number; 0 if they are too few."""
    if not table:
        return 0
    left = columns - max(map(len, render(table, "table").splitlines())) - 2
    width = min(left - (left + 1) % 2, _WIDEST)
    return width if width >= _NARROWEST else 0


def _intervals(summary: Summary) -> dict[tuple[str, ...], Interval]:
    """Return the intervals of lines, by the key that distinguishes each line."""
    return {
        (*one.by.values(), one.line.metric): (one.figure.low, one.figure.high)
        for one in table_lines(summary)
        if one.figure is not None and one.figure.low is not None and one.figure.high is not None
    }


def _bar(one: TableLine, narrow: Mapping[tuple[str, ...], Interval], over: str, width: int) -> Cell:
    figure = one.figure
    if figure is None or not figure.is_share:
        return ""
    own = None if figure.low is None or figure.high is None else (figure.low, figure.high)
    outer = own if over == "problems" else None
    inner = narrow.get((*one.by.values(), one.line.metric)) if over == "problems" else own
    return bar(figure.value, outer, inner, width)


def bar(value: float, outer: Interval | None, inner: Interval | None, width: int) -> str:
    """Draw an estimate and its intervals on a scale from 0 to 1.

    >>> bar(0.5, (0.25, 0.75), (0.375, 0.625), 17)
    '┊   ──━━●━━──   ┊'
    """
    signs = [" "] * width
    for place in (0, (width - 1) / 2, width - 1):
        signs[round(place)] = "┊"
    for interval, sign in ((outer, "─"), (inner, "━")):
        if interval is not None:
            low, high = (_place(end, width) for end in interval)
            signs[low : high + 1] = sign * (high - low + 1)
    signs[_place(value, width)] = "●"
    return "".join(signs)


def _place(value: float, width: int) -> int:
    return math.floor(min(max(value, 0.0), 1.0) * (width - 1) + 0.5)


def _axis(width: int, *, percent: bool) -> str:
    """Return the head of the bars: the ends and the middle of the scale, each above its place.

    >>> _axis(25, percent=False)
    '0          0.5          1'
    """
    middle, end = ("50", "100") if percent else ("0.5", "1")
    left = f"0{middle:>{(width - 1) // 2 + (len(middle) - 1) // 2}}"
    return left + f"{end:>{width - len(left)}}"


def spread_lines(groups: Sequence[Group], indent: int = 10) -> list[str]:
    """Return a line for each group that shows the success rates of its problems, easiest first."""
    drawn = [(group, group.spread) for group in groups if group.spread is not None]
    labels = [printable(group.name) if group.by else "problems" for group, _ in drawn]
    width = max([indent, *map(len, labels)])
    return [
        f"{label:{width}}  {_levels(spread):{_SPREAD}}  {spread.always} always, "
        f"{spread.sometimes} sometimes, {spread.never} never right"
        for label, (_, spread) in zip(labels, drawn, strict=True)
    ]


def _levels(spread: Spread) -> str:
    """Draw success rates; a full block is always right, nothing is never.

    >>> _levels(Spread(2, 1, 1, (1.0, 1.0, 0.5, 0.0))).rstrip()
    '████████████████████▄▄▄▄▄▄▄▄▄▄'
    """
    levels = spread.levels
    edges = [place * len(levels) / _SPREAD for place in range(_SPREAD + 1)]
    return "".join(_block(_mean(levels, start, stop)) for start, stop in pairwise(edges))


def _mean(levels: Sequence[float], start: float, stop: float) -> float:
    """Return the mean of the levels between two places."""
    total = 0.0
    for index in range(math.floor(start), math.ceil(stop)):
        total += levels[index] * (min(index + 1, stop) - max(index, start))
    return total / (stop - start)


def _block(rate: float) -> str:
    if rate <= 1e-9:
        return " "
    return "█" if rate >= 1 - 1e-9 else "▁▂▃▄▅▆▇"[min(math.ceil(rate * 8), 7) - 1]
