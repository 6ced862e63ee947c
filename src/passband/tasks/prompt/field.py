"""Fill in a task's settings that depend on the problem: column, template, function or constant.

`ChoiceOrder` shuffles choices with a generator seeded with the task's seed and name and the
problem's key: data that name the right answer first need it, and a run that is resumed or scored
again has to find the same order.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput, Place, describe, nearest
from passband.tasks.prompt.rendering import Renderer
from passband.tasks.prompt.template import Template


@dataclass(frozen=True)
class ChoiceOrder:
    """The permutations of one task.

    >>> ChoiceOrder("gpqa", 0).permuted(("right", "a", "b", "c"), "rec2")
    ('b', 'c', 'a', 'right')
    """

    task: str
    seed: int

    def permuted(self, choices: Sequence[str], key: str) -> tuple[str, ...]:
        """Return the choices of a problem in its order; every order is as likely as another."""
        name = f"choices\0{self.task}\0{self.seed}\0{key}".encode("utf-8", "surrogatepass")
        generator = random.Random(int.from_bytes(hashlib.sha256(name).digest(), "big"))
        left, ordered = list(choices), []
        while left:
            # random() alone is promised to give the same numbers in every version of Python.
            ordered.append(left.pop(int(generator.random() * len(left))))
        return tuple(ordered)


def example_key(row: Mapping[str, Any]) -> str:
    """Return a name for the row of a worked example, which has none of its own."""
    text = json.dumps(row, sort_keys=True, default=str)
    return f"example {hashlib.sha256(text.encode()).hexdigest()}"


Row = Mapping[str, Any]

LONGEST_LIST = 100_000  # characters; reading takes 500 bytes of memory for each


class ProblemField:
    """One setting, such as doc_to_text, ready to be filled in for any row.

    Text that names a column is replaced by the column; all other text is a template. Templates of
    a task that is not trusted may be rendered in a worker process; see `expect`.
    """

    def __init__(self, name: str, setting: Any, place: Place, *, trusted: bool = False) -> None:
        self.name = name
        self._setting = setting
        self._place = place
        template = self._template = Template(setting) if isinstance(setting, str) else None
        self._renderer = Renderer(template, trusted=trusted) if template else None
        # Text without expressions is the same for every row, and rendering is what takes time.
        self._fixed = template.render({}) if template and self.is_constant else None

    def reads(self, name: str) -> bool:
        """Return whether a template reads a variable of this name."""
        return self._template is not None and name in self._template.columns

    @property
    def is_rendered_here(self) -> bool:
        """Whether no other process is needed for the values of ordinary rows."""
        return self._renderer is None or self._renderer.is_here

    def expect(self, rows: Iterable[Row]) -> None:
        """Note the rows whose values will be asked for next; a worker gets them together."""
        if self._renderer is not None and self._fixed is None:
            self._renderer.expect(row for row in rows if self._setting not in row)

    def value(self, row: Row, columns: Collection[str], problem: str) -> Any:
        """Return the value for a row; any failure names the file, the line and the problem."""
        try:
            return self._value(row, columns)
        except Exception as error:
            # A trusted function may raise anything; its author needs to know where it did.
            reason = str(error) if isinstance(error, InvalidInput) else describe(error)
            raise self.wrong(reason, problem) from error

    def text(self, row: Row, columns: Collection[str], problem: str) -> str:
        """Return the value as text; raise unless it is text or a number."""
        value = self.value(row, columns, problem)
        if isinstance(value, str):
            return value
        if isinstance(value, int | float):
            return str(value)
        raise self.wrong(f"must give text; got {_kind(value)}.", problem)

    def wrong(self, message: str, problem: str) -> InvalidInput:
        """Return the error of this setting for one problem."""
        return InvalidInput(f"{self.name} of problem {problem!r}: {message}", place=self._place)

    def _value(self, row: Row, columns: Collection[str]) -> Any:
        if callable(self._setting):
            return self._setting(dict(row))
        if self._renderer is None:
            return self._setting
        if self._setting in row:
            return row[self._setting]
        if self._setting in columns:
            raise InvalidInput(f"the row has no column {self._setting!r}.")
        return self._renderer.render(row) if self._fixed is None else self._fixed

    def list_in(self, text: str, problem: str) -> Any:
        """Return the list that a template wrote, or the text if it is none."""
        if len(text) > LONGEST_LIST:
            raise self.wrong(f"writes a list of more than {LONGEST_LIST:,} characters.", problem)
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text

    @property
    def is_constant(self) -> bool:
        """Whether the text has neither an expression nor a statement in it."""
        return isinstance(self._setting, str) and not any(
            mark in self._setting for mark in ("{{", "{%", "{#")
        )

    def check_column(self, columns: Collection[str], *, constant: bool) -> None:
        """Raise if the text is a misspelt column.

        A prompt without any part of the problem is one; a target may be constant, unless it is
        almost the name of a column.
        """
        if not self.is_constant or self._setting in columns:
            return
        hint = nearest(self._setting, columns)
        if hint or not constant:
            hint = hint or f" The columns are {', '.join(columns)}."
            raise InvalidInput(
                f"{self.name} {self._setting!r} is neither a column nor a template.{hint}",
                place=self._place,
            )


class RowTargets:
    """The targets of a row, and its choices.

    `free` targets may be other text than a choice, as those of worked examples are.
    """

    def __init__(
        self, target: ProblemField | None, choice: ProblemField | None, *, free: bool = False
    ) -> None:
        self.target = target
        self.choice = choice
        self._free = free

    @property
    def fields(self) -> tuple[ProblemField, ...]:
        return tuple(field for field in (self.choice, self.target) if field is not None)

    def choices(self, row: Row, columns: Collection[str], problem: str) -> tuple[str, ...]:
        if self.choice is None:
            return ()
        value = self.choice.value(row, columns, problem)
        if isinstance(value, str):
            value = self.choice.list_in(value, problem)
        if isinstance(value, Mapping):
            value = list(value.values())
        if not isinstance(value, list | tuple) or not value:
            raise self.choice.wrong(f"must give a list of texts; got {_kind(value)}.", problem)
        return tuple(map(str, value))

    def targets(
        self, row: Row, columns: Collection[str], choices: tuple[str, ...], problem: str
    ) -> tuple[str, ...]:
        """Return every right answer, as text.

        With choices a number is a position among them. A template that writes a list of texts,
        as Python and JSON do, gives several targets; any other text is one target.
        """
        if self.target is None:
            return ()
        value = self.target.value(row, columns, problem)
        if isinstance(value, str) and not self.target.is_constant:
            value = _texts(value, self.target, problem)
        several = value if isinstance(value, list | tuple) else [value]
        return tuple(self._one(item, choices, problem) for item in several)

    def _one(self, value: Any, choices: tuple[str, ...], problem: str) -> str:
        assert self.target is not None
        if value is None or isinstance(value, dict | list):
            raise self.target.wrong(f"must give text; got {_kind(value)}.", problem)
        if not choices:
            return str(value)
        if isinstance(value, str) and not value.strip().isdecimal():
            if value in choices or self._free:
                return value
            raise self.target.wrong(f"{value!r} is not among the choices.", problem)
        position = int(value)
        if not 0 <= position < len(choices):
            raise self.target.wrong(
                f"{position} is not a position among {len(choices)} choices; the first is 0.",
                problem,
            )
        return choices[position]


def _texts(text: str, field: ProblemField, problem: str) -> Any:
    """Read a list of texts that a template wrote; "[1, 2)" and "[3]" are texts themselves."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    value = field.list_in(text, problem)
    is_texts = isinstance(value, list) and value and all(isinstance(v, str) for v in value)
    return value if is_texts else text


def _kind(value: Any) -> str:
    return "nothing (null)" if value is None else f"{type(value).__name__} {value!r:.60}"
