"""The frame of every page: style, script, the way back, and what the page shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from passband.report import escape, page_style
from passband.view.markup import Child, Html, fragment, tag


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
