"""Trials as a table, fifty at a time, and the links that filter them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passband.report import latency_text, verdict
from passband.summary import Damaged, ShownTrial
from passband.trials import TrialId
from passband.view.here import Here
from passband.view.markup import Child, Html, fragment, name, tag
from passband.view.shell import page
from passband.view.words import FILTERS

TRIALS_A_PAGE = 50
_LONGEST = 120  # characters of an answer in a table


@dataclass(frozen=True)
class TrialsPage:
    """Some trials, and the addresses of those before and after them."""

    show: str
    rows: Sequence[tuple[TrialId, ShownTrial | Damaged]]
    earlier: str | None = None
    later: str | None = None
    note: str = ""
    again: bool = False  #: whether to ask again in a moment


def trials_page(here: Here, some: TrialsPage, counts: Mapping[str, int | None]) -> str:
    """Return a page of trials."""
    what = FILTERS.get(some.show, some.show.replace("_", " "))
    return page(
        f"{what} trials: {here.title}",
        here.crumbs,
        tag("header", tag("h1", "Trials"), filter_links(here, some.show, counts),
            search_form(here)),
        tag("section", trials_section(here, some), class_="first"),
        head=tag("meta", http_equiv="refresh", content="1") if some.again else "",
    )  # fmt: skip


def trials_section(here: Here, some: TrialsPage) -> Html:
    """Return the table, what is to be said of it, and the way to other pages."""
    note = tag("p", some.note, class_="finding") if some.note else None
    if not some.rows:
        return fragment(note or tag("p", "There are no such trials.", class_="finding"))
    return fragment(note, trials_table(here, some.rows, some.show), pager(some))


def trials_table(
    here: Here, rows: Sequence[tuple[TrialId, ShownTrial | Damaged]], show: str = "all"
) -> Html:
    """Return trials as rows: what was answered, what was expected, and what became of it."""
    heads = tag(
        "tr",
        tag("th", "problem"), tag("th", "trial"), tag("th", "result"), tag("th", "answer"),
        tag("th", "expected"), tag("th", "took", class_="number optional"),
        tag("th", "tokens", class_="number optional"),
    )  # fmt: skip
    return tag("table", heads, [_row(here, place, one, show) for place, one in rows])


def _row(here: Here, place: TrialId, shown: ShownTrial | Damaged, show: str) -> Html:
    if isinstance(shown, Damaged):
        return tag("tr", tag("td", name(shown.problem)), tag("td", place.trial),
                   tag("td", f"damaged: {shown.why}", colspan=5, class_="wrong"))  # fmt: skip
    own = verdict(shown)
    key = tag("a", name(shown.problem.key), href=here.run.problem(place.problem))
    trial = tag("a", place.trial, href=here.run.trial(place, show))
    took = "" if shown.latency_ms is None else latency_text(shown.latency_ms)
    tokens = "" if shown.completion_tokens is None else f"{shown.completion_tokens:,}"
    answer, expected = own.answer or own.reason, " or ".join(shown.problem.targets)
    return tag(
        "tr",
        tag("td", key), tag("td", trial),
        tag("td", own.word.replace("_", " "), class_=f"interval kind-{own.kind}"),
        tag("td", _short(answer), class_="text", dir="auto"),
        tag("td", _short(expected), class_="text", dir="auto"),
        tag("td", took, class_="number optional"), tag("td", tokens, class_="number optional"),
    )  # fmt: skip


def _short(text: str) -> str:
    """Return the beginning of a text in one line.

    >>> _short("two\\n lines")
    'two lines'
    """
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def filter_links(here: Here, show: str, counts: Mapping[str, int | None]) -> Html:
    """Return the filters as links, each with the number of its trials where that is known."""
    links: list[Child] = []
    for word, count in counts.items():
        label = FILTERS.get(word, word.replace("_", " "))
        text = label if count is None else f"{label} {count:,}"
        chosen = "page" if word == show else None
        links += [tag("a", text, href=here.run.trials(word), aria_current=chosen), " "]
    return tag("p", links, class_="filters")


def search_form(here: Here, text: str = "") -> Html:
    """Return the box that a text is searched by."""
    box = tag("input", type="search", name="q", value=text, placeholder="text in completions",
              aria_label="text in completions", dir="auto")  # fmt: skip
    return tag("form", box, tag("button", "search"), action=here.run.search, class_="ask")


def pager(some: TrialsPage) -> Html | None:
    """Return the links to the pages before and after."""
    steps = [
        tag("a", text, href=href, rel=rel)
        for text, href, rel in (("earlier", some.earlier, "prev"), ("later", some.later, "next"))
        if href is not None
    ]
    return tag("p", [fragment(step, " ") for step in steps], class_="pager") if steps else None
