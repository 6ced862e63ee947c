"""Rubrics in files: YAML with its keys, or a text that is the template."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.tasks.file.yaml_file import plain_json, read_yaml

_LARGEST = 1_000_000  # bytes
_YAML = (".yaml", ".yml")


def read_rubric_file(path: Path) -> Any:
    """Return the plain values of a rubric: a mapping of a YAML file, or the text of another."""
    if not path.is_file():
        raise InvalidInput(f"there is no rubric {path}.")
    if path.stat().st_size > _LARGEST:
        raise InvalidInput(f"{path} is larger than a rubric can be ({_LARGEST:,} bytes).")
    if path.suffix in _YAML:
        file = read_yaml(path)
        if file.diagnostics:
            raise InvalidInput(f"{path}: {file.diagnostics[0].message}")
        return plain_json(file.values)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not text in UTF-8: {error.reason}.") from None


def with_rubric(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the options of a judge with the rubric itself, where they name its file.

    A text without a variable is the name of a file, beside the task.
    """
    rubric = options.get("rubric")
    if isinstance(rubric, str) and "{{" not in rubric:
        path = folder / rubric
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InvalidInput(
                f"the rubric of a task is beside it or below; got {rubric!r:.80}. Give one from "
                "elsewhere with --rubric FILE."
            )
        return {**options, "rubric": read_rubric_file(path)}
    return dict(options)
