"""Render the comparison of two runs: the difference, its verdict, the problems that flipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passband.report import (
    Bar,
    DifferenceForest,
    Figure,
    Style,
    comparison_explanation,
    counted,
    interval_cell,
    more_words,
    notes_of,
    parted,
    verdict_cell,
)
from passband.stats.decision import Comparison
from passband.stats.interval import Rounding
from passband.summary import ComparisonSummary, TaskComparison
from passband.view.links import Links
from passband.view.markup import Child, Html, name, tag
from passband.view.page_context import RunPage
from passband.view.page_frame import Crumb, banner, page


@dataclass(frozen=True)
class Side:
    """One of two runs, and the numbers of its problems by their keys."""

    here: RunPage
    numbers: Mapping[str, int]


def comparison_page(links: Links, sides: tuple[Side, Side], summary: ComparisonSummary) -> str:
    """Return the page of a comparison, from the first run to the second."""
    (task,) = summary.tasks
    first, second = sides
    return page(
        f"{first.here.title} → {second.here.title}",
        [Crumb("runs", links.home)],
        _header(links, sides),
        banner(parted(notes_of(summary)).warnings),
        _lead(summary, task),
        _forest(summary, task),
        _flips(sides, task, _roundings(summary, task)[0]),
        _notes(summary),
    )


def _header(links: Links, sides: tuple[Side, Side]) -> Html:
    names: list[Child] = [
        tag("p", word, " ", tag("a", here.heading, href=here.run.page), " (",
            name(here.folder.label), ")", class_="run-line")
        for word, here in (("from", sides[0].here), ("to", sides[1].here))
    ]  # fmt: skip
    turned = links.comparison(sides[1].here.reference, sides[0].here.reference)
    turn = tag("p", tag("a", "swap the two runs", href=turned), class_="pager")
    return tag("header", tag("h1", "Comparison"), names, turn)


def _lead(summary: ComparisonSummary, task: TaskComparison) -> Html:
    """Return the first difference in a sentence, and the data that would settle it."""
    first, rounding = task.comparisons[0], _roundings(summary, task)[0]
    values = [rounding.value(value) for value in (first.value_a, first.value_b, first.value)]
    text = f"{first.title} goes from {values[0]} to {values[1]}: {_signed(values[2])}"
    if first.low is not None and first.high is not None:
        low, high = rounding.value(first.low), rounding.value(first.high)
        text += f", between {_signed(low)} and {_signed(high)}"
    verdict = first.decision.words(*task.models)
    if first.decision.verdict == "not-comparable":
        verdict = "Not comparable, for the reason above"
    verdict = "Undecided" if verdict == "undecided" else verdict
    more = "" if first.decision.more is None else more_words(first.decision.more)
    settle = tag("p", f"{more[:1].upper()}{more[1:]}.", class_="finding") if more else None
    return tag("section", tag("p", f"{text}. ", name(f"{verdict}."),
               class_="verdict"), settle, class_="first")  # fmt: skip


def _roundings(summary: ComparisonSummary, task: TaskComparison) -> Sequence[Rounding]:
    """Return how the numbers of each metric are written, wherever they are."""
    is_share = summary.is_share(task)
    figures = [
        Figure(comparison.value, comparison.low, comparison.high, is_share)
        for comparison in task.comparisons
    ]
    return Style().roundings(figures)


def _signed(number: str) -> str:
    """Return a number with its sign.

    >>> _signed("0.02"), _signed("-0.02")
    ('+0.02', '-0.02')
    """
    return number if number.startswith("-") else f"+{number}"


def _forest(summary: ComparisonSummary, task: TaskComparison) -> Html:
    roundings = _roundings(summary, task)
    bars = [
        Bar(
            comparison.metric,
            comparison.value,
            (comparison.low, comparison.high),
            words=verdict_cell(comparison.decision.verdict),
        )
        for comparison in task.comparisons
    ]
    level = task.comparisons[0].level
    base, new = task.models
    falls = [comparison.lower_is_better for comparison in task.comparisons]
    chart = DifferenceForest(bars, base, new, level=level, rounding=roundings[0], falls=falls)
    heads = tag("tr", tag("th", "metric"), [tag("th", name(model)) for model in task.models],
                tag("th", "difference"), tag("th", f"{100 * level:g} % interval"),
                tag("th", "verdict"))  # fmt: skip
    rows = [
        _row(comparison, rounding)
        for comparison, rounding in zip(task.comparisons, roundings, strict=True)
    ]
    return tag(
        "section",
        tag("h2", "Differences"),
        tag("div", Html(chart.svg()), class_="wide"),
        tag("div", Html(chart.svg(narrow=True)), class_="narrow"),
        tag("p", chart.caption, class_="caption"),
        tag("table", heads, rows, class_="wide"),
    )


def _row(comparison: Comparison, rounding: Rounding) -> Html:
    interval = rounding.interval(comparison.low, comparison.high)
    return tag(
        "tr",
        tag("td", name(comparison.title), class_="metric"),
        tag("td", rounding.value(comparison.value_a)),
        tag("td", rounding.value(comparison.value_b)),
        tag("td", _signed(rounding.value(comparison.value)), class_="value"),
        tag("td", interval_cell(interval, comparison.notes) or "", class_="interval"),
        tag("td", verdict_cell(comparison.decision.verdict)),
    )


def _flips(sides: tuple[Side, Side], task: TaskComparison, rounding: Rounding) -> Html:
    """Return the problems that changed sides by the first metric, with links to both runs."""
    first = task.comparisons[0]
    head = tag("h2", "Flipped problems")
    if not first.flips:
        return tag("section", head, tag("p", "No problem went from one half of the range to the "
                                        "other.", class_="finding"))  # fmt: skip
    count = counted(first.flipped or len(first.flips), "problem")
    shown = "" if (first.flipped or 0) <= len(first.flips) else f"; the {len(first.flips)} largest"
    heads = tag("tr", tag("th", "problem"), [tag("th", name(model)) for model in task.models])
    rows = [
        tag("tr", tag("td", name(flip.problem)),
            [_linked(side, flip.problem, rounding.value(value))
             for side, value in zip(sides, (flip.value_a, flip.value_b), strict=True)])
        for flip in first.flips
    ]  # fmt: skip
    text = f"{count} went from mostly right to mostly wrong, or back, by {first.metric}{shown}."
    return tag("section", head, tag("p", text, class_="finding"), tag("table", heads, rows))


def _linked(side: Side, key: str, text: str) -> Html:
    number = side.numbers.get(key)
    if number is None:
        return tag("td", text)
    return tag("td", tag("a", text, href=side.here.run.problem(number)))


def _notes(summary: ComparisonSummary) -> Html:
    remarks: Sequence[str] = [str(remark) for remark in summary.remarks if remark.important]
    explained = comparison_explanation(summary, Style(notes=True), details=True)
    lines = [tag("li", line) for line in (*remarks, *explained)]
    notes = tag("div", tag("ul", lines), class_="notes quiet")
    return tag("section", tag("details", tag("summary", "Notes"), notes, open=bool(remarks)))
