"""The page of a search: its head, a row for each trial that is found, and its end."""

from __future__ import annotations

from collections.abc import Mapping

from passband.errors import PassbandError
from passband.report import counted
from passband.trials import SearchHit, TrialId
from passband.view.here import Here
from passband.view.markup import name, tag
from passband.view.pages.trials import search_form
from passband.view.shell import page_end, page_start

MOST_FOUND = 500


def search_start(here: Here, text: str) -> str:
    """Return the page up to where what is found begins."""
    heads = tag("tr", tag("th", "problem"), tag("th", "trial"), tag("th", "text"))
    return (
        page_start(f"search: {here.title}", here.crumbs)
        + tag("header", tag("h1", "Search"), search_form(here, text))
        + '<section class="first"><table>'
        + heads
    )


def search_row(here: Here, found: SearchHit, names: Mapping[int, str]) -> str:
    """Return a trial that has the text; a problem may have come after the names."""
    place = TrialId(found.problem, found.trial)
    key = names.get(found.problem, f"problem {found.problem}")
    around = [found.before, tag("mark", found.text), found.after]
    return tag(
        "tr",
        tag("td", tag("a", name(key), href=here.run.problem(found.problem))),
        tag("td", tag("a", found.trial, href=here.run.trial(place))),
        tag("td", around, class_="text", dir="auto"),
    )


def search_end(found: int, searched: int, damage: PassbandError | None = None) -> str:
    """Return the end of the page: how many trials have the text, of how many that were read."""
    read = counted(searched, "completion")
    text = f"Found in {counted(found, 'trial')}; {read} searched."
    if damage is not None:
        text += f" The others could not be read: {damage}"
    elif found >= MOST_FOUND:
        text = f"The first {found:,} are shown, of {read} searched. Look for a longer text."
    return f"</table>{tag('p', text, class_='caption', id='found')}</section>{page_end()}"
