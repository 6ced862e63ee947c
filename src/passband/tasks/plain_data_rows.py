"""The first rows of a data file, which guesses are made from, and what no guess can help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput
from passband.records import form_of, read_json, read_records
from passband.tasks.data import plain_rows
from passband.tasks.plain_data_fields import Field, is_absent, shown
from passband.tasks.plain_data_media import media_columns

__all__ = ["LOOKED_AT", "FirstRows", "first_rows", "refuse_empty", "refuse_other_files"]

LOOKED_AT = 10_000  # rows that guesses are made from
_CHARACTERS = 50_000_000  # the same, of rows that are long
_RESULTS = ("score", "trial", "is_correct", "completion", "rollout", "exact_match")


class FirstRows(NamedTuple):
    """The rows that guesses are made from, and what is no longer to be seen in them."""

    rows: list[dict[str, Any]]  # of plain values
    field: str | None  # of a JSON object that holds them, if one does
    media: list[str]  # columns of pictures and sounds


def first_rows(path: Path) -> FirstRows:
    """Return rows to look at."""
    inner = _list_field(path)
    rows: list[dict[str, Any]] = []
    characters = 0
    for row in islice(read_records(path, field=inner), LOOKED_AT):
        rows.append(row)
        characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if characters > _CHARACTERS:
            break
    if not rows:
        raise InvalidInput(f"{path}: there are no rows in it.")
    return FirstRows(plain_rows(rows), inner, media_columns(rows))


def _list_field(path: Path) -> str | None:
    """Return the only field of a JSON document that holds a list of objects."""
    if form_of(path.name) != "json":
        return None
    document = read_json(path)
    if not isinstance(document, dict):
        return None
    lists = [
        name
        for name, value in document.items()
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
    ]
    if len(lists) > 1:
        raise InvalidInput(
            f"{path}: holds several lists of rows: {', '.join(lists)}; put the one to ask "
            "into a file of its own."
        )
    return lists[0] if lists else None


def refuse_other_files(fields: Sequence[Field]) -> None:
    """Raise `InvalidInput` for files that hold something else than problems."""
    names = {each.name.lower() for each in fields}
    if "passband_bank" in names:
        raise InvalidInput("is an item bank: run it as an adaptive test, BANK:adaptive.")
    if "score" in names and len(names & set(_RESULTS)) > 1:
        raise InvalidInput(
            f"looks like results, not problems (columns {shown(fields)}): passband stats reads "
            "them. If these are problems, say what to ask with --question or --prompt."
        )


def refuse_empty(question: Field | None, answer: Field, fields: Sequence[Field]) -> None:
    for role, each in (("question", question), ("answer", answer)):
        empty = [] if each is None else [
            number for number, value in enumerate(each.values, start=1) if is_absent(value)
        ]  # fmt: skip
        if each is None or not empty:
            continue
        if len(empty) == len(each.values):
            raise InvalidInput(
                f"column {each.name}, taken for the {role}, is empty in every row; found: "
                f"{shown(fields)}. Name another with --{role}."
            )
        raise InvalidInput(
            f"column {each.name}, taken for the {role}, is empty in {len(empty)} of "
            f"{len(each.values)} rows, the first of them row {empty[0]}; fill it in, or leave "
            "these rows out."
        )
