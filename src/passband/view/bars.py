"""Draw and write estimates with one rounding for a whole page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from passband.report import Bar, Figure, IntervalBars, Style, interval_cell
from passband.stats.interval import Estimate, Rounding
from passband.summary import Line, RunNumbers
from passband.view.markup import Html

SMALL, _WIDE = 160, 400  # pixels


@dataclass(frozen=True)
class Written:
    """A line of estimates as it is shown; `bar` is None where the axis is not that of shares."""

    metric: str
    title: str
    value: str
    interval: str
    bar: Html | None


def written_lines(numbers: RunNumbers, width: int = _WIDE) -> list[Written]:
    """Return the estimates of a run, in the decimals that their errors deserve."""
    estimates = [(line, line.estimate) for line in numbers.lines if line.estimate is not None]
    figures = [Figure(e.value, e.low, e.high, bool(line.is_share)) for line, e in estimates]
    return [
        Written(
            line.metric,
            line.title,
            rounding.value(estimate.value),
            interval_cell(rounding.interval(estimate.low, estimate.high), estimate.notes) or "",
            bar_of(line, numbers.inner, rounding, width),
        )
        for (line, estimate), rounding in zip(
            estimates, Style().roundings(figures), strict=True
        )
    ]  # fmt: skip


def axis() -> Html:
    """Return the numbers above wide bars: shares, from 0 to 1."""
    return Html(IntervalBars([Bar("", 0.0, (0.0, 1.0))]).axis_svg(width=_WIDE))


def bar_of(
    line: Line, inner: Mapping[str, Estimate], rounding: Rounding, width: int
) -> Html | None:
    """Return the bar of a line: the interval for such problems, and within it that for these."""
    estimate = line.estimate
    if estimate is None or not line.is_share:
        return None
    same = inner.get(line.metric)
    bar = Bar(
        line.metric,
        estimate.value,
        (estimate.low, estimate.high),
        None if same is None else (same.low, same.high),
        "orange" if _is_all(line.metric) else "blue",
    )
    return Html(IntervalBars([bar], estimate.level, rounding).bar_svg(bar, width=width))


def _is_all(metric: str) -> bool:
    """Return whether a metric asks that all tries are right: orange, as in reports.

    >>> _is_all("pass^4"), _is_all("pass@4")
    (True, False)
    """
    return "^" in metric
