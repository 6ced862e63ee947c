"""Render trials as a table, fifty at a time, with filters and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passband.errors import PassbandError
from passband.report import counted, latency_text, verdict
from passband.summary import Damaged, ShownTrial
from passband.trials import SearchHit, TrialId
from passband.view.labels import FILTERS
from passband.view.markup import Child, Html, fragment, name, tag
from passband.view.page_context import RunPage
from passband.view.page_frame import page, page_end, page_start

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


def trials_page(here: RunPage, some: TrialsPage, counts: Mapping[str, int | None]) -> str:
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


def trials_section(here: RunPage, some: TrialsPage) -> Html:
    """Return the table, its note, and links to the next pages."""
    note = tag("p", some.note, class_="finding") if some.note else None
    if not some.rows:
        return fragment(note or tag("p", "There are no such trials.", class_="finding"))
    return fragment(note, trials_table(here, some.rows, some.show), pager(some))


def trials_table(
    here: RunPage, rows: Sequence[tuple[TrialId, ShownTrial | Damaged]], show: str = "all"
) -> Html:
    """Return trials as rows: answer, target and verdict."""
    heads = tag(
        "tr",
        tag("th", "problem"), tag("th", "trial"), tag("th", "result"), tag("th", "answer"),
        tag("th", "expected"), tag("th", "took", class_="number optional"),
        tag("th", "tokens", class_="number optional"),
    )  # fmt: skip
    return tag("table", heads, [_row(here, at, shown, show) for at, shown in rows])


def _row(here: RunPage, place: TrialId, shown: ShownTrial | Damaged, show: str) -> Html:
    if isinstance(shown, Damaged):
        return tag("tr", tag("td", name(shown.problem)), tag("td", place.trial),
                   tag("td", f"damaged: {shown.why}", colspan=5, class_="wrong"))  # fmt: skip
    scored = verdict(shown)
    key = tag("a", name(shown.problem.key), href=here.run.problem(place.problem))
    trial = tag("a", place.trial, href=here.run.trial(place, show))
    took = "" if shown.latency_ms is None else latency_text(shown.latency_ms)
    tokens = "" if shown.completion_tokens is None else f"{shown.completion_tokens:,}"
    answer, expected = scored.answer or scored.reason, " or ".join(shown.problem.targets)
    return tag(
        "tr",
        tag("td", key), tag("td", trial),
        tag("td", scored.word.replace("_", " "), class_=f"interval kind-{scored.kind}"),
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


def filter_links(here: RunPage, show: str, counts: Mapping[str, int | None]) -> Html:
    """Return the filters as links, with the numbers of their trials if known."""
    links: list[Child] = []
    for word, count in counts.items():
        label = FILTERS.get(word, word.replace("_", " "))
        text = label if count is None else f"{label} {count:,}"
        chosen = "page" if word == show else None
        links += [tag("a", text, href=here.run.trials(word), aria_current=chosen), " "]
    return tag("p", links, class_="filters")


def search_form(here: RunPage, text: str = "") -> Html:
    """Return the box that a text is searched by."""
    box = tag("input", type="search", name="q", value=text, placeholder="text in completions",
              aria_label="text in completions", dir="auto")  # fmt: skip
    return tag("form", box, tag("button", "search"), action=here.run.search, class_="ask")


def pager(some: TrialsPage) -> Html | None:
    """Return the links to the pages before and after."""
    steps = [
        tag("a", text, href=href, rel=rel)
        for text, href, rel in (("previous", some.earlier, "prev"), ("next", some.later, "next"))
        if href is not None
    ]
    return tag("p", [fragment(step, " ") for step in steps], class_="pager") if steps else None


MOST_FOUND = 500


def search_start(here: RunPage, text: str) -> str:
    """Return the page up to the first hit."""
    heads = tag("tr", tag("th", "problem"), tag("th", "trial"), tag("th", "text"))
    return (
        page_start(f"search: {here.title}", here.crumbs)
        + tag("header", tag("h1", "Search"), search_form(here, text))
        + '<section class="first"><table>'
        + heads
    )


def search_row(here: RunPage, match: SearchHit, names: Mapping[int, str]) -> str:
    """Return a trial that has the text; a problem may have come after the names."""
    place = TrialId(match.problem, match.trial)
    key = names.get(match.problem, f"problem {match.problem}")
    around = [match.before, tag("mark", match.text), match.after]
    return tag(
        "tr",
        tag("td", tag("a", name(key), href=here.run.problem(match.problem))),
        tag("td", tag("a", match.trial, href=here.run.trial(place))),
        tag("td", around, class_="text", dir="auto"),
    )


def search_end(matches: int, searched: int, damage: PassbandError | None = None) -> str:
    """Return the end of the page: how many trials have the text, of how many that were read."""
    read = counted(searched, "completion")
    text = f"Found in {counted(matches, 'trial')}; {read} searched."
    if damage is not None:
        text += f" The others could not be read: {damage}"
    elif matches >= MOST_FOUND:
        text = f"The first {matches:,} are shown, of {read} searched. Look for a longer text."
    return f"</table>{tag('p', text, class_='caption', id='found')}</section>{page_end()}"
