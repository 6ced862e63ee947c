"""The fields of plain data that a template can write: columns, parts of columns, lone messages.

>>> rows = [{"Problem": "2+2?", "meta": {"answer": 4}}]
>>> [(field.name, field.expression) for field in fields_of(rows)]
[('Problem', 'Problem'), ('meta', 'meta'), ('meta.answer', 'meta.answer')]

The first rows of a data file, which guesses are made from, and what no guess can help.

Columns of pictures and sounds, which a prompt of text leaves out.

>>> media_columns([{"question": "How many cats?", "image": "cats.png", "answer": 2}])
['image']
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput, UnknownName, nearest
from passband.files import form_of, matching, read_json, read_records
from passband.tasks.data.rows import plain_rows

Row = Mapping[str, Any]

_KEYWORDS = frozenset(
    [
        "and",
        "as",
        "block",
        "call",
        "do",
        "else",
        "endfor",
        "endif",
        "extends",
        "filter",
        "for",
        "from",
        "if",
        "import",
        "in",
        "include",
        "is",
        "loop",
        "macro",
        "none",
        "not",
        "or",
        "recursive",
        "self",
        "set",
        "true",
        "false",
        "True",
        "False",
        "None",
        "doc",
    ]
)
_MOST_SHOWN = 12  # columns that an error lists
_LONGEST = 40  # characters of a value that is shown


@dataclass(frozen=True)
class DataField:
    """A column of the data, or a part of one, and its values in the rows that were looked at."""

    name: str  # answer, or reward_model.ground_truth
    expression: str  # that writes it in a template
    values: Sequence[Any]
    is_column: bool = True

    @property
    def setting(self) -> str:
        """The field as a setting of a task: its name, or a template."""
        return self.name if self.is_column else f"{{{{ {self.expression} }}}}"

    @property
    def is_text(self) -> bool:
        """Whether it holds texts and nothing else, and not the numbers of problems."""
        texts = [value for value in self.values if not is_absent(value)]
        return (
            bool(texts)
            and all(isinstance(value, str) for value in texts)
            and not all(value.strip().isdecimal() for value in texts)
        )

    @property
    def is_answer(self) -> bool:
        """Whether it holds texts, numbers, or lists of them."""
        held = [value for value in self.values if not is_absent(value)]
        return all(
            isinstance(one, str | int | float)
            for value in held
            for one in (value if isinstance(value, list) else [value])
        )


def fields_of(rows: Sequence[Row]) -> list[DataField]:
    """Return the columns of rows, and after each the parts of the mappings in it."""
    fields = []
    for column in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(column) for row in rows]
        fields += _of_column(column, values)
    return fields


def _of_column(column: str, values: list[Any]) -> list[DataField]:
    expression = expression_of(column)
    if all(map(_is_lone_message, values)):
        texts = [value[0]["content"] for value in values]
        return [DataField(column, f"{expression}[0].content", texts, is_column=False)]
    fields = [DataField(column, expression, values)]
    if all(isinstance(value, dict) for value in values):
        for part in dict.fromkeys(name for value in values for name in value):
            held = [value.get(part) for value in values]
            inner = f".{part}" if _is_plain(part) else f"[{json.dumps(part)}]"
            fields.append(DataField(f"{column}.{part}", expression + inner, held, is_column=False))
    return fields


def _is_lone_message(value: Any) -> bool:
    """Return whether a value is a chat of one message of the user."""
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], dict):
        return False
    return value[0].get("role") == "user" and isinstance(value[0].get("content"), str)


def expression_of(column: str) -> str:
    """Return the expression that writes a column in a template.

    >>> expression_of("answer"), expression_of("Correct Answer")
    ('answer', 'doc["Correct Answer"]')
    """
    return column if _is_plain(column) else f"doc[{json.dumps(column, ensure_ascii=False)}]"


def _is_plain(name: str) -> bool:
    return name.isidentifier() and name not in _KEYWORDS


def is_absent(value: Any) -> bool:
    """Return whether there is nothing in a cell."""
    if isinstance(value, list | dict):
        return not value
    return value is None or value != value or not str(value).strip()


# -- choosing ------------------------------------------------------------------------------


def named(fields: Sequence[DataField], name: str, option: str) -> DataField:
    """Return the field of a name that the user gave; raise `UnknownName` if there is none."""
    for field in fields:
        if field.name == name:
            return field
    hint = nearest(name, [field.name for field in fields])
    raise UnknownName(f"{option}: there is no column {name!r}.{hint} Found: {shown(fields)}.")


def choose(
    fields: Sequence[DataField],
    tiers: Sequence[Sequence[str]],
    role: str,
    more: str = "",
    *,
    every: Sequence[DataField] = (),
) -> DataField:
    """Return the one field whose name fits a role, from the surest names that any field has.

    Raise `UnknownName` where none fits, and `InvalidInput` where several do and differ; `more` is
    what the user can do other than naming a column, `every` are the fields to show.
    """
    by_name = {field.name.rpartition(".")[2] if not field.is_column else field.name: field
               for field in reversed(fields)}  # fmt: skip
    for names in tiers:
        fitting = [by_name[name] for name in matching(by_name, names)]
        different = [one for one in fitting if one.values != fitting[0].values]
        if fitting and not different:
            return fitting[0]
        if fitting:
            several = [fitting[0], *different]
            joined = " and ".join(field.name for field in several)
            raise InvalidInput(
                f"{len(several)} columns could be the {role}: {joined}. Choose one with "
                f"{_choosing(role, several[0])}{more}."
            )
    near = (hint for name in tiers[0] if (hint := nearest(name, by_name)))
    raise UnknownName(
        f"no column looks like the {role}; found: {shown(every or fields)}.{next(near, '')} Say "
        f"which one it is with --{role} COLUMN{more}."
    )


def _choosing(role: str, field: DataField) -> str:
    return f"--{role} {field.name if field.is_column else repr(field.setting)}"


def shown(fields: Sequence[DataField]) -> str:
    """Return fields with the first value of each, cut short.

    >>> shown(fields_of([{"a": "What is " + "x" * 50, "b": 4}]))
    "a ('What is xxxxxxxxxxxxxxxxxxxxxxxxxxxx...), b (4)"
    """
    texts = [f"{field.name} ({_short(field.values)})" for field in fields[:_MOST_SHOWN]]
    more = len(fields) - _MOST_SHOWN
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")


def _short(values: Sequence[Any]) -> str:
    first = next((value for value in values if not is_absent(value)), None)
    if first is None:
        return "empty"
    text = repr(first[:100] if isinstance(first, str | list) else first)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_NAME = re.compile(
    r"(?:image|img|picture|photo|screenshot|audio|sound|video)s?"
    r"(?:_?(?:[0-9]{1,2}|path|file|url|bytes|data|base64|name))?",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"data:(?:image|audio|video)/.*"
    r"|\S{1,500}\.(?:png|jpe?g|gif|webp|bmp|tiff?|wav|mp3|flac|ogg|m4a|mp4|webm|mov)(?:\?\S*)?",
    re.IGNORECASE | re.DOTALL,
)


def media_columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns with the name of a picture or a sound, or with nothing but such."""
    are_media: dict[str, bool] = {}
    for row in rows:
        for name, value in row.items():
            if are_media.get(name, True) and not is_absent(value):
                are_media[name] = _is_medium(value) or _is_named(name, value)
    return [name for name, holds in are_media.items() if holds]


def refuse_media(
    media: Sequence[str], used: Collection[str], columns: Sequence[str], ignored: Sequence[str]
) -> None:
    """Raise `InvalidInput` for pictures and sounds that no prompt shows and none may ignore."""
    for name in ignored:
        if name not in columns:
            hint = nearest(name, columns) or f" The columns are {', '.join(columns)}."
            raise UnknownName(f"--ignore-columns: there is no column {name!r}.{hint}")
    unseen = [name for name in media if name not in used and name not in ignored]
    if unseen:
        raise InvalidInput(
            f"column {unseen[0]} holds pictures or sounds, and prompts are text: the model would "
            "be asked about what it never sees. If the problems can be answered without, give "
            f"--ignore-columns {','.join(unseen)}."
        )


def _is_named(name: str, value: Any) -> bool:
    return _NAME.fullmatch(name) is not None and not isinstance(value, bool | int | float)


def _is_medium(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_medium, value))
    if isinstance(value, Mapping):
        return {"bytes", "path"} <= value.keys() or {"array", "sampling_rate"} <= value.keys()
    if isinstance(value, str):
        return _FILE.fullmatch(value.strip()) is not None
    return isinstance(value, bytes | bytearray)


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


def refuse_other_files(fields: Sequence[DataField]) -> None:
    """Raise `InvalidInput` for files that hold something else than problems."""
    names = {each.name.lower() for each in fields}
    if "passband_bank" in names:
        raise InvalidInput("is an item bank: run it as an adaptive test, BANK:adaptive.")
    if "score" in names and len(names & set(_RESULTS)) > 1:
        raise InvalidInput(
            f"looks like results, not problems (columns {shown(fields)}): passband stats reads "
            "them. If these are problems, say what to ask with --question or --prompt."
        )


def refuse_empty(
    question: DataField | None, answer: DataField, fields: Sequence[DataField]
) -> None:
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
