"""Estimates, curves and bands in notebooks: a chart, what it rests on, and the notes on it."""

from __future__ import annotations

from collections.abc import Iterable

from passband.notes import Note
from passband.report.charts.bar import Bar, Ends, Hue
from passband.report.charts.figure import caption, figure
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import NOTEBOOK
from passband.report.charts.tries_curve import Edges, TriesCurve, TriesLine
from passband.report.noted import Noted, note_lines, shown, warnings
from passband.report.words import counted
from passband.stats import Over
from passband.stats.interval import Band, Estimate, Extrapolation, Stratified
from passband.stats.metric import Curve

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
    """Return the colour of a metric: orange for those that ask for all tries to be right."""
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
