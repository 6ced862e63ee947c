"""Collect the notes under a table: each once, with all its subjects, the most severe first.

Most numbers have notes, good ones too. Notes that forbid a claim, change what numbers mean or say
why one is missing are always printed; of the rest two lines, with a count of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from passband.notes import ACCEPTED, SEVERITIES, Note
from passband.stats.data import WARNED

_MOST = 2  # lines, unless more have to be shown
_WITH_A_WARNING = ("other-extraction",)  # what to do about it
_OPTION = "--first "  # a number behind it is part of a command
_NUMBER = re.compile(rf"(?<!{_OPTION})(?<![\w@^.,-])[+-]?\d+(?:,\d{{3}})*(?:\.\d+)?(?![\w.]*\w)")
_LAST_NUMBER = re.compile(r"(.*?)(\d+)")
_METRIC_OF_K = re.compile(r"(.+[@^])(\d+)")


class Noted(NamedTuple):
    """A note and its subject."""

    note: Note
    where: str = ""  #: a task, a model; "" where there is one, or where it is about all
    metric: str = ""  #: "" where it is about the trials


class NoteLine(NamedTuple):
    """A note with all that it is about."""

    note: Note
    text: str

    @property
    def is_invalid(self) -> bool:
        """Whether a claim cannot be made because of it."""
        return self.note.severity == "invalid"

    @property
    def is_warning(self) -> bool:
        """Whether it is printed where only results are wanted, too."""
        return self.is_invalid or self.note.code in WARNED

    @property
    def is_needed(self) -> bool:
        """Whether it is never left out: a warning, an accepted finding, why a number is missing."""
        is_reason = self.note.code in _WITH_A_WARNING or self.note.code.startswith("no-")
        return self.is_warning or is_reason or self.note.text.endswith(ACCEPTED)

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """Its place among others, the most severe first."""
        severity = SEVERITIES.index(self.note.severity)
        return not self.is_invalid, not self.is_warning, not self.is_needed, severity


def note_lines(noted: Iterable[Noted], labels: Sequence[tuple[str, str]] = ()) -> list[NoteLine]:
    """Return a line for each note, the most severe first.

    Notes on metrics that differ in their numbers alone are one, with the least and the largest;
    of those with one sentence, the most severe counts.
    `labels` are where and metric of every row of the table.

    >>> few, more = Note("few", "5 problems count"), Note("few", "7 problems count")
    >>> rows = [("t1", "pass@1"), ("t1", "pass@2"), ("t2", "pass@1")]
    >>> found = [Noted(few, *rows[0]), Noted(few, *rows[1]), Noted(more, *rows[2])]
    >>> [line.text for line in note_lines(found, rows)]
    ['all: 5-7 problems count']
    >>> [line.text for line in note_lines(found[:2], rows)]
    ['t1: 5 problems count']
    """
    groups: dict[tuple[bool, str], list[Noted]] = {}
    for one in noted:
        text = _NUMBER.sub("#", _text(one)) if one.metric else one.note.text
        groups.setdefault((one.note.severity == "invalid", text), []).append(one)
    lines = [NoteLine(_worst(members), _line(members, labels)) for members in groups.values()]
    return sorted(lines, key=lambda line: line.rank)


def _worst(members: Sequence[Noted]) -> Note:
    return min(members, key=lambda one: SEVERITIES.index(one.note.severity)).note


class Parted(NamedTuple):
    """The lines of notes by where they are shown."""

    warnings: list[str]  #: where only results are wanted, too
    first: list[str]  #: as many as make two with the warnings, or more where that is needed
    others: list[str]  #: for those who ask for them

    @property
    def how_many(self) -> str:
        """How many the others are."""
        return f"{len(self.others)} more {'remark' if len(self.others) == 1 else 'remarks'}"


def parted(lines: Sequence[NoteLine]) -> Parted:
    """Return lines by where they are shown; they are sorted, the most severe first."""
    warned = sum(line.is_warning for line in lines)
    most = max(_MOST, sum(line.is_needed for line in lines))
    texts = [line.text for line in lines]
    return Parted(texts[:warned], texts[warned:most], texts[most:])


def warnings(lines: Sequence[NoteLine]) -> list[str]:
    """Return the lines that are printed where only results are wanted, too."""
    return [f"warning: {text}" for text in parted(lines).warnings]


def shown(lines: Sequence[NoteLine], *, every: bool = False, more: str = "--notes") -> list[str]:
    """Return the first lines that are no warnings, or every one; `more` prints the others.

    >>> notes = [Note("no-interval", "too few"), Note("a", "A", "weak"), Note("b", "B")]
    >>> shown(note_lines(map(Noted, notes)))
    ['too few', 'A', '1 more remark: --notes']
    """
    _, first, others = found = parted(lines)
    if every or not others:
        return first + others
    return [*first, f"{found.how_many}: {more}"]


def _text(one: Noted) -> str:
    return one.note.text.removeprefix(f"{one.metric} ")  # the label has the name


def _line(members: Sequence[Noted], labels: Sequence[tuple[str, str]]) -> str:
    texts = list(dict.fromkeys(map(_text, members)))
    label = about([(one.where, one.metric) for one in members], labels)
    return f"{label}: {_merged(texts)}" if label else _merged(texts)


def _merged(texts: Sequence[str]) -> str:
    """Return texts that differ in numbers as one, with the least and the largest of each.

    >>> _merged(["all 9 problems (+0.9)", "all 12 problems (+0.9)"])
    'all 9-12 problems (+0.9)'
    """
    spans = map(_span, zip(*map(_NUMBER.findall, texts), strict=True))
    return _NUMBER.sub(lambda _: next(spans), texts[0])


def _span(numbers: Sequence[str]) -> str:
    ends = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    between = " to " if any(end[0] in "+-" for end in ends) else "-"
    return ends[0] if len(ends) == 1 else f"{ends[0]}{between}{ends[-1]}"


def interval_cell(interval: str | None, notes: Iterable[Note]) -> str | None:
    """Return an interval for a table, or the code of the note that forbids one.

    >>> interval_cell("-", [Note("drift", "later trials score lower", "invalid")])
    'none: drift'
    """
    codes = dict.fromkeys(note.code for note in notes if note.severity == "invalid")
    return f"none: {', '.join(codes)}" if codes else interval


def by_name(note: Note, models: Sequence[str]) -> Note:
    """Return a note on one side of two with the name of its model.

    >>> by_name(Note("drift", "b: later trials score lower"), ("base", "tuned")).text
    'tuned: later trials score lower'
    """
    side = note.text[:3]
    if len(models) != 2 or side not in ("a: ", "b: "):
        return note
    return note._replace(text=f"{models['ab'.index(side[0])]}: {note.text[3:]}")


# -- what a note is about ----------------------------------------------------------------------


def about(pairs: Iterable[tuple[str, str]], labels: Sequence[tuple[str, str]] = ()) -> str:
    """Name the rows of a table that a note is about, in as few words as possible.

    >>> rows = [(task, metric) for task in ("t1", "t2", "t3") for metric in ("pass@1", "pass@2")]
    >>> about(rows, rows), about(rows[:4], rows), about(rows[::2], rows), about(rows[:1], rows)
    ('all', 't1, t2', 't1-t3 / pass@1', 't1 / pass@1')
    >>> about([("", "pass@1"), ("", "pass@4"), ("", "avg")])
    'pass@1,4, avg'
    """
    of: dict[str, dict[str, None]] = {}
    for where, metric in pairs:
        of.setdefault(where, {})[metric] = None
    everything: dict[str, set[str]] = {}
    for where, metric in labels:
        everything.setdefault(where, set()).add(metric)
    if len(labels) > 1 and {where: set(of[where]) for where in of} == everything:
        return "all"
    groups: dict[tuple[str, ...], list[str]] = {}
    for where, metrics in of.items():
        is_whole = where and len(metrics) > 1 and metrics.keys() == everything.get(where)
        groups.setdefault(() if is_whole else tuple(metrics), []).append(where)
    parts = [
        " / ".join(filter(None, (", ".join(_places(names)), ", ".join(_metrics(metrics)))))
        for metrics, names in groups.items()
    ]
    if len(parts) <= _MOST:
        return "; ".join(parts)
    first = next(iter(groups.values()))
    rest = sum(len(metrics) for where, metrics in of.items() if where not in first)
    return f"{parts[0]}; and {rest} other rows"


def _metrics(names: Sequence[str]) -> list[str]:
    """Join the names of metrics that differ only in k.

    >>> _metrics(["pass@1", "pass@2", "pass^2", "avg"])
    ['pass@1,2', 'pass^2', 'avg']
    """
    ks: dict[str, list[str]] = {}
    for name in names:
        match = _METRIC_OF_K.fullmatch(name)
        ks.setdefault(match[1] if match else name, []).append(match[2] if match else "")
    return [f"{head}{','.join(of)}" for head, of in ks.items()]


def _places(names: Sequence[str]) -> Iterator[str]:
    """Yield names, three or more that only count up as a span.

    >>> list(_places(["t1", "t2", "t3", "u", "v8", "v9"]))
    ['t1-t3', 'u', 'v8', 'v9']
    """
    matches = [_LAST_NUMBER.fullmatch(name) for name in names]
    keys = [
        (match[1], int(match[2]) - at) if match else (names[at], 0)
        for at, match in enumerate(matches)
    ]
    at = 0
    for _, members in groupby(keys):
        run = names[at : at + len(list(members))]
        at += len(run)
        yield from (f"{run[0]}-{run[-1]}",) if len(run) > 2 else run
