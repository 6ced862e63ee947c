"""Tasks of Inspect by the command: arguments, dry runs, checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.tasks.inspect import load_inspect, read_task_args
from support.runs import commands

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("k=3", 3), ("k=0.5", 0.5), ("k=true", True), ("k=null", None), ("k=", None),
        ("k=a=b", "a=b"), ("k=a,b", ["a", "b"]), ("k=[1, 2]", [1, 2]), ("k={a: 1}", {"a": 1}),
    ],
)  # fmt: skip
def test_values_are_read_as_inspect_reads_them(word: str, value: Any) -> None:
    from inspect_ai._util.config import parse_cli_args

    assert read_task_args([word]) == {"k": value} == parse_cli_args([word])


def test_dashes_in_names_are_underscores_and_the_last_value_holds() -> None:
    assert read_task_args(["a-b=1", "a_b=2"]) == {"a_b": 2}


@pytest.mark.parametrize("word", ["k", "=3", "k={", ""])
def test_words_that_are_no_arguments_are_refused(word: str) -> None:
    with pytest.raises(InvalidInput, match="-T"):
        read_task_args([word])


def test_a_task_has_the_sampling_and_the_epochs_of_its_own() -> None:
    (task,) = load_inspect("inspect:support.samples.inspect_tasks:plain", {"temperature": 0.5})
    assert (task.sampling.temperature, task.sampling.max_tokens, task.repeats) == (0.5, 64, 1)
    assert task.spec["task_args"] == {"temperature": 0.5}
    assert list(task.spec["task_code"]) == ["inspect_tasks.py"]
    assert [problem.key for problem in task.load(2)] == ["p0", "p1"]
    assert task.load(1)[0].reference.targets == ("30",)


def test_a_dry_run_counts_and_asks_nothing() -> None:
    done = commands.run(
        "run", "inspect:support.samples.inspect_tasks:plain",
        "-T", "count=5", "--model", "tiny", "-n", 3,
        "--dry-run", "--json",
    )  # fmt: skip
    plan = json.loads(done.out)
    assert (done.code, plan["missing"], plan["tasks"][0]["first_prompt"]) == (
        0,
        15,
        "What is 10 + 20?",
    )
    assert not Path("runs").exists()


def test_validate_loads_tasks_and_says_what_is_wrong() -> None:
    good = commands.run("validate", "inspect:support.samples.inspect_tasks:plain", "arithmetic")
    assert good.code == 0
    assert "inspect:support.samples.inspect_tasks:plain: ok" in good.out
    bad = commands.run("validate", "inspect:support.samples.inspect_tasks:same_ids", "-T", "x=1")
    assert bad.code == 2
    assert "-T x" in bad.out


def test_a_task_of_inspect_has_no_file_to_find() -> None:
    done = commands.run("score", "nowhere", "--task", "inspect:support.samples.inspect_tasks:plain")
    assert done.code == 2


@pytest.mark.slow
def test_the_command_prints_metrics_and_nothing_of_inspect(capfd: Any) -> None:
    done = commands.run(
        "run", "inspect:support.samples.inspect_tasks:several_scores", "--model",
        "python:support.samples.inspect_tasks:answer_sums", "-n", 2, "--engine", "inspect", "-q",
    )  # fmt: skip
    assert done.code == 0
    assert done.out.startswith("metric")
    assert "pass@2" in done.out
    assert capfd.readouterr().out == ""  # nor anything around the streams of Python
    unknown = commands.run(
        "run", "inspect:support.samples.inspect_tasks:plain", "--model", "nobody/x"
    )
    assert unknown.code == 2
