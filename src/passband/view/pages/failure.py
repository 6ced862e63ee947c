"""Pages that say what is wrong, and what to do."""

from __future__ import annotations

from passband.trials import CorruptStore
from passband.view.links import Links
from passband.view.markup import name, tag
from passband.view.shell import Crumb, page


def failure_page(links: Links, title: str, error: object) -> str:
    """Return a page on what cannot be shown, with the way to what can."""
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
