"""The HTML of a value, by its class.

Summaries in notebooks: the table of `passband stats`, with a bar in every row.

Comparisons, rankings and splits of a variance in notebooks.
"""

from __future__ import annotations

from functools import singledispatch

from passband.notes import claim_refused
from passband.report.charts.bar import Bar
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.figure import caption, figure, lines
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.rank_bars import Rank, RankBars
from passband.report.charts.split_bar import Part, SplitBar
from passband.report.charts.theme import NOTEBOOK
from passband.report.layout import rows
from passband.report.notebook.estimates import (
    band_html,
    curve_html,
    estimate_html,
    extrapolation_html,
    hue_of,
    intervals,
    note_texts,
    stratified_html,
)
from passband.report.notebook.table import Markup, html_table
from passband.report.rendering import Cell, Row
from passband.report.summary import explanation, meaning, remark_lines, warning_lines
from passband.report.table_line import TableLine, table_lines
from passband.report.words import counted
from passband.stats.decision import Abilities, Comparison, Ranking, VarianceSplit
from passband.stats.interval import Band, Estimate, Extrapolation, Stratified, common_rounding
from passband.stats.metric import Curve
from passband.summary import Summary

_MOST_ROWS = 200
_BAR = " "  # the head of the column of bars


def summary_html(summary: Summary) -> str:
    """Return the table of a summary, with bars for metrics that are shares of 1, and its notes."""
    table = rows(summary)[:_MOST_ROWS]
    every = table_lines(summary)
    bars = [_bar(one, summary) for one in every]
    chart = IntervalBars([bar for bar in bars if bar is not None], summary.request.level)
    shown = [_with_bar(row, bar, chart) for row, bar in zip(table, bars, strict=False)]
    head = {_BAR: chart.axis_svg(NOTEBOOK, width=240)} if chart.bars else {}
    below = [f"{meaning(summary)}.", *explanation(summary)[1:]]
    if len(every) > len(table):
        below.append(f"The first {len(table)} of {len(every)} rows are shown.")
    return figure(
        lines([*remark_lines(summary), *warning_lines(summary)]),
        html_table(shown, head),
        caption(chart.caption if chart.bars else "", notes=tuple(below)),
    )


def _bar(one: TableLine, summary: Summary) -> Bar | None:
    figure_ = one.figure
    if figure_ is None or not figure_.is_share:
        return None
    outer, inner = intervals(summary.request.over, (figure_.low, figure_.high))
    return Bar(one.line.metric, figure_.value, outer, inner, hue_of(one.line.metric))


def _with_bar(row: Row, bar: Bar | None, chart: IntervalBars) -> Row:
    """Return a row with its bar after the interval."""
    cells: dict[str, Cell] = {}
    for name, cell in row.items():
        cells[name] = cell
        if name.endswith("% interval") and chart.bars:
            cells[_BAR] = Markup("" if bar is None else chart.bar_svg(bar, NOTEBOOK, width=240))
    return cells


def comparison_html(value: Comparison) -> str:
    """Return a difference as a bar beside zero and the margin, with the verdict."""
    outer, inner = intervals(value.over, (value.low, value.high))
    verdict = value.decision.verdict.replace("-", " ")
    bar = Bar(value.metric, value.value, outer, inner, hue_of(value.metric), verdict)
    margin = value.decision.margin
    tolerance = None if margin is None else (-margin, margin)
    falls = (value.lower_is_better,)
    chart = DifferenceForest((bar,), "a", "b", tolerance, value.level, falls=falls)
    words = caption(
        _verdict(value), _sides(value, chart), chart.caption, notes=note_texts(value.notes)
    )
    return figure(chart.svg(NOTEBOOK), words)


def _verdict(value: Comparison) -> str:
    reason = claim_refused(value.notes)
    words = f"Verdict: {value.decision.words()}"
    return f"{words}: {reason}." if reason else f"{words}."


def _sides(value: Comparison, chart: DifferenceForest) -> str:
    """Return both values, the p-value and the numbers of problems that changed."""
    a, b = chart.written.value(value.value_a), chart.written.value(value.value_b)
    parts = [f"a {a}, b {b}"]
    if value.p_value is not None:
        parts.append(f"p {value.p_value:.2g}")
    if value.improved is not None and value.worsened is not None:
        parts.append(f"{value.improved} problems better in b, {value.worsened} worse")
    kind = "problems in both" if value.paired else "problems, not paired"
    return f"{', '.join(parts)}; {value.n_problems} {kind}."


def ranking_html(value: Ranking) -> str:
    """Return the ranks of models as intervals, beside their estimates."""
    rounding = common_rounding((one.value, one.low, one.high) for one in value.standings)
    ranks = [
        Rank(
            one.model,
            one.rank_low,
            one.rank_high,
            one.rank,
            rounding.text(one.value, one.low, one.high),
        )
        for one in value.standings
    ]
    chart = RankBars(ranks, value.level, title=f"Ranks by {value.metric}")
    count = f"{value.metric} on {counted(value.n_problems, 'problem')} that all models share."
    return figure(chart.svg(NOTEBOOK), caption(count, chart.caption, notes=note_texts(value.notes)))


def abilities_html(value: Abilities) -> str:
    """Return abilities of models as bars on their own scale, with the ranks they may have."""
    bars = []
    for one in value.abilities:
        outer, inner = intervals(value.over, (one.low, one.high))
        ranks = RankBars((Rank(one.model, one.rank_low, one.rank_high),)).ranks[0].text
        bars.append(Bar(one.model, one.value, outer, inner, words=f"rank {ranks}"))
    chart = IntervalBars(bars, value.level, title="Abilities")
    words = f"Log odds around the mean of the models ({value.model}), from {value.metric}."
    return figure(chart.svg(NOTEBOOK), caption(words, chart.caption, notes=note_texts(value.notes)))


def split_html(value: VarianceSplit) -> str:
    """Return the parts of a variance as one bar, and what more data would bring."""
    parts = (
        Part("which problems", value.share_between or 0.0),
        Part("sampling", value.share_within or 0.0),
    )
    chart = SplitBar(parts, f"the variance of {value.metric}")
    rows = [
        {"": label, "standard error": None if se is None else f"{se:.2g}"}
        for label, se in (
            ("now", value.se),
            ("twice the trials", value.se_double_trials),
            ("twice the problems", value.se_double_problems),
        )
    ]
    words = caption(chart.caption, notes=note_texts(value.notes))
    return figure(chart.svg(NOTEBOOK), html_table(rows), words)


@singledispatch
def html_of(value: object) -> str | None:
    """Return a value as HTML for a notebook; None if its text is all there is."""
    return None


html_of.register(Abilities, abilities_html)
html_of.register(Band, band_html)
html_of.register(Comparison, comparison_html)
html_of.register(Curve, curve_html)
html_of.register(Estimate, estimate_html)
html_of.register(Extrapolation, extrapolation_html)
html_of.register(Ranking, ranking_html)
html_of.register(Stratified, stratified_html)
html_of.register(Summary, summary_html)
html_of.register(VarianceSplit, split_html)
