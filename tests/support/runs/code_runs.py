"""Small runs of programs: a task of functions, and models that answer with programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from passband.run.request import make_request
from passband.run.session import RunResult
from support.runs.runs import Notes

TASK = """
task: functions
dataset_path: functions.jsonl
problem_id: id
doc_to_text: "{{ id }}: {{ prompt }}"
metric_list:
  - metric: code
    repeat_aggregation: mean
    timeout: 1
"""
RIGHT = "```python\ndef f(x):\n    return x + 1\n```"
WRONG = "```python\ndef f(x):\n    return x - 1\n```"
ORDER = "```python\nimport os\ndef f(x):\n    return x + (os.environ['PYTHONHASHSEED'] != '0')\n```"
HANGS = "```python\ndef f(x):\n    while True: pass\n```"
CRASHES = "```python\nimport os\ndef f(x):\n    os._exit(1)\n```"
BROKEN = "```python\ndef f(x:\n```"


def write_functions(folder: Path, problems: int = 4, **changes: Any) -> Path:
    """Write a task whose problems all want f(x) = x + 1."""
    row = {"prompt": "def f(x):\n", "entry_point": "f",
           "test": "def check(candidate):\n    assert candidate(1) == 2\n"}  # fmt: skip
    rows = [{"id": f"p{at}", **row, **changes} for at in range(problems)]
    (folder / "functions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    path = folder / "functions.yaml"
    path.write_text(TASK)
    return path


def run_functions(
    folder: Path, answer: Callable[..., str], *, n: int = 4, watcher: Any = None, **options: Any
) -> RunResult:
    """Ask a function for programs and score them, without a sandbox unless one is wanted."""
    settings = {"unsafe_code": True, "name": "functions-run", **options}
    request = make_request(folder / "functions.yaml", answer, out=folder / "run", n=n, **settings)
    return request.run(watcher or Notes())
