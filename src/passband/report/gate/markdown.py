"""Render a gate as Markdown: a comment on a pull request, or the summary of a workflow step.

A comment begins with a marker that is not shown, by which a workflow finds and updates it. GitHub
shows no SVG in comments, so intervals are drawn with letters. Names of models and tasks are shown
as they are: no markup in them is obeyed, nobody is mentioned, no issue is linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from passband.report.gate.bars import GATE_LEGEND, difference_bars
from passband.report.gate.text import gate_row
from passband.report.gate.words import (
    HEADLINES,
    line_notes,
    line_texts,
    on_target,
    roundings,
    sentence,
    target,
    tolerance_text,
    top_reasons,
)
from passband.report.rendering import markdown_text, printable, render
from passband.report.style import PLAIN, Style
from passband.report.words import counted
from passband.stats.interval import Rounding
from passband.summary import GateLine, GateResult
from passband.version import __version__

COMMENT = 64_000  #: characters of a comment; GitHub takes 65,536
STEP_SUMMARY = 1_000_000  #: bytes of a step's summary; GitHub takes 1 MiB for all of a step's
_PINGS = re.compile(r"(?<![A-Za-z0-9])@(?=\w)|#(?=\d)|\bgh-(?=\d)", re.I)  # a mention, an issue
_LONGEST = 200  # characters of a name
_REASONS = 5  # at the top
_ORDER = ("regression", "not-certified", "undecided", "worse-within-tolerance", "pass")
_TIERS = ("required", "supporting", "advisory")


def marker(name: str) -> str:
    """Return the first line of a comment, by which it is found again."""
    return f"<!-- passband gate {name} -->"


def gate_comment(result: GateResult, style: Style = PLAIN, most: int = COMMENT) -> str:
    """Return the gate as a comment of at most so many characters."""
    head = f"{marker(result.policy.name)}\n"
    return head + _document(result, style, most - len(head))


def gate_step_summary(result: GateResult, style: Style = PLAIN, most: int = STEP_SUMMARY) -> str:
    """Return the gate as the summary of a workflow's step, of at most so many bytes."""
    # A letter has four bytes at most, so whatever has a quarter as many letters is short enough.
    whole = _document(result, style, most)
    return whole if len(whole.encode()) <= most else _document(result, style, most // 4)


# -- sections --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Section:
    """Lines between a head and a foot, any number of which can be left out at the end."""

    head: str
    lines: Sequence[str]
    foot: str = "\n"
    noun: str = "line"

    @property
    def size(self) -> int:
        return len(self.head) + sum(map(len, self.lines)) + len(self.foot)

    def within(self, room: int) -> str:
        """Return as much of it as there is room for, and how much is left out."""
        if self.size <= room:
            return self.head + "".join(self.lines) + self.foot
        room -= len(self.head) + len(self.foot) + 80  # for what is said of the rest
        sizes = accumulate(map(len, self.lines))
        kept = self.lines[: sum(size <= room for size in sizes)]
        rest = (
            f"{counted(len(self.lines) - len(kept), f'more {self.noun}')} left out for length.\n\n"
        )
        return self.head + "".join(kept) + self.foot + rest if kept else rest


def _document(result: GateResult, style: Style, most: int) -> str:
    """Join the sections; cut the longest, but never the opening and the closing."""
    opening, closing = _opening(result), f"{_inert(target(result))} passband {__version__}.\n"
    pairs = sorted(zip(result.lines, roundings(result, style), strict=True), key=_severity)
    sections = list(_sections(result, pairs))
    room = most - len(opening) - len(closing)
    text = ""
    for at, section in enumerate(sections):
        left = room - len(text)
        fits = sum(one.size for one in sections[at:]) <= left
        text += section.within(left if fits else left // 2)  # some room for each that follows
    return opening + text + closing


def _severity(pair: tuple[GateLine, Rounding]) -> tuple[int, int]:
    """Rank deciding comparisons first, so that they are never cut off."""
    line, _ = pair
    return _TIERS.index(line.tier), _ORDER.index(line.verdict)


def _opening(result: GateResult) -> str:
    name = f" ({result.policy.name})" if result.policy.name != "gate" else ""
    base, new = (_inert(_cut(side.name)) for side in (result.base, result.new))
    lead = _inert(_cut(sentence(result), 1000))
    return (
        f"### passband gate{name}: {HEADLINES[result.verdict]}\n\n"
        f"{lead[:1].upper()}{lead[1:]}. {_inert(on_target(result))}\n\n"
        f"{_reasons(result)}New: {new}; base: {base}{tolerance_text(result)}.\n\n"
    )


def _reasons(result: GateResult) -> str:
    reasons = [f"- {_inert(_cut(reason, 1000))}\n" for reason in top_reasons(result)[:_REASONS]]
    return f"{''.join(reasons)}\n" if reasons else ""


def _sections(result: GateResult, pairs: Sequence[tuple[GateLine, Rounding]]) -> Iterator[_Section]:
    if pairs:
        rows = [
            gate_row(result, replace(line, task=_cut(line.task)), rounding)
            for line, rounding in pairs
        ]
        head, rule, *body = _inert_links(render(rows, "markdown")).splitlines(keepends=True)
        yield _Section(head + rule, body, noun="comparison")
    bars = difference_bars([line for line, _ in pairs])
    if bars:
        fence = _fence(bars)
        yield _Section(
            f"{fence}text\n{bars[0]}\n",
            [f"{bar}\n" for bar in bars[1:]],
            f"{fence}\n{GATE_LEGEND}\n\n",
            noun="difference",
        )
    details = [
        f"- {_inert(_cut(line.task))} {_inert(line.metric)}: {_inert(_cut(text, 1000))}\n"
        for line, rounding in pairs
        for text in _texts(line, rounding, result)
    ]
    if details:
        summary = "<details><summary>Why, and what would settle it</summary>\n\n"
        yield _Section(summary, details, "\n</details>\n\n", noun="reason")
    remarks = [f"- {_inert(_cut(str(one), 1000))}\n" for one in result.remarks if one.important]
    if remarks:
        yield _Section(
            "<details><summary>About the runs</summary>\n\n",
            remarks,
            "\n</details>\n\n",
            noun="remark",
        )


def _texts(line: GateLine, rounding: Rounding, result: GateResult) -> Iterator[str]:
    yield from line_texts(line, rounding, result.policy.failed)
    yield from (note.text for note in line_notes(line))


# -- text ------------------------------------------------------------------------------------


def _inert(text: str) -> str:
    """Escape text so that GitHub shows it unchanged."""
    return _inert_links(markdown_text(printable(text)))


def _inert_links(text: str) -> str:
    """Insert a zero-width space wherever text would mention a user or an issue."""
    return _PINGS.sub(lambda sign: f"{sign[0]}&#8203;", text)


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _fence(lines: Sequence[str]) -> str:
    """Return more backticks than any line has in a row."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    return "`" * max(3, longest + 1)
