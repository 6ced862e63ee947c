"""Render summaries, estimates, curves, comparisons and rankings in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch

from passband.notes import Note, claim_refused
from passband.report.charts.bar import Bar, Ends, Hue
from passband.report.charts.canvas import escape
from passband.report.charts.chart import caption, figure, lines
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.rank_bars import Rank, RankBars
from passband.report.charts.split_bar import SplitBar, SplitPart
from passband.report.charts.theme import NOTEBOOK
from passband.report.charts.tries_curve import Edges, TriesCurve, TriesLine
from passband.report.layout import rows
from passband.report.noted import Noted, note_lines, shown, warnings
from passband.report.rendering import Cell, Row
from passband.report.summary import explanation, meaning, remark_lines, warning_lines
from passband.report.table_line import TableLine, table_lines
from passband.report.words import counted
from passband.stats import Over
from passband.stats.decision import Abilities, Comparison, Ranking, VarianceSplit
from passband.stats.interval import Band, Estimate, Extrapolation, Stratified, common_rounding
from passband.stats.metric import Curve
from passband.summary import Summary


class Markup(str):
    """A cell with HTML."""


def html_table(rows: Sequence[Row], head: Mapping[str, str] | None = None) -> str:
    """Return rows as a table; `head` replaces heads of columns by markup.

    >>> html_table([{"metric": "pass@1", "of": 4}]).partition("</tr>")[2]
    '<tr><td>pass@1</td><td class="number">4</td></tr></table>'
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    numeric = {name for name in columns if _is_numeric([row.get(name) for row in rows])}
    heads = "".join(
        _cell("th", Markup(head[name]) if head and name in head else name, name in numeric)
        for name in columns
    )
    lines = "".join(
        "<tr>" + "".join(_cell("td", row.get(name), name in numeric) for name in columns) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{heads}</tr>{lines}</table>"


def _cell(tag: str, cell: Cell, numeric: bool) -> str:
    text = "" if cell is None else cell if isinstance(cell, Markup) else escape(str(cell))
    return f'<{tag} class="number">{text}</{tag}>' if numeric else f"<{tag}>{text}</{tag}>"


def _is_numeric(cells: Sequence[Cell]) -> bool:
    """Return whether a column holds numbers, which are aligned to the right."""
    shown = [cell for cell in cells if cell is not None]
    return bool(shown) and all(isinstance(cell, int | float) or _is_number(cell) for cell in shown)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_WORDS = {"pass@*": "at least one right", "pass^*": "all right"}


def estimate_html(estimate: Estimate) -> str:
    """Return an estimate as a bar, with the data behind it and its notes."""
    chart = IntervalBars((estimate_bar(estimate, estimate.metric),), estimate.level)
    words = caption(chart.caption, _data(estimate), notes=note_texts(estimate.notes))
    return figure(chart.svg(NOTEBOOK), words)


def estimate_bar(estimate: Estimate, label: str) -> Bar:
    """Return the bar of an estimate; its target says which of the two intervals it has."""
    outer, inner = intervals(estimate.over, (estimate.low, estimate.high))
    return Bar(label, estimate.value, outer, inner, hue_of(estimate.metric))


def intervals(over: Over, ends: Ends) -> tuple[Ends | None, Ends | None]:
    """Return an interval as the outer or the inner one, by its target.

    >>> intervals("trials", (0.4, 0.6))
    (None, (0.4, 0.6))
    """
    own = None if ends == (None, None) else ends
    return (own, None) if over == "problems" else (None, own)


def hue_of(metric: str) -> Hue:
    """Return the colour of a metric: orange if it asks for all tries to be right."""
    return "orange" if metric.startswith("pass^") else "blue"


def note_texts(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the lines of notes: warnings, the first others, and where the rest is."""
    lines = note_lines(map(Noted, notes))
    return (*warnings(lines), *shown(lines, more=".notes"))


def _data(estimate: Estimate) -> str:
    """Return the method, and the data that an estimate rests on."""
    counts = f"{counted(estimate.n_problems, 'problem')}, {counted(estimate.n_trials, 'trial')}"
    parts = [f"{counts}; method {estimate.method}"]
    if estimate.left_out:
        parts.append(f"{counted(estimate.left_out, 'problem')} with too few trials left out")
    if estimate.n_unscored:
        parts.append(f"{counted(estimate.n_unscored, 'trial')} without a score")
    return "; ".join(parts) + "."


def stratified_html(value: Stratified) -> str:
    """Return a weighted mean and the estimate of each stratum as bars."""
    mean = value.combined
    bars = [estimate_bar(mean, f"{mean.metric}, all")]
    bars += [estimate_bar(stratum, name) for name, stratum in value.strata.items()]
    chart = IntervalBars(bars, mean.level)
    weights = ", ".join(f"{name} {weight:.3g}" for name, weight in value.weights.items())
    words = caption(chart.caption, f"Weights: {weights}.", notes=note_texts(mean.notes))
    return figure(chart.svg(NOTEBOOK), words)


def extrapolation_html(value: Extrapolation) -> str:
    """Return a value beyond the trials as a bar, with a word on how far it reaches."""
    bar = Bar(value.metric, value.value, (value.low, value.high), hue=hue_of(value.metric))
    chart = IntervalBars((bar,), value.level)
    words = f"Not measured but computed from a model, at {value.factor:.3g} times the trials."
    return figure(chart.svg(NOTEBOOK), caption(chart.caption, words, notes=note_texts(value.notes)))


def band_html(band: Band) -> str:
    """Return a curve with its band."""
    edges: Edges | None = None if band.is_refused else (band.low.tolist(), band.high.tolist())
    outer, inner = (edges, None) if band.over == "problems" else (None, edges)
    chart = TriesCurve((tries_line(band, outer, inner),), band.level)
    left_out = int(band.left_out.max(initial=0))
    counts = f"{counted(int(band.n_problems.max(initial=0)), 'problem')}."
    if left_out:
        counts += f" At the largest k {counted(left_out, 'problem')} with too few trials left out."
    words = caption(chart.caption, counts, notes=note_texts(band.notes))
    return figure(chart.svg(NOTEBOOK), words)


def curve_html(curve: Curve) -> str:
    """Return a curve, which has no band, and where to get one."""
    chart = TriesCurve((tries_line(curve),))
    words = "Observed values, without intervals; passband.band gives a band for all k at once."
    return figure(chart.svg(NOTEBOOK), caption(words))


def tries_line(
    curve: Curve | Band, outer: Edges | None = None, inner: Edges | None = None
) -> TriesLine:
    """Return the line of a curve."""
    return TriesLine(
        curve.metric,
        curve.k.tolist(),
        curve.value.tolist(),
        outer,
        inner,
        hue_of(curve.metric),
        _WORDS.get(curve.metric, ""),
    )


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
    """Return the parts of a variance as one bar, and the gain from more data."""
    parts = (
        SplitPart("which problems", value.share_between or 0.0),
        SplitPart("sampling", value.share_within or 0.0),
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
