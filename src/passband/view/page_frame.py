"""Frame a page: style, script, breadcrumbs, notes, and pages for errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from passband.report import Parted, escape, page_style
from passband.trials import CorruptStore
from passband.view.links import Links
from passband.view.markup import Child, Html, fragment, name, tag


class Crumb(NamedTuple):
    """A step of the way from the list of runs to a page."""

    text: Child
    href: str


@cache
def style() -> str:
    """Return the style sheet: that of reports, and a few rules more."""
    return page_style() + (files("passband.view") / "view.css").read_text("utf-8")


@cache
def script() -> str:
    """Return the script: keys, and numbers that move."""
    return (files("passband.view") / "view.js").read_text("utf-8")


def page(title: str, crumbs: Sequence[Crumb], *body: Child, head: str = "") -> str:
    """Return a whole page."""
    return page_start(title, crumbs, head=head) + fragment(*body) + page_end()


def page_start(title: str, crumbs: Sequence[Crumb], *, head: str = "") -> str:
    """Return a page up to where its content begins."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{head}<title>{escape(title)}</title>\n<style>{style()}</style>\n</head>\n"
        f"<body>\n<main>\n{_way(crumbs)}\n"
    )


def page_end() -> str:
    """Return the end of a page."""
    return f"\n</main>\n<script>{script()}</script>\n</body>\n</html>\n"


def _way(crumbs: Sequence[Crumb]) -> Html:
    steps: list[Child] = []
    for crumb in crumbs:
        steps += [tag("a", crumb.text, href=crumb.href), " / "]
    return tag("nav", "passband view", " / " if steps else "", steps[:-1], class_="kind way")


def banner(lines: Sequence[str]) -> Html | None:
    """Return the notes to read before any number."""
    return _listed(lines, "banner")


def folded_notes(notes: Parted) -> Html:
    """Return the first notes that are no warnings, and the others behind their number."""
    rest = tag("details", tag("summary", notes.how_many), _listed(notes.others))
    return fragment(_listed(notes.first), rest if notes.others else None)


def _listed(lines: Sequence[str], kind: str = "quiet") -> Html | None:
    items = [tag("li", name(line)) for line in lines]
    return tag("div", tag("ul", items), class_=f"notes {kind}") if lines else None


def failure_page(links: Links, title: str, error: object) -> str:
    """Return a page on a failure, with a link home."""
    text = tag("p", name(str(error)), class_="finding")
    intact = isinstance(error, CorruptStore)
    other = tag("p", "Other runs can be looked at all the same.") if intact else None
    return page(
        title, [Crumb("runs", links.home)], tag("header", tag("h1", title)),
        tag("section", text, other, class_="first"),
    )  # fmt: skip


def plain_page(title: str, reason: str) -> str:
    """Return a page for requests that are refused: it links to nothing."""
    return page(title, [], tag("header", tag("h1", title)), tag("p", reason, class_="finding"))
