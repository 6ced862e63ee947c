"""Task files for tests, written where a test wants them."""

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

Write = Callable[..., Path]

BASE = """
dataset_path: json
dataset_kwargs:
  data_files: rows.jsonl
doc_to_text: "{{ question }}"
doc_to_target: answer
"""
ROWS = [
    {"id": "a", "question": "1+1", "answer": "2"},
    {"id": "b", "question": "2+2", "answer": "4"},
    {"id": "c", "question": "3+3", "answer": "6"},
]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file beside the others of this test."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def task(write: Write) -> Write:
    """Write a task: a few lines of YAML on top of a data set and templates that do."""

    def write_task(
        text: str = "", base: str = BASE, rows: list[dict[str, Any]] | None = None
    ) -> Path:
        lines = [json.dumps(row) for row in (ROWS if rows is None else rows)]
        write("rows.jsonl", "\n".join(lines) + "\n")
        return write("sums.yaml", dedent(text).strip("\n") + "\n" + base.lstrip("\n"))

    return write_task
