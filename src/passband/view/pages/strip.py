"""Render every problem as a strip to navigate by, easiest first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from passband.report import ProblemStrip, counted
from passband.summary import ProblemRate
from passband.view.markup import Html, name, tag
from passband.view.page_context import RunPage
from passband.view.page_frame import page

PROBLEMS_A_PAGE = 50
_LINKS = 250  # in a strip; more would be too narrow to be hit
_TALL = 100  # units of height; the outline is of rates, not of trials


def strip_section(
    here: RunPage, rates: Sequence[ProblemRate], *, graded: bool = False
) -> Html | None:
    """Return the strip of a run with more than one problem, and a link to the table of them."""
    scored = [rate for rate in rates if rate.ease is not None]
    if len(scored) < 2:
        return None
    levels = [rate.ease or 0.0 for rate in scored]
    is_share = all(0.0 <= level <= 1.0 for level in levels)
    table = tag("a", "Every problem in a table", href=here.run.problems())
    if not is_share:
        return tag("section", tag("h2", "Every problem"), tag("p", table))
    chart = ProblemStrip(tuple(r.key for r in scored), ("0" * _TALL,) * len(scored), levels)
    strip = tag("div", Html(chart.strip_svg("stacked")), _links(here, scored), class_="strip nav")
    ends = ("highest score", "lowest score") if graded else chart.ends
    if graded and (scored[0].mean or 0.0) < (scored[-1].mean or 0.0):
        ends = ends[::-1]  # lower is better
    under = tag("div", tag("span", ends[0]), tag("span", "problems, easiest first"),
                tag("span", ends[1]), class_="under")  # fmt: skip
    words = f"{counted(len(scored), 'problem')} by their mean scores" if graded else ""
    return tag(
        "section",
        tag("h2", "Every problem"),
        tag("p", words or chart.description, class_="finding"),
        strip,
        under,
        tag("p", table, ", or choose a column.", class_="caption"),
    )


def _links(here: RunPage, rates: Sequence[ProblemRate]) -> Html:
    """Return a row of links over the strip, equally wide, hidden from those who use the table."""
    count = min(len(rates), _LINKS)
    edges = [len(rates) * i // count for i in range(count + 1)]
    links = [
        tag("a", href=_target(here, rates, low, high), title=_title(rates[low:high]), tabindex=-1)
        for low, high in pairwise(edges)
    ]
    return tag("div", links, class_="picks", aria_hidden="true")


def _target(here: RunPage, rates: Sequence[ProblemRate], low: int, high: int) -> str:
    if high - low == 1:
        return here.run.problem(rates[low].number)
    return here.run.problems(low)


def _title(rates: Sequence[ProblemRate]) -> str:
    if len(rates) == 1:
        return f"{rates[0].key}: {_rate(rates[0])}"
    return f"{len(rates)} problems from {rates[0].key}: {_rate(rates[0])} to {_rate(rates[-1])}"


def _rate(rate: ProblemRate) -> str:
    """Return the mean score of a problem; of 0/1 scores, the share of right trials.

    >>> _rate(ProblemRate(0, "p", 4, 4, 0.75))
    'mean score 0.75 of 4 trials'
    """
    if rate.mean is None:
        return "no score"
    return f"mean score {rate.mean:.3g} of {counted(rate.scored, 'trial')}"


def problems_page(here: RunPage, rates: Sequence[ProblemRate], start: int) -> str:
    """Return a page of problems, the easiest first."""
    start = min(start, max(0, len(rates) - 1))
    some = rates[start : start + PROBLEMS_A_PAGE]
    numbers = [tag("th", head, class_="number") for head in ("mean score", "scored", "trials")]
    heads = tag("tr", tag("th", "problem"), numbers)
    rows = [
        tag("tr", tag("td", tag("a", name(rate.key), href=here.run.problem(rate.number))),
            tag("td", "-" if rate.mean is None else f"{rate.mean:.3g}", class_="number"),
            tag("td", f"{rate.scored:,}", class_="number"),
            tag("td", f"{rate.trials:,}", class_="number"))
        for rate in some
    ]  # fmt: skip
    steps = []
    if start:
        easier = here.run.problems(max(0, start - PROBLEMS_A_PAGE))
        steps.append(tag("a", "easier", href=easier, rel="prev"))
    if start + PROBLEMS_A_PAGE < len(rates):
        steps.append(
            tag("a", "harder", href=here.run.problems(start + PROBLEMS_A_PAGE), rel="next")
        )
    line = f"{counted(len(rates), 'problem')}, easiest first"
    return page(
        f"problems: {here.title}",
        here.crumbs,
        tag("header", tag("h1", "Problems"), tag("p", line, class_="run-line")),
        tag("section", tag("table", heads, rows), class_="first"),
        tag("p", [[step, " "] for step in steps], class_="pager"),
    )
