"""Build HTML from elements; every text in it is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from passband.report import escape

_EMPTY = {"br", "input", "meta", "rect", "line", "polygon", "path", "use"}
_NAMES = {"class_": "class", "for_": "for", "from_": "from"}


class Html(str):
    """Markup in which every text is escaped."""

    __slots__ = ()


Child: TypeAlias = "Html | str | int | Iterable[Child] | None"


def tag(element: str, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """Return an element; texts among its children and attributes are escaped.

    >>> tag("a", "<b>", href="/?a=1&b=2", class_="x", hidden=False)
    '<a href="/?a=1&amp;b=2" class="x">&lt;b&gt;</a>'
    """
    parts = [f"<{element}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = _NAMES.get(key, key.replace("_", "-"))
        parts.append(f" {label}" if value is True else f' {label}="{escape(value)}"')
    parts.append(">")
    if element not in _EMPTY:
        parts.append(f"{fragment(*children)}</{element}>")
    return Html("".join(parts))


def fragment(*children: Child) -> Html:
    """Return elements and texts one after another."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, str | int):
            parts.append(escape(child))
        elif child is not None:
            parts.append(fragment(*child))
    return Html("".join(parts))


def name(text: str, class_: str | None = None) -> Html:
    """Return a name that others gave, whatever its direction of writing, without effect around it.

    >>> name("p<1>")
    '<bdi>p&lt;1&gt;</bdi>'
    """
    return tag("bdi", text, class_=class_)


def isolated(text: str) -> str:
    """Return the same where there can be no elements: in titles, and in lists to choose from.

    >>> ascii(isolated("p1"))
    "'\\\\u2068p1\\\\u2069'"
    """
    return f"\u2068{text}\u2069"
