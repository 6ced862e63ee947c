"""A run whose scorers fail on every answer stops early, and one without any score fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband.trials.reader import Trials
from support.runs.commands import Done, run

MODEL = """
from passband.generate.provider import Completion

calls = []

def answer(prompt):
    calls.append(prompt)
    return "It is 4." if "number" not in prompt else "4"

def cut_off(prompt):
    return Completion("It is", finish="length")
"""
CODE = """
def failing(references, predictions, **options):
    raise RuntimeError("no such\\ntable")
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("model_of_scores.py").write_text(MODEL)
    Path("code_of_scores.py").write_text(CODE)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prompts that the model was asked."""
    import importlib
    import sys

    monkeypatch.delitem(sys.modules, "model_of_scores", raising=False)
    prompts: list[str] = importlib.import_module("model_of_scores").calls
    return prompts


def ask(*more: object, targets: list[str], function: str = "answer") -> Done:
    rows = [{"question": f"What is {n}?", "answer": t} for n, t in enumerate(targets)]
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task: tuple[Any, ...] = () if "task.yaml" in more else ("p.jsonl", "--scorer", "numeric")
    return run("run", *task, "--model", f"python:model_of_scores:{function}", *more)


def trials() -> int:
    with Trials(next(Path("runs").iterdir())) as recorded:
        return sum(recorded.trial_count(each.number) for each in recorded.runs())


def test_a_scorer_that_always_fails_ends_the_run(calls: list[str]) -> None:
    done = ask("-n", 8, targets=["four"] * 50)
    assert done.code == 1
    assert "p: scoring by numeric failed on all of the first 16 answers" in done.err
    assert "The first: InvalidInput: the target 'four' is not a number." in done.err
    assert 16 <= len(calls) < 40  # of 400; one worker asks alone until an answer is scored
    assert trials() == len(calls)  # what was asked is kept
    score = run("score", next(Path("runs").iterdir()), "--scorer", "exact_match")
    assert score.code == 0


def test_code_of_the_task_that_always_fails(calls: list[str]) -> None:
    Path("task.yaml").write_text(
        "task: own\ndataset_path: p.jsonl\ndoc_to_text: question\ndoc_to_target: answer\n"
        "generation_kwargs: {until: []}\n"
        "metric_list: [{metric: !function code_of_scores.failing}]\n"
    )
    done = ask("task.yaml", "--trust-task-code", "-n", 8, targets=["4"] * 50)
    assert done.code == 1
    assert "own: scoring by failing failed on all of the first" in done.err
    assert "RuntimeError: no such table" in done.err
    assert 16 <= len(calls) < 40


def test_one_score_is_enough_to_go_on(calls: list[str]) -> None:
    done = ask("-n", 2, targets=[*["four"] * 5, "4", *["four"] * 20])
    assert done.code == 0, done.err
    assert len(calls) == 52
    assert "numeric failed on 50 trials; the first: InvalidInput" in done.err


def test_a_run_too_short_to_stop_fails_in_the_end() -> None:
    done = ask("-n", 2, targets=["four"] * 3)
    assert done.code == 1
    assert "finished: 6/6 trials" in done.err
    assert "the target 'four' is not a number" in done.err
    assert ask("-n", 2, "-q", targets=["four"] * 3).code == 1  # also when nothing is asked


def test_answers_that_are_all_cut_off_fail_in_the_end() -> None:
    done = ask("-n", 2, targets=["4"] * 3, function="cut_off")
    assert done.code == 1
    assert "6 truncated" in done.err


def test_scores_of_before_count(calls: list[str]) -> None:
    targets = [*["4"] * 8, *["four"] * 23]
    assert ask("-q", targets=targets, function="answer").code == 0
    done = ask("-n", 2, targets=targets)
    assert done.code == 0
    assert len(calls) == 62
