"""The file for a labeller: one row per trial with its question, its answer and an empty label.

    problem,trial,question,answer,label,ticket
    add2-07,1,37+48=,85,,AAAAAF...

Rows are in the order of the draw, so that those who stop early leave a random part of it. Beside
it, FILE.draw.json says in plain words how the trials were drawn; the tickets alone suffice.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from passband.run.label.ticket import Ticket
from passband.stats.data import ROLES

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
