"""`passband run` with several models, from the outside: one table, and what a study file says."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from passband.cli.verbs.run import RunOptions
from passband.run.study.file import KEYS
from passband.trials.reader import Trials
from support.runs.commands import Done, run
from support.servers.fault_server import FaultServer, says

pytestmark = pytest.mark.usefixtures("folder")  # a working directory with sums.yaml and a model

MODEL = "python:model_of_a_test:answer"
STUDY = f"""\
tasks: [sums.yaml]
n: 2
metrics: [pass@1]
models:
  - {MODEL}
  - model: {MODEL}
    name: adder
"""


def rows(done: Done) -> list[list[str]]:
    assert done.code == 0, done.err
    return [line.split() for line in done.out.splitlines() if not line.startswith("-")]


def test_models_by_tasks_by_metrics(folder: Path) -> None:
    """Two tasks, two models at two addresses, told apart by what each serves."""
    text = (folder / "sums.yaml").read_text()
    (folder / "again.yaml").write_text(text.replace("task: sums", "task: again"))
    with FaultServer(says("3")) as one, FaultServer(says("6")) as two:
        one.models, two.models = ({"data": [{"id": name}]} for name in ("a", "b"))
        done = run("run", "sums.yaml", "again.yaml", "--model", "openai:b", "--model", "openai:a",
                   "--base-url", one.url, "--base-url", two.url, "-n", 8, "-m", "avg")  # fmt: skip
        assert {request.body["model"] for request in one.requests} == {"a"}
        assert {request.body["model"] for request in two.requests} == {"b"}
    head, *body = rows(done)
    assert head[:3] == ["task", "model", "metric"]
    assert [row[:2] for row in body] == [
        [task, model] for task in ("again", "sums") for model in ("openai:b", "openai:a")
    ]
    assert {row[-1] for row in body} == {"48"}
    assert f"openai:b (1 of 2) at {two.url}" in done.err
    assert "passband compare runs/openai-b runs/openai-a" in done.err
    table = rows(run("stats", "runs", "-m", "avg"))
    assert sorted(table[1:]) == sorted(body)


def test_addresses_that_cannot_be_told_apart_are_refused() -> None:
    with FaultServer() as one, FaultServer() as two:
        one.models = {"data": [{"id": "a"}]}
        done = run("run", "sums", "--model", "openai:a", "--model", "openai:b",
                   "--base-url", one.url, "--base-url", two.url)  # fmt: skip
        assert not one.requests
    assert (done.code, done.out) == (2, "")
    assert f"{two.url} gives no list of its models" in done.err
    assert not Path("runs").exists()


def test_a_study_file() -> None:
    Path("study.yaml").write_text(STUDY)
    done = run("run", "study.yaml")
    assert [row[:2] for row in rows(done)[1:]] == [[MODEL, "pass@1"], ["adder", "pass@1"]]
    with Trials("runs/adder") as trials:
        (recorded,) = trials.runs()
    assert (recorded.model, recorded.label, recorded.name) == (MODEL, "adder", "adder")
    more = run("run", "study.yaml", "--model", "adder", "-n", 4, "-m", "pass@4", "-q")
    assert rows(more)[1][0] == "pass@4"
    assert rows(more)[1][-1] == "24"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("study.yaml", "sums"), "study.yaml is a study file, which names its tasks"),
        (("study.yaml", "--name", "x"), "--name: study.yaml is a study file, where name is a key"),
        (("study.yaml", "--base-url", "http://a"), "--base-url: study.yaml is a study file"),
        (("study.yaml", "--model", "addr"), "no such model. Did you mean 'adder'?"),
        (("typo.yaml",), "typo.yaml:2: unknown key 'nn'."),
    ],
)
def test_mistakes(words: tuple[str, ...], told: str) -> None:
    Path("study.yaml").write_text(STUDY)
    Path("typo.yaml").write_text(STUDY.replace("n: 2", "nn: 2"))
    done = run("run", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert not Path("runs").exists()


def test_the_end_says_who_is_better_and_how_to_go_on() -> None:
    Path("study.yaml").write_text(STUDY)
    done = run("run", "study.yaml")
    assert f"pass@1 of adder less {MODEL}, paired: " in done.err
    assert "(undecided)" in done.err
    assert "go on where it stopped" not in done.err
    Path("study.yaml").write_text(STUDY + f"  - model: {MODEL}\n    name: third\n")
    done = run("run", "study.yaml")
    assert "Ranks by pass@1 (95%, all of them at once): " in done.err
    assert "third 1-3" in done.err
    Path("study.yaml").write_text(STUDY + "  - openai:nowhere\n")
    done = run("run", "study.yaml", "--max-outage", 0)
    assert done.code == 2  # no key, no address: refused at once
    assert "OPENAI_API_KEY is not set" in done.err


def test_events() -> None:
    Path("study.yaml").write_text(STUDY)
    events = [json.loads(line) for line in run("run", "study.yaml", "--json").out.splitlines()]
    models = [event for event in events if event["event"] == "model"]
    assert [(event["model"], event["directory"]) for event in models] == [
        (MODEL, "runs/python-model_of_a_test-answer"),
        ("adder", "runs/adder"),
    ]
    assert [event["event"] for event in events].count("done") == 1
    assert [group["model"] for group in events[-1]["summary"]["groups"]] == [MODEL, "adder"]


def test_quiet_prints_the_table_alone() -> None:
    Path("study.yaml").write_text(STUDY)
    done = run("run", "study.yaml", "-q")
    assert done.err == ""
    assert len(rows(done)) == 3


def test_keys_of_study_files_are_options_of_run() -> None:
    options = {field.name for field in fields(RunOptions)}
    assert {"metric" if key == "metrics" else key for key in KEYS} <= options
