"""Groups of tasks from run to summary: the lines, from the table alone, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import passband
from support.runs.commands import run

TASK = """
task: {name}
dataset_path: {name}.jsonl
doc_to_text: question
doc_to_target: answer
generation_kwargs: {{temperature: 1.0, until: ["\\n"]}}
filter_list: [{{name: last, filter: [{{function: extract, rules: [last_number]}}]}}]
metric_list: [{{metric: exact_match, repeat_aggregation: mean}}]
"""
GROUP = """
group: sums
task: [short, long]
aggregate_metric_list:
  - {metric: exact_match, weight_by_size: false}
  - {metric: exact_match, weight_by_size: true}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSBAND_TASKS", raising=False)
    for name, tens in (("short", range(2, 5)), ("long", range(2, 9))):
        rows = [{"question": f"{n}4+{n}7=", "answer": str(20 * n + 11)} for n in tens]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        Path(f"{name}.yaml").write_text(TASK.format(name=name))
    Path("sums.yaml").write_text(GROUP)
    return tmp_path


def test_run_and_stats_print_the_group(folder: Path) -> None:
    done = run("run", "sums.yaml", "--model", "tiny", "-n", 4, "--out", "r", "-q")
    printed = [line for line in done.out.splitlines() if "sums (" in line]
    assert [line.split("  ")[0] for line in printed] == ["sums (equal weights)", "sums (by size)"]
    from_table = run("stats", "r", "-q")
    assert from_table.out == done.out
    summary = json.loads(run("stats", "r", "--json").out)
    own = {g["task"]: g["lines"][0]["estimate"]["value"] for g in summary["groups"]}
    equal, size = (one["lines"][0]["estimate"]["value"] for one in summary["combined"])
    assert equal == pytest.approx((own["short"] + own["long"]) / 2)
    assert size == pytest.approx((3 * own["short"] + 7 * own["long"]) / 10)
    # Another session with one task alone neither forgets the group nor shows it.
    again = run("run", "long.yaml", "--model", "tiny", "-n", 4, "--out", "r", "-q")
    assert "sums (" not in again.out
    assert run("stats", "r", "-q").out == done.out
    assert "sums (equal weights)  pass@2" in run("stats", "r", "-m", "pass@2", "-q").out
    assert "all (equal weights)" in run("stats", "r", "--weights", "equal", "-q").out


def test_what_is_missing_is_named(folder: Path) -> None:
    other = TASK.format(name="long").replace("repeat_aggregation: mean", "repeat_aggregation: max")
    Path("long.yaml").write_text(other)
    done = run("run", "sums.yaml", "--model", "tiny", "-n", 2, "--out", "r")
    lack = "no mean over the group 'sums': its task 'long' does not measure exact_match (mean)"
    assert lack in done.err


def test_simple_evaluate_has_the_group(folder: Path) -> None:
    results = passband.simple_evaluate("tiny", "sums.yaml", num_repeats=2, log_samples=False)
    assert results["group_subtasks"]["sums"] == ["short", "long"]
    group, both = results["groups"]["sums"], results["results"]
    assert both["sums"] == group
    assert group["sample_len"] == 10
    low, high = group["exact_match_interval,last"]
    assert low <= group["exact_match,last"] <= high
