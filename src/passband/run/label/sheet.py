"""Read and write the labeller's file: a row per trial with question, answer and an empty label.

    problem,trial,question,answer,label,ticket
    add2-07,1,37+48=,85,,AAAAAF...

Rows are in the order of the draw, so that a labeller who stops early leaves a random part of it.
A label is pass or fail, yes or no, 1 or 0, or a number of a scale.

The ticket records how the trial was drawn and a hash of its answer. A labeller must see neither the
verdict nor the model, and the probability of being drawn can give the verdict away: so a ticket is
JSON in base64 with a checksum, which nobody reads by accident. It is not encrypted. FILE.draw.json
beside the file says in plain words how the trials were drawn; the tickets alone suffice.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place, nearest
from passband.files import (
    check_header,
    form_of,
    guarded,
    matching,
    open_delimited,
    parse_json,
    read_records,
    require_file,
    text_lines,
)
from passband.stats.data import ROLES

_PASS = frozenset(("pass", "passed", "yes", "y", "true", "t", "right", "correct", "1", "1.0"))
_FAIL = frozenset(("fail", "failed", "no", "n", "false", "f", "wrong", "incorrect", "0", "0.0"))


def is_empty(cell: Any) -> bool:
    """Return whether a cell holds no label yet."""
    return cell is None or cell != cell or not str(cell).strip()


def parse_label(cell: Any, scale: tuple[float, float] | None = None) -> float | None:
    """Return the number of a label; None where there is none yet.

    With a `scale`, labels are numbers from its least to its largest; without, 0 or 1.

    >>> parse_label("Pass"), parse_label(" no "), parse_label(""), parse_label("3", (0, 4))
    (1.0, 0.0, None, 3.0)
    """
    if is_empty(cell):
        return None
    text = str(cell).strip().casefold()
    if scale is None:
        if text in _PASS or text in _FAIL:
            return float(text in _PASS)
        raise InvalidInput(
            f"{cell!r:.60} is no label; write pass or fail (or yes and no, 1 and 0), or nothing "
            f"where there is none yet.{_scale_hint(text)}"
        )
    return _graded(cell, text, scale)


def _graded(cell: Any, text: str, scale: tuple[float, float]) -> float:
    number = _number(text)
    low, high = scale
    if number is None or not low <= number <= high:
        raise InvalidInput(
            f"{cell!r:.60} is no label; with --scale {low:g} {high:g}, a label is a number from "
            f"{low:g} to {high:g}, or nothing where there is none yet."
        )
    return number


def _scale_hint(text: str) -> str:
    is_number = _number(text) is not None
    return " Labels of another scale need it: --scale 0 4." if is_number else ""


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def parse_scale(scale: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the scale of labels, checked; None for labels of pass and fail."""
    if scale is None:
        return None
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(
            f"a scale is two numbers, the least first, such as --scale 0 4; got {low:g} {high:g}."
        )
    return low, high


def label_word(value: float, scale: tuple[float, float] | None = None) -> str:
    """Return a label as it is written into a file.

    >>> label_word(1.0), label_word(0.0), label_word(3.0, (0, 4))
    ('pass', 'fail', '3')
    """
    if scale is None:
        return "pass" if value == 1.0 else "fail"
    return f"{value:g}"


_VERSION = 1
_PREFIX = "drawn."  # base64 may begin with a minus, which a spreadsheet takes for a formula


@dataclass(frozen=True)
class Ticket:
    """How one trial was drawn."""

    problem: str
    trial: int
    run: str  #: fingerprint of the run
    judge: str  #: the scorer that the labels are to correct
    design: str
    seed: int
    drawn: int  #: trials that were drawn in all
    problems: int  #: that they were drawn from
    trials: int
    probability: float  #: of this trial, of being drawn
    answer: str  #: digest of the answer that was shown

    def text(self) -> str:
        """Return the ticket as one word.

        >>> ticket = Ticket("p1", 0, "a1", "judge", "spread", 7, 10, 40, 80, 0.125, "f00")
        >>> Ticket.parse(ticket.text()) == ticket
        True
        """
        data = json.dumps([_VERSION, *astuple(self)], ensure_ascii=True, separators=(",", ":"))
        packed = data.encode()
        checked = zlib.crc32(packed).to_bytes(4, "big") + packed
        return _PREFIX + base64.urlsafe_b64encode(checked).decode()

    @staticmethod
    def parse(text: str) -> Ticket:
        """Read a ticket; raise `InvalidInput` for anything else."""
        try:
            word = text.strip().removeprefix(_PREFIX)
            raw = base64.b64decode(word.encode("ascii"), altchars=b"-_", validate=True)
            version, *values = json.loads(raw[4:])
            is_whole = zlib.crc32(raw[4:]).to_bytes(4, "big") == raw[:4]
            ticket = Ticket(*values) if version == _VERSION else None
        except (ValueError, TypeError, RecursionError):
            is_whole, ticket = False, None
        if not is_whole or ticket is None:
            raise InvalidInput(
                "the column ticket is damaged; leave it as `passband label` wrote it. Without that "
                "column, labels are taken as a random sample."
            )
        return ticket


def digest_of(text: str | None) -> str:
    """Return what tells an answer from another one."""
    data = (text or "").encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


_COLUMNS = ("problem", "trial", "question", "answer", "label", "ticket")
_LONGEST = 30_000  # characters of a cell; spreadsheets cut at 32,767, and say nothing


@dataclass(frozen=True)
class UnlabelledRow:
    """A row to write."""

    problem: str
    trial: int
    question: str
    answer: str
    label: str
    ticket: Ticket


@dataclass(frozen=True)
class SheetRow:
    """A row as it was read."""

    place: Place
    problem: str | None
    trial: Any
    label: Any
    ticket: Ticket | None
    task: str | None = None
    model: str | None = None


# -- writing -------------------------------------------------------------------------------


def write_sheet(path: Path, rows: Sequence[UnlabelledRow]) -> None:
    """Write the file for a labeller, CSV or JSON lines by the ending of its name."""
    form = form_of(path.name)
    if form not in ("csv", "jsonl") or path.name.lower().endswith(".gz"):
        raise InvalidInput(f"{path}: labels are written to .csv or .jsonl; give such a name.")
    text = _as_csv(rows) if form == "csv" else _as_lines(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    beside = path.with_name(f"{path.name}.draw.json")
    beside.write_text(json.dumps(_drawn(rows), indent=2) + "\n", encoding="utf-8")


def _as_csv(rows: Sequence[UnlabelledRow]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        texts = [guarded(_shown(text)) for text in (row.question, row.answer)]
        writer.writerow([guarded(row.problem), row.trial, *texts, row.label, row.ticket.text()])
    return file.getvalue()


def _shown(text: str) -> str:
    """Return a text that fits into a cell, its end cut off visibly where it is too long."""
    text = text.replace("\0", "\\x00")
    if len(text) <= _LONGEST:
        return text
    cut = len(text) - _LONGEST
    return f"{text[:_LONGEST]} [{cut:,} characters are cut off here; a .jsonl file has them all]"


def _as_lines(rows: Sequence[UnlabelledRow]) -> str:
    values = [
        (row.problem, row.trial, row.question, row.answer, row.label or None, row.ticket.text())
        for row in rows
    ]
    return "".join(
        json.dumps(dict(zip(_COLUMNS, each, strict=True)), ensure_ascii=False) + "\n"
        for each in values
    )


def _drawn(rows: Sequence[UnlabelledRow]) -> dict[str, Any]:
    """Return how the trials were drawn, for people; the answers' digests stay in the tickets."""
    draws = {(row.ticket.run, row.ticket.judge): row.ticket for row in rows}
    return {
        "draws": [
            {
                "run": draw.run, "scorer": draw.judge, "design": draw.design, "seed": draw.seed,
                "drawn": draw.drawn, "problems": draw.problems, "trials": draw.trials,
            }
            for draw in draws.values()
        ],
        "trials": [
            {
                "run": row.ticket.run, "problem": row.problem, "trial": row.trial,
                "probability": row.ticket.probability,
            }
            for row in rows
        ],
    }  # fmt: skip


# -- reading -------------------------------------------------------------------------------


def read_sheet(path: Path, column: str = "label") -> Iterator[SheetRow]:
    """Yield the rows of a file of labels, each with its line.

    Besides what `write_sheet` writes, any table will do that has columns for the problem, the
    trial and the label; such labels have no ticket.
    """
    require_file(path)
    names: dict[str, str | None] | None = None
    for place, record in _records(path):
        names = names or _names(path, list(record), column)
        cells = {role: record.get(name) if name else None for role, name in names.items()}
        ticket = cells["ticket"]
        with_place = None if not ticket else _ticket(str(ticket), place)
        yield SheetRow(
            place,
            _word(cells["problem"]),
            cells["trial"],
            cells["label"],
            with_place,
            _word(cells["task"]),
            _word(cells["model"]),
        )


def _records(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    form = form_of(path.name)
    if form in ("csv", "tsv"):
        yield from _delimited(path, "\t" if form == "tsv" else None)
    elif form == "jsonl":
        for place, text in text_lines(path):
            value = parse_json(text, place)
            if not isinstance(value, dict):
                raise InvalidInput(f"every row must be an object; got {value!r:.60}.", place=place)
            yield place, value
    elif form is None:
        raise InvalidInput(f"{path}: labels are read from .csv, .tsv, .jsonl, .json or .parquet.")
    else:
        for number, record in enumerate(read_records(path, form), start=1):
            yield Place(path, number), record


def _delimited(path: Path, delimiter: str | None) -> Iterator[tuple[Place, dict[str, Any]]]:
    with open_delimited(path, delimiter) as lines:
        header = [name.strip() for name in next(filter(None, lines), [])]
        check_header(path, max(lines.line_num, 1), header)
        line = lines.line_num + 1
        for cells in lines:
            place, line = Place(path, line), lines.line_num + 1
            if not any(cells):
                continue
            if len(cells) != len(header):
                raise InvalidInput(
                    f"has {len(cells)} cells, but there are {len(header)} columns.", place=place
                )
            yield place, dict(zip(header, cells, strict=True))


def _names(path: Path, header: Sequence[str], column: str) -> dict[str, str | None]:
    """Return the column of each role; that of the labels must be there."""
    if column not in header:
        hint = nearest(column, header) or f" It has {', '.join(header[:12])}."
        raise InvalidInput(f"{path}: has no column {column!r} with the labels.{hint}")
    free = [name for name in header if name != column]
    names = {role: _first(free, ROLES[role]) for role in ("problem", "trial")}
    names |= {role: _first(free, (role,)) for role in ("ticket", "task", "model")}
    if names["ticket"] is None and names["problem"] is None:
        raise InvalidInput(f"{path}: has no column that names the problem, such as problem_id.")
    return {**names, "label": column}


def _first(header: Sequence[str], usual: Sequence[str]) -> str | None:
    return next(iter(matching(header, usual)), None)


def _ticket(text: str, place: Place) -> Ticket:
    try:
        return Ticket.parse(text)
    except InvalidInput as error:
        raise InvalidInput(str(error), place=place) from None


def _word(cell: Any) -> str | None:
    return None if cell is None or str(cell) == "" else str(cell)
