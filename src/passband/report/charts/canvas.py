"""Draw shapes and words as SVG, in the colours of a theme."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from html import escape as html_escape
from typing import Literal

from passband.report.charts.theme import Theme

Anchor = Literal["start", "middle", "end"]
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
_LONGEST = 1000  # letters of a text that are looked at
_MARGIN = 12.0  # around a drawing that stands alone
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]+"
RIGHT_TO_LEFT_NAME = re.compile(f"{_RIGHT_TO_LEFT}(?:[ _-]{_RIGHT_TO_LEFT})*")
_ISOLATES = "\u2068\u2069"
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U0001f000-]")


_WIDTHS = {
    **dict.fromkeys(_ISOLATES, 1e-9),
    **dict.fromkeys("ijl'|", 0.3),
    **dict.fromkeys(" .,:;!ftI()[]-r/\\", 0.41),
    **dict.fromkeys("mwMW@%", 0.95),
}


def escape(text: str) -> str:
    """Return text that is safe in SVG and HTML, as content and in attributes.

    >>> escape('a<b & "c"\\x00')
    'a&lt;b &amp; &quot;c&quot;\ufffd'
    """
    return html_escape(_UNWRITABLE.sub("\ufffd", text))


def short(text: str, most: int = 80) -> str:
    """Cut a label to a number of letters that can be written, for a sentence.

    >>> short("a long label", 8)
    'a long …'
    """
    text = _UNWRITABLE.sub("\ufffd", text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 1]}…"


def isolated(text: str) -> str:
    """Return a text that turns nothing around it, if a part of it runs from right to left."""
    return f"\u2068{text}\u2069" if RIGHT_TO_LEFT_NAME.search(text) else text


def number(value: float) -> str:
    """Return a coordinate with one decimal at most.

    >>> number(3.0), number(2.25), number(-0.01)
    ('3', '2.2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Estimate the width of a text in pixels, by the widths of the widest common font.

    >>> round(text_width("pass@16", 14)), round(text_width("ill", 14))
    (65, 13)
    """
    widths = sum(_WIDTHS.get(letter) or _width(letter) for letter in text)
    return size * widths * (1.1 if bold else 1.0)


def _width(letter: str) -> float:
    """Return the width of a letter that the table lacks, in units of the font's size."""
    if _WIDE.match(letter):
        return 1.05
    return 0.7 if letter.isupper() else 0.62


def fitted(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Cut a text to a width, with an ellipsis.

    >>> fitted("a problem with a long name", 14, 80)
    'a proble…'
    """
    text = " ".join(text[:_LONGEST].split())
    if text_width(text, size, bold=bold) <= width:
        return text
    fits = bisect_right(
        range(len(text)), width, key=lambda end: text_width(text[:end] + "…", size, bold=bold)
    )
    return text[: max(fits - 1, 0)].rstrip() + "…"


class Canvas:
    """A drawing of a given size. Colours are roles of the theme."""

    def __init__(self, theme: Theme, width: float, height: float) -> None:
        self.theme = theme
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        *,
        radius: float = 0,
        stroke: str | None = None,
        opacity: float | None = None,
    ) -> None:
        """Draw a rectangle, perhaps with round corners."""
        place: dict[str, str | float] = {"x": x, "y": y, "width": max(width, 0), "height": height}
        if radius:
            place["rx"] = radius
        self._add("rect", place, fill, stroke, opacity=opacity)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1
    ) -> None:
        """Draw a line."""
        place = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        self._add("line", place | {"stroke-width": width}, None, stroke)

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        fill: str,
        *,
        stroke: str | None = None,
        width: float = 1.5,
    ) -> None:
        """Draw a dot, or a ring around a fill."""
        place = {"cx": x, "cy": y, "r": radius} | ({"stroke-width": width} if stroke else {})
        self._add("circle", place, fill, stroke)

    def polyline(self, points: Iterable[tuple[float, float]], stroke: str, width: float) -> None:
        """Draw a line through points."""
        path: dict[str, str | float] = {"points": _points(points), "stroke-width": width}
        self._add("polyline", path | {"stroke-linejoin": "round"}, None, stroke)

    def polygon(
        self, points: Iterable[tuple[float, float]], fill: str, opacity: float | None = None
    ) -> None:
        """Fill the area within points."""
        self._add("polygon", {"points": _points(points)}, fill, None, opacity=opacity)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 14,
        *,
        fill: str = "text",
        anchor: Anchor = "start",
        bold: bool = False,
        room: float | None = None,
    ) -> None:
        """Write a text, cut to the room that it has; the whole of it is its tooltip."""
        shown = text if room is None else fitted(text, size, room, bold=bold)
        place: dict[str, str | float] = {"x": x, "y": y, "font-size": size}
        if anchor != "start":
            place["text-anchor"] = anchor
        if bold:
            place["font-weight"] = 600
        whole = "" if room is None or shown == text else tooltip(short(text, 300))
        self._add("text", place, fill, None, content=escape(isolated(shown)) + whole)

    def raw(self, markup: str) -> None:
        """Add finished markup."""
        self._parts.append(markup)

    def _add(
        self,
        tag: str,
        attributes: Mapping[str, str | float],
        fill: str | None,
        stroke: str | None,
        *,
        opacity: float | None = None,
        content: str = "",
    ) -> None:
        paint = self.theme.paint(fill, stroke)
        if opacity is not None:
            paint["fill-opacity"] = f"{opacity * float(paint.get('fill-opacity', 1)):.3g}"
        shape = _attributes({**attributes, **paint})
        self._parts.append(f"<{tag}{shape}>{content}</{tag}>" if content else f"<{tag}{shape}/>")

    def shapes(self) -> str:
        """Return the shapes without a frame."""
        return "".join(self._parts)

    def svg(self, title: str, description: str) -> str:
        """Return the whole drawing, with its title and description for those who do not see it."""
        margin = _MARGIN if self.theme.in_file else 0.0
        size = {"width": self.width + 2 * margin, "height": self.height + 2 * margin}
        box = (-margin, -margin, *size.values())
        frame = _attributes(
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "chart",
                "role": "img",
                "viewBox": " ".join(map(number, box)),
                **size,
                **({"font-family": FONT} if self.theme.in_file else {}),
            }
        )
        words = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        return f"<svg{frame}>{words}{self._background(margin)}{self.shapes()}</svg>"

    def _background(self, margin: float) -> str:
        if not self.theme.in_file or self.theme.background == "none":
            return ""
        place = {"x": -margin, "y": -margin}
        size = {"width": self.width + 2 * margin, "height": self.height + 2 * margin}
        return f"<rect{_attributes({**place, **size, 'fill': self.theme.background})}/>"


def tooltip(text: str) -> str:
    """Return a text that browsers show on hovering."""
    return f"<title>{escape(text)}</title>"


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def _attributes(attributes: Mapping[str, str | float]) -> str:
    return "".join(
        f' {name}="{value if isinstance(value, str) else number(value)}"'
        for name, value in attributes.items()
    )
