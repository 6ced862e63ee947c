"""Make the charts of a run from its findings; None where the data do not allow one."""

from __future__ import annotations

from passband.report.charts.bar import Bar, Ends, Hue
from passband.report.charts.chart import Chart
from passband.report.charts.interval_bars import IntervalBars, KindBars
from passband.report.charts.problem_strip import ProblemStrip
from passband.report.charts.split_bar import SplitBar, SplitPart
from passband.report.charts.tries_curve import Edges, TriesCurve, TriesLine
from passband.report.html.adaptive import ability_chart
from passband.report.html.judge import judged_split_bar
from passband.report.html.run_text import RunText, metric_words
from passband.report.table_line import TableLine
from passband.stats.interval import Estimate
from passband.summary import Kind, Tries

_EVENTS = {"pass@*": "at least one right", "pass^*": "all right", "max@*": "best score of k"}


def charts_of(run: RunText) -> list[Chart]:
    """Return every chart that the findings on a run allow."""
    charts = [
        interval_bars(run), ability_chart(run), tries_curve(run), problem_strip_of(run),
        split_bar(run), kind_bars(run),
    ]  # fmt: skip
    return [chart for chart in charts if chart is not None]


def interval_bars(run: RunText) -> IntervalBars | None:
    """Return the lines of the table whose values share the scale of the first one."""
    bars = [bar_of(run, one) for one in run.lines if one.figure is not None and _fits(run, one)]
    if not bars:
        return None
    return IntervalBars(bars, run.findings.summary.request.level, run.rounding)


def _fits(run: RunText, one: TableLine) -> bool:
    """Return whether a line is on the axis of the chart: shares are, or else all are."""
    shares = [each.figure.is_share for each in run.lines if each.figure is not None]
    return one.figure is not None and (one.figure.is_share or not any(shares))


def bar_of(run: RunText, one: TableLine) -> Bar:
    """Return a line of the table as a bar."""
    estimate, metric = one.estimate, one.line.metric
    hue: Hue = "orange" if metric.startswith(("pass^", "unanimous")) else "blue"
    words = metric_words(one.line, is_binary=run.findings.group.is_binary)
    if estimate is None:
        return Bar(metric, None, words=words)
    inner = run.inner(one.line)
    return Bar(metric, estimate.value, _ends(estimate), _ends(inner), hue, words)


def _ends(estimate: Estimate | None) -> Ends | None:
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return estimate.low, estimate.high


def tries_curve(run: RunText) -> TriesCurve | None:
    """Return the curves over k, where there are trials to choose among."""
    lines = [_line(tries) for tries in run.findings.tries if len(tries.points) > 1]
    if not lines:
        return None
    return TriesCurve(lines, run.findings.summary.request.level, run.rounding)


def _line(tries: Tries) -> TriesLine:
    hue: Hue = "orange" if tries.metric == "pass^*" else "blue"
    return TriesLine(
        tries.metric,
        [point.k for point in tries.points],
        [point.value for point in tries.points],
        _edges([point.outer for point in tries.points]),
        _edges([point.inner for point in tries.points]),
        hue,
        _EVENTS.get(tries.metric, ""),
    )


def _edges(ends: list[tuple[float, float] | None]) -> Edges | None:
    known = [pair for pair in ends if pair is not None]
    if len(known) < len(ends) or not known:
        return None
    return [low for low, _ in known], [high for _, high in known]


def problem_strip_of(run: RunText) -> ProblemStrip | None:
    """Return every problem and every trial, where scores are 0 or 1."""
    strip = run.findings.strip
    return None if strip is None else ProblemStrip(strip.keys, strip.marks, strip.rates)


def split_bar(run: RunText) -> SplitBar | None:
    """Return the parts of the variance, where the data show them."""
    found = run.findings.uncertainty
    if found is None:
        return judged_split_bar(run)
    if found.share_problems is None or found.share_trials is None:
        return None
    parts = [
        SplitPart("which problems", found.share_problems),
        SplitPart("sampling", found.share_trials),
    ]
    return SplitBar(parts)


def kind_bars(run: RunText) -> KindBars | None:
    """Return the metric by kind of problem."""
    kinds = run.findings.kinds
    if kinds is None:
        return None
    bars = [_kind_bar(kind) for kind in kinds.kinds]
    level = run.findings.summary.request.level
    return KindBars(bars, kinds.metric, kinds.column, level)


def _kind_bar(kind: Kind) -> Bar:
    value = None if kind.estimate is None else kind.estimate.value
    return Bar(kind.name, value, _ends(kind.estimate), count=kind.n_problems)
