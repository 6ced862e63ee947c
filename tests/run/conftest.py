"""Run directories and a task file for tests of runs."""

import json
from pathlib import Path

import pytest

from support.runs.runs import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "run")


@pytest.fixture
def another(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "another")


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    """The task of sums as a file, for the command."""
    rows = [{"id": f"p{at}", "a": 17 + at, "b": 25 + at, "sum": 42 + 2 * at} for at in range(20)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "sums.yaml"
    path.write_text(
        "task: sums\n"
        "dataset_path: json\n"
        "dataset_kwargs: {data_files: rows.jsonl}\n"
        "problem_id: id\n"
        'doc_to_text: "What is {{ a }} + {{ b }}?"\n'
        'doc_to_target: "{{ sum }}"\n'
        "generation_kwargs: {temperature: 1.0, until: []}\n"
        "repeats: 2\n"
        "filter_list: [{name: last, filter: [{function: extract, rules: [last_number]}]}]\n"
        "metric_list: [{metric: exact_match, repeat_aggregation: mean}]\n"
    )
    return path


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "PASSBAND_PRICES"):
        monkeypatch.delenv(name, raising=False)
