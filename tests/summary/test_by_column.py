"""Results of a task by the groups of a column, and its problems with bad keys."""

import json
from pathlib import Path

import pytest

from passband.summary.from_run import summarize_run
from passband.summary.from_sources import summarize
from support.runs.commands import run

TASK = """
task: quiz
dataset_path: rows.jsonl
doc_to_text: "{{ question }}"
doc_to_target: answer
by: High level
repeats: 2
known_bad:
  - {problem: a1, reason: the key is wrong.}
  - {where: nothing == 1, reason: this is about other data.}
metric_list: [{metric: exact_match, repeat_aggregation: mean}]
"""
# Echoed questions are right in all of a, and in half of b.
ROWS = [{"id": f"a{i}", "question": "x", "answer": "x", "High level": "a"} for i in range(12)] + [
    {"id": f"b{i}", "question": "x", "answer": "xy"[i % 2], "High level": "b"} for i in range(4)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the task, its data, and the run that one model made of it."""
    folder = tmp_path_factory.mktemp("quiz")
    (folder / "quiz.yaml").write_text(TASK)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = run("run", "quiz.yaml", "--model", "python:shlex:quote", "--out", "run")
        notes = run("stats", "run", "--notes").err
    assert done.code == 0, done.err
    assert "exact_match (mean), macro over High level" in done.out
    assert "1 problem known to have a wrong key or text (a1: the key is wrong)" in notes
    assert "values count every problem the same (micro)" in notes
    return folder


@pytest.fixture
def directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder / "run"


def test_micro_and_macro_by_hand(directory: Path) -> None:
    summary = summarize_run(directory)
    assert summary.estimate("exact_match (mean)").value == pytest.approx(14 / 16)
    (macro,) = summary.combined
    assert (macro.name, macro.weighting, macro.strata) == (
        "macro over High level", "equal", ("a", "b"),
    )  # fmt: skip
    (line,) = macro.lines
    assert line.estimate is not None
    assert line.estimate.value == pytest.approx((1 + 1 / 2) / 2)
    # The same as splitting by hand.
    split = summarize(directory, ["pass@1"], by="High level", weights="equal")
    (by_hand,) = split.combined[0].lines
    assert by_hand.estimate is not None
    assert line.estimate.value == by_hand.estimate.value
    assert (line.estimate.low, line.estimate.high) == (by_hand.estimate.low, by_hand.estimate.high)
    assert summary.from_json(summary.to_json()) == summary
    codes = [note.code for note in summary.groups[0].notes]
    assert "known-bad" in codes
    assert "micro-average" in codes


def test_metrics_that_are_asked_for_have_it_too(directory: Path) -> None:
    done = run("stats", directory, "-m", "pass@2")
    assert "pass@2, macro over High level" in done.out
    assert len(summarize_run(directory).combined[0].lines) == 1


def test_each_of_several_models_has_it(directory: Path) -> None:
    models = ("--model", "python:shlex:quote", "--model", "python:html:escape")
    done = run("run", "quiz.yaml", *models, "--out", "two", "-q")
    labelled = [line.split()[0] for line in done.out.splitlines() if "macro over High" in line]
    assert labelled == ["python:shlex:quote", "python:html:escape"]


def test_one_group_has_no_macro_average(directory: Path) -> None:
    done = run("run", "quiz.yaml", "--model", "python:shlex:quote", "--out", "one", "--limit", 3)
    assert done.code == 0
    assert "macro" not in done.out + done.err


def test_every_problem_needs_its_group(directory: Path) -> None:
    Path("null.jsonl").write_text(json.dumps({**ROWS[0], "High level": None}))
    done = run("validate", "quiz.yaml", "--data", "null.jsonl")
    assert "quiz.yaml:6: problem 'a0' has no High level." in done.out
    Path("none.jsonl").write_text(json.dumps({"id": "a", "question": "x", "answer": "x"}))
    done = run("validate", "quiz.yaml", "--data", "none.jsonl")
    assert "by: no column 'High level'." in done.out
