"""A task, a model and a run of them, for the commands that work on runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.runs.commands import Done, run

MODEL = """
def answer(prompt, seed):
    right = sum(int(word) for word in prompt.replace("?", "").split() if word.isdigit())
    return f"I think it is {right + (seed % 3 == 0)}"
"""
TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: rows.jsonl}
problem_id: id
doc_to_text: "What is {{ a }} + {{ b }}?"
doc_to_target: "{{ sum }}"
generation_kwargs: {temperature: 1.0, until: []}
repeats: 4
filter_list: [{name: last, filter: [{function: extract, rules: [last_number]}]}]
metric_list: [{metric: exact_match, repeat_aggregation: mean}]
"""
Ask = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a task and a model in it."""
    rows = [{"id": f"p{n}", "a": n, "b": 2 * n, "sum": 3 * n} for n in range(6)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "sums.yaml").write_text(TASK)
    (tmp_path / "model_of_a_test.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PASSBAND_PRICES", "PASSBAND_TASKS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def ask(folder: Path) -> Ask:
    """Run the task into ./run."""

    def asking(*options: object) -> Done:
        model = "python:model_of_a_test:answer"
        return run("run", "sums.yaml", "--model", model, "--out", "run", "--seed", "s", *options)

    return asking
