"""Notes on pages: what forbids a claim above the numbers, the others below, most of them folded."""

from __future__ import annotations

from collections.abc import Sequence

from passband.report import Parted
from passband.view.markup import Html, fragment, name, tag


def banner(lines: Sequence[str]) -> Html | None:
    """Return what is to be read before any number."""
    return _listed(lines, "banner")


def folded_notes(notes: Parted) -> Html:
    """Return the first notes that are no warnings, and the others behind their number."""
    rest = tag("details", tag("summary", notes.how_many), _listed(notes.others))
    return fragment(_listed(notes.first), rest if notes.others else None)


def _listed(lines: Sequence[str], kind: str = "quiet") -> Html | None:
    items = [tag("li", name(line)) for line in lines]
    return tag("div", tag("ul", items), class_=f"notes {kind}") if lines else None
