"""The runs of a page at a glance: a row for each, with its number, its bar and a link."""

from __future__ import annotations

from collections.abc import Sequence

from passband.report.charts.bar import Bar
from passband.report.charts.interval_bars import IntervalBars
from passband.report.html.document import escape
from passband.report.html.drawings import bar_of
from passband.report.html.elements import banner, caption
from passband.report.html.run_text import RunText
from passband.report.noted import Noted, note_lines
from passband.stats.interval import Rounding


def overview_html(runs: Sequence[RunText], heading: str) -> str:
    """Return a table of runs with the number that leads each, on one axis."""
    bars = [_bar(run) for run in runs]
    chart = IntervalBars([bar for bar in bars if bar is not None])
    rows = "".join(_row(run, bar, chart) for run, bar in zip(runs, bars, strict=True))
    axis = chart.axis_svg() if chart.bars else ""
    head = (
        '<tr><th>run</th><th>metric</th><th class="number">value</th>'
        f'<th class="bar">{axis}</th><th class="number">trials</th></tr>'
    )
    table = f'<table class="metrics runs"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    said = (
        "Bars: the interval for problems like these, and inside it that for these very problems. "
        "Intervals of different rows are not a comparison."
    )
    noted = [
        Noted(note, run.label, run.findings.headline.metric)
        for run in runs
        if run.findings.headline is not None
        for note in run.findings.headline.notes
        if note.severity == "invalid"
    ]
    refused = banner([line.text for line in note_lines(noted)])
    return f'<nav class="contents"><h2>{escape(heading)}</h2>{refused}{table}{caption(said)}</nav>'


def _bar(run: RunText) -> Bar | None:
    line = next((one for one in run.lines if one.line is run.findings.headline), None)
    return None if line is None else bar_of(run, line)


def _row(run: RunText, bar: Bar | None, chart: IntervalBars) -> str:
    trials = f"{run.findings.progress.recorded:,}"
    value = metric = drawn = ""
    if bar is not None:
        metric, value, drawn = bar.label, _value(bar, run.rounding), chart.bar_svg(bar)
    return (
        f'<tr><td dir="auto"><a href="#run-{run.index + 1}">{escape(run.label)}</a></td>'
        f'<td class="words" dir="auto">{escape(metric)}</td>'
        f'<td class="value number">{escape(value)}</td><td class="bar">{drawn}</td>'
        f'<td class="number">{trials}</td></tr>'
    )


def _value(bar: Bar, rounding: Rounding) -> str:
    return "" if bar.value is None else rounding.value(bar.value)
