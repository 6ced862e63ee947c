"""The task file of plain data: the keys that a run of the data uses, with comments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from passband.errors import InvalidInput
from passband.tasks.guess.data_file import Draft

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
