"""Draw every problem and every trial: a column for each problem, easiest first.

Strips of many trials become PNG files of two colours, written with the standard library.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from passband.report.charts.canvas import Anchor, Canvas, escape, number
from passband.report.charts.chart import Chart
from passband.report.charts.rows import NARROW, WIDE
from passband.report.charts.theme import LIGHT, NOTEBOOK, PAGE, Theme
from passband.report.charts.vega import head
from passband.report.words import counted

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def two_colour_png(rows: Sequence[str], colour: str = "#000000") -> bytes:
    """Return a picture with a pixel for each letter: "1" in the colour, all else transparent.

    >>> two_colour_png(["101", "010"])[:4]
    b'\\x89PNG'
    """
    width = max(map(len, rows), default=0)
    if width == 0:
        rows, width = ["0"], 1
    raw = b"".join(b"\x00" + _bits(row, width) for row in rows)
    header = struct.pack(">IIBBBBB", width, len(rows), 1, 3, 0, 0, 0)
    palette = b"\xff\xff\xff" + bytes.fromhex(colour.removeprefix("#"))
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"tRNS", b"\x00\xff")]
    chunks += [(b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _bits(row: str, width: int) -> bytes:
    """Return a row as bits, padded to whole bytes."""
    size = (width + 7) // 8
    bits = "".join("1" if letter == "1" else "0" for letter in row).ljust(8 * size, "0")
    return int(bits, 2).to_bytes(size, "big")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_uri(png: bytes) -> str:
    """Return a picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


MOST_CELLS = 20_000  #: drawn as shapes; more are a picture
Order = Literal["stacked", "asked"]


@dataclass(frozen=True)
class ProblemStrip(Chart):
    """Which trials of which problems are right.

    `marks` has a text for each problem with a letter for each trial: "1" right, "0" not right,
    "." without a score. `levels` is the success rate (or the mean score) of each problem, between
    0 and 1. Problems are given easiest first; `problem_strip` sorts them.

    >>> ProblemStrip(("a", "b"), ("111", "010"), (1.0, 1 / 3)).description
    '2 problems: 1 always right, 1 sometimes, 0 never.'
    """

    problems: Sequence[str]
    marks: Sequence[str]
    levels: Sequence[float]
    order: Order = "stacked"  #: trials of a problem: right ones below, or as they were asked
    title: str = "Every problem, every trial"
    name: str = "problems"

    @property
    def tall(self) -> int:
        """The largest number of trials of a problem."""
        return max(map(len, self.marks), default=0) or 1

    @property
    def is_picture(self) -> bool:
        """Whether it has too many cells to draw each as a shape."""
        return len(self.marks) * self.tall > MOST_CELLS

    @property
    def caption(self) -> str:
        """The meaning of columns and cells."""
        cells = "One column per problem, easiest first, one cell per trial; filled is right."
        if self.order == "asked":
            return f"{cells} Trials are in the order in which they were asked."
        return (
            f"{cells} Stacked, the outline is each problem's success rate: a wall means that most "
            "problems are always or never solved, a slope that luck matters."
        )

    @property
    def description(self) -> str:
        """The numbers of problems that are always, sometimes and never right."""
        always = sum(level >= 1 for level in self.levels)
        never = sum(level <= 0 for level in self.levels)
        some = len(self.levels) - always - never
        count = counted(len(self.levels), "problem")
        return f"{count}: {always:,} always right, {some:,} sometimes, {never:,} never."

    @property
    def ends(self) -> tuple[str, str]:
        """Words for the left and the right end of the strip."""
        always = bool(self.levels) and self.levels[0] >= 1
        never = bool(self.levels) and self.levels[-1] <= 0
        return ("always solved" if always else "easiest"), ("never solved" if never else "hardest")

    def draw(self, theme: Theme, *, narrow: bool) -> Canvas:
        """Draw the strip with words below it."""
        width, height = (NARROW, 130.0) if narrow else (WIDE, 170.0)
        canvas = Canvas(theme, width, height + 24)
        canvas.raw(
            self._strip(theme, self.order, f'width="{number(width)}" height="{number(height)}"')
        )
        easiest, hardest = self.ends
        words: tuple[tuple[float, str, Anchor], ...] = (
            (0.0, easiest, "start"),
            (width / 2, "problems, easiest first", "middle"),
            (width, hardest, "end"),
        )
        for x, text, anchor in words:
            canvas.text(x, height + 18, text, 12.5, fill="muted", anchor=anchor)
        return canvas

    def strip_svg(self, order: Order = "stacked", theme: Theme = PAGE) -> str:
        """Return the strip alone, for a page: one unit per problem and one per trial.

        It fills the box that the stylesheet gives it. Where `needs_mask(order)`, the filled cells
        are not in it: they are an element with the rule of `mask_rule`.
        """
        return self._strip(theme, order, 'class="chart strip" role="img"', words=True)

    def _strip(self, theme: Theme, order: Order, frame: str, *, words: bool = False) -> str:
        canvas = Canvas(theme, len(self.marks) or 1, self.tall)
        canvas.rect(0, 0, canvas.width, canvas.height, "empty")
        if order == "stacked":
            canvas.raw(self._path(theme, _outline(self.levels, self.tall)))
        elif not self.needs_mask(order):
            canvas.raw(self._path(theme, "".join(self._runs())))
        elif not (theme.on_page and words):
            canvas.raw(self._image(theme))
        box = f"0 0 {number(canvas.width)} {number(canvas.height)}"
        head = f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {frame} viewBox="{box}" '
            f'preserveAspectRatio="none" shape-rendering="crispEdges">{head if words else ""}'
            f"{canvas.shapes()}</svg>"
        )

    def needs_mask(self, order: Order) -> bool:
        """Return whether the cells of a page have to come from `mask_rule`."""
        return order == "asked" and self.is_picture

    def mask_png(self, order: Order) -> bytes:
        """Return the filled cells as a picture of one bit a pixel, for a mask."""
        return two_colour_png(self._pixels(order))

    def mask_rule(self, selector: str, order: Order = "asked") -> str:
        """Return the CSS rule that fills the right cells of an element."""
        image = f"url({data_uri(self.mask_png(order))})"
        return (
            f"{selector}{{background:{PAGE.blue};image-rendering:pixelated;"
            f"mask:{image} 0 0/100% 100% no-repeat}}\n"
        )

    def _image(self, theme: Theme) -> str:
        colour = theme.blue if theme.in_file else NOTEBOOK.blue
        uri = data_uri(two_colour_png(self._pixels("asked"), colour))
        return (
            f'<image width="{len(self.marks)}" height="{self.tall}" preserveAspectRatio="none" '
            f'image-rendering="pixelated" href="{uri}"/>'
        )

    @staticmethod
    def _path(theme: Theme, path: str) -> str:
        paint = "".join(f' {name}="{value}"' for name, value in theme.paint("blue", None).items())
        return f'<path d="{path}"{paint}/>'

    def _runs(self) -> Iterator[str]:
        """Yield a rectangle for each run of right cells in a row."""
        for y in range(self.tall):
            row = [mark[y : y + 1] == "1" for mark in self.marks]
            x = 0
            while x < len(row):
                start = x
                while x < len(row) and row[x] == row[start]:
                    x += 1
                if row[start]:
                    yield f"M{start} {y}h{x - start}v1h{start - x}z"

    def _pixels(self, order: Order) -> list[str]:
        """Return rows of letters, "1" where a cell is filled."""
        columns, tall = self.marks, self.tall
        if order == "stacked":
            filled = [round(level * tall) for level in self.levels]
            columns = ["0" * (tall - count) + "1" * count for count in filled]
        padded = [column.ljust(tall, "0") for column in columns]
        return ["".join(row) for row in zip(*padded, strict=True)]

    def vega(self) -> dict[str, Any]:
        """Return the success rate of each problem as a step; cells are left out."""
        rows = [
            {"position": index, "problem": problem, "level": level, "trials": len(mark)}
            for index, (problem, mark, level) in enumerate(
                zip(self.problems, self.marks, self.levels, strict=True)
            )
        ]
        rows += [{**rows[-1], "position": len(rows)}] if rows else []  # the end of the last step
        x = {"field": "position", "type": "quantitative", "title": "problems, easiest first"}
        y = {"field": "level", "type": "quantitative", "title": "success rate"}
        return {
            **head(replace(self, order="stacked")),
            "width": 600,
            "height": 150,
            "data": {"values": rows},
            "mark": {"type": "area", "interpolate": "step-after", "color": LIGHT.blue},
            "encoding": {
                "x": {**x, "scale": {"nice": False}},
                "y": {**y, "scale": {"domain": [0, 1]}},
            },
        }


def _outline(levels: Sequence[float], tall: int) -> str:
    """Return the outline of columns that are filled from below: a step where the level changes.

    >>> _outline([1, 1, 0.25], 4)
    'M0 4V0H2V3H3V4z'
    """
    steps, last = [f"M0 {tall}"], None
    for index, level in enumerate(levels):
        y = tall * (1 - min(max(level, 0.0), 1.0))
        if y != last:
            steps.append(f"H{index}V{y:.4g}" if index else f"V{y:.4g}")
            last = y
    return "".join([*steps, f"H{len(levels)}V{tall}z"])


def problem_strip(marks: dict[str, str], **more: Any) -> ProblemStrip:
    """Return the strip of problems with their trials' marks, easiest first.

    >>> problem_strip({"a": "010", "b": "111"}).problems
    ('b', 'a')
    """
    levels = {problem: _rate(mark) for problem, mark in marks.items()}
    order = sorted(marks, key=lambda problem: -levels[problem])
    return ProblemStrip(
        tuple(order),
        tuple(marks[problem] for problem in order),
        tuple(levels[problem] for problem in order),
        **more,
    )


def _rate(mark: str) -> float:
    """Return the share of right trials among those with a score; 0 if there are none."""
    scored = len(mark) - mark.count(".")
    return mark.count("1") / scored if scored else 0.0
