"""Load the task that a data file makes, and name the data in its errors.

The task file of plain data: the keys that a run of the data uses, with comments.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from passband.errors import InvalidInput, Place
from passband.generate import Problem
from passband.tasks.data.problem_set import ProblemSet
from passband.tasks.diagnostics import Diagnostic
from passband.tasks.file.loader import TaskReading, read_values
from passband.tasks.guess.columns import LOOKED_AT, is_absent
from passband.tasks.guess.data_file import Draft, draft_task
from passband.tasks.guess.guess import DataOptions
from passband.tasks.task import Task

_COMMENTS: Mapping[str, str] = {
    "task": "The name of the task, in tables and run directories.",
    "dataset_path": "The data, relative to this file.",
    "system": "The system prompt.",
    "doc_to_text": "The prompt: a template. Columns: {columns}.",
    "doc_to_target": "The right answer: a column, or a template.",
    "doc_to_choice": "The choices; a target that is a number is a position among them, from 0.",
    "shuffle_choices": "The right choice comes first above, so the order is drawn, by this seed.",
    "generation_kwargs": "How answers are drawn; what is not set is left to the server.",
    "repeats": "Trials of each problem; passband run -n overrides it.",
    "filter_list": "How the answer is found in a completion: the first rule that applies.",
    "metric_list": "How it is scored: {reason}.",
}
_SETTINGS = """\
  # temperature: 0.6
  # top_p: 0.95
  # max_gen_toks: 32768
"""


def task_file_text(draft: Draft, folder: Path) -> str:
    """Return the text of a task file in `folder` that asks and scores what the data alone do."""
    values = dict(draft.values)
    values["dataset_path"] = _relative(draft.path, folder)
    text = "".join(_pieces(draft, values))
    if yaml.safe_load(text) != values:
        raise InvalidInput(f"{draft.path}: its names cannot be written as YAML.")
    return text


def _relative(path: Path, folder: Path) -> str:
    """Return the path of the data as the task file names it."""
    name = os.path.relpath(path.absolute(), folder.absolute())
    if "*" in name:
        raise InvalidInput(f"{path}: a task file takes * in the name of its data for a pattern.")
    return f"./{name}" if name.startswith("~") else name


def _pieces(draft: Draft, values: Mapping[str, Any]) -> Iterator[str]:
    name = _one_line(draft.path.name)
    yield f"# A task made of {name}. To check this file and to run it:\n"
    yield "#   passband validate FILE\n"
    yield "#   passband run FILE --model openai:NAME --base-url http://localhost:8000/v1 -n 8\n"
    columns = _one_line(", ".join(draft.columns))
    kind = draft.guess.kind
    reason = f"the answers are {kind.reason}" if kind.reason else f"by {kind.scorer}"
    for key, value in values.items():
        if key in _COMMENTS:
            yield f"\n# {_COMMENTS[key].format(columns=columns, reason=reason)}\n"
        yield _entry(key, value)
        if key == "generation_kwargs":
            yield _SETTINGS


def _one_line(text: str) -> str:
    """Return a text that a comment can hold."""
    return "".join(char if char.isprintable() else " " for char in text)[:500]


def _entry(key: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{key}: {_scalar(value)}\n"
    if isinstance(value, int):
        return f"{key}: {value}\n"
    # Comments go below the last key of this one, so it is written line by line.
    flow = False if key == "generation_kwargs" else None
    dumped = yaml.safe_dump(
        {key: value}, sort_keys=False, allow_unicode=True, width=90, default_flow_style=flow
    )
    return str(dumped)


def _scalar(text: str) -> str:
    """Return text as YAML: lines as they are where they stay so, else in quotes."""
    block = "|-\n" + "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
    for written in ([block] if "\n" in text else [text]) + [json.dumps(text, ensure_ascii=False)]:
        try:
            if yaml.safe_load(f"key: {written}\n") == {"key": text}:
                return written
        except yaml.YAMLError:
            continue
    return json.dumps(text)


# What a key of the task is called on the command line.
_OPTIONS = {"doc_to_text": "--prompt", "doc_to_target": "--answer", "doc_to_choice": "choices"}


def load_data_task(path: str | Path, options: DataOptions | None = None) -> Task:
    """Return the task of a data file; what was guessed is in its notes."""
    draft = draft_task(Path(path), options)
    task = _task(draft.path, draft.values)
    question = draft.guess.question
    if question is not None and question.is_column and isinstance(task.load, DataProblems):
        task = replace(task, load=replace(task.load, question=question.name))
    return replace(task, notes=draft.notes, warnings=draft.warnings)


def recorded_data_task(path: str | Path, values: Mapping[str, Any]) -> Task:
    """Return the task that a data file made when it was run, from the keys recorded then."""
    return _task(Path(path), values)


def write_task_file(draft: Draft, path: Path | None = None, *, force: bool = False) -> Path:
    """Write the task file of a draft, by default beside its data, and return its path."""
    path = path or draft.path.with_name(f"{draft.values['task']}.yaml")
    if path.suffix not in (".yaml", ".yml"):
        raise InvalidInput(f"{path}: the name of a task file ends with .yaml.")
    text = task_file_text(draft, path.parent)
    _task(draft.path, draft.values)  # raises where it could not be run
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput(f"{path} exists; give another name with --output, or --force.") from None
    return path


def _task(path: Path, values: Mapping[str, Any]) -> Task:
    reading = read_values(path, values)
    _raise_errors(path, reading)
    assert reading.task is not None  # without errors there is a task, and its problems
    assert reading.problem_set is not None
    return replace(reading.task, load=DataProblems.of(reading.problem_set))


def _raise_errors(path: Path, reading: TaskReading) -> None:
    errors = [_message(line) for line in reading.diagnostics if line.level == "error"]
    if errors:
        raise InvalidInput(f"{path}: {' '.join(dict.fromkeys(errors))}")


def _message(diagnostic: Diagnostic) -> str:
    message = _in_options(diagnostic.message)
    is_about_scorer = message.startswith("metric ")
    return f"{message} Another scorer is chosen with --scorer." if is_about_scorer else message


def _in_options(message: str) -> str:
    """Return a message that begins with a key of the task, with the option in its place."""
    key = next((key for key in _OPTIONS if message.startswith(key)), None)
    return message if key is None else _OPTIONS[key] + message[len(key) :]


@dataclass(frozen=True)
class DataProblems(ProblemSet):
    """The problems of a data file; errors name the file and the options."""

    question: str | None = None  # column that must not be empty

    @classmethod
    def of(cls, problems: ProblemSet) -> DataProblems:
        """Return the same problems, of a file that the user has named, wherever a link leads."""
        values = {each.name: getattr(problems, each.name) for each in fields(problems)}
        return cls(**values | {"source": replace(problems.source, is_trusted=True)})

    def load(self, limit: int | None = None) -> Sequence[Problem]:
        """Return the first `limit` problems, or all; refuse rows without question or answer."""
        try:
            problems = super().load(limit)
        except InvalidInput as error:
            if error.place is not None and error.place != Place(self._path, 1):
                raise
            message = _in_options(error.message)
            is_named = message.startswith(str(self._path))
            raise type(error)(message if is_named else f"{self._path}: {message}") from None
        self._check_rest(problems)
        return problems

    @property
    def _path(self) -> Path:
        return self.source.place.file

    def _check_rest(self, problems: Sequence[Problem]) -> None:
        """Refuse empty cells in the rows that no guess has looked at."""
        for number, problem in enumerate(islice(problems, LOOKED_AT, None), start=LOOKED_AT + 1):
            reference = problem.reference
            if self.question is not None and is_absent(reference.doc.get(self.question)):
                raise self._empty(number, "question")
            if not reference.targets or any(map(is_absent, reference.targets)):
                raise self._empty(number, "answer")

    def _empty(self, number: int, role: str) -> InvalidInput:
        return InvalidInput(
            f"{self._path}: row {number} has no {role}; fill it in, or leave it out."
        )
