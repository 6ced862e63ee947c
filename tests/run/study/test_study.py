"""Studies: models one after another, errors that stay with their model, money for all together."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from passband.errors import ExitCode, InvalidInput
from passband.run.study.build import study_of_models
from passband.run.study.study import StudyEnd, refuse_twice
from support.runs.commands import Done, finish, run
from support.servers.fault_server import FaultServer, Received, ok, status

ROWS = [{"id": f"p{n}", "question": f"What is {n} + {n}?", "sum": 2 * n} for n in range(5)]
TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: rows.jsonl}
problem_id: id
doc_to_text: "{{ question }}"
doc_to_target: "{{ sum }}"
generation_kwargs: {temperature: 1.0, until: []}
filter_list: [{name: last, filter: [{function: extract, rules: [last_number]}]}]
metric_list: [{metric: exact_match, repeat_aggregation: mean}]
"""
BOTH = ("run", "sums", "--model", "openai:a", "--model", "openai:b", "-n", 2, "--batch", 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "sums.yaml").write_text(TASK)
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PASSBAND_PRICES", "PASSBAND_TASKS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def last_event(done: Done) -> Any:
    return json.loads(done.out.splitlines()[-1])


def only_a(request: Received) -> Any:
    return ok if request.body["model"] == "a" else status(404)


def test_an_error_of_one_model_does_not_lose_the_others() -> None:
    with FaultServer(lambda request: status(404) if request.body["model"] == "a" else ok) as server:
        done = run(*BOTH, "--base-url", server.url, "--json")
    assert done.code == 1
    event = last_event(done)
    assert (event["event"], event["exit_code"], event["unasked"]) == ("done", 1, [])
    assert "404" in event["failed"]["openai:a"]["text"]
    assert event["models"]["openai:b"]["recorded"] == 10
    (group,) = event["summary"]["groups"]
    assert (group["by"], group["n_trials"]) == ({"model": "openai:b"}, 10)


def test_a_model_that_failed_now_keeps_its_trials_in_the_table() -> None:
    with FaultServer() as server:
        assert run(*BOTH, "--base-url", server.url, "-q").code == 0
    with FaultServer(only_a) as server:
        more = [3 if word == 2 else word for word in BOTH]
        done = run(*more, "--base-url", server.url, "--moved-server")
    assert done.code == 1
    assert "warning: openai:b: " in done.err
    assert "openai:b: failed, see the warning above" in done.err
    rows = [line.split() for line in done.out.splitlines()]
    means = {row[0]: row[-1] for row in rows if "exact_match" in row}
    assert means == {"openai:a": "15", "openai:b": "10"}


def test_trials_with_other_settings_are_not_in_the_table() -> None:
    with FaultServer() as server:
        command = (*BOTH, "--base-url", server.url, "-m", "avg")
        assert run(*command, "--temperature", 0.5, "-q").code == 0
        done = run(*command)
        assert (done.code, done.out) == (2, "")
        assert "warning: openai:a: runs/openai-a holds trials of sums that were drawn" in done.err
        assert "sampling.temperature: 0.5 then, 1.0 now" in done.err
        event = last_event(run(*command, "--model", "openai:c", "--json"))
    assert (event["exit_code"], [*event["failed"]]) == (2, ["openai:a", "openai:b"])
    assert [group["model"] for group in event["summary"]["groups"]] == ["openai:c"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--model", "tiny", "--model", "tiny"), "the model tiny is named twice"),
        (("--model", "openai:a", "--model", "a"), "the model a is named twice (openai:a is the"),
        (("--model", "tiny", "--model", "openai:a", "--name", "x"), "--name is for one model"),
        (("--model", "tiny", "--model", "python:nowhere:f"), "nowhere"),
        (("--model", "openai:a/b", "--model", "openai:a-b"), "would both be recorded in runs"),
        (("--model", "tiny", "--model", "openai:a", "--max-cost", 1), "needs the price"),
        (("--model", "tiny", "--model", "openai:a", "-m", "pass@9", "-n", 2), "pass@9 needs 9"),
        (("--model", "tiny", "--model", ""), "needs the name of a model"),
        ((), "--model is missing"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_asked(
    words: tuple[Any, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    done = run("run", "sums", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert not Path("runs").exists()


def test_a_cost_limit_is_for_all_models_together() -> None:
    Path("prices.yaml").write_text(
        "a: {prompt: 1000, completion: 1000}\nb: {prompt: 1000, completion: 1000}\n"
    )
    with FaultServer() as server:
        command = (*BOTH, "--base-url", server.url, "--concurrency", 1, "--json")
        costs = last_event(run(*command))["models"]
        whole = sum(model["cost"] for model in costs.values())
        more = [word if word != 2 else 8 for word in command]
        event = last_event(run(*more, "--max-cost", 1.5 * whole))
    assert event["exit_code"] == 1
    endings = {label: model["ending"] for label, model in event["models"].items()}
    assert endings["openai:a"] == "max_cost"
    spent = sum(model["cost"] for model in event["models"].values())
    spent += 0 if "openai:b" in endings else costs["openai:b"]["cost"]
    assert whole < spent <= 1.5 * whole


def test_a_signal_ends_the_study_in_good_order(folder: Path) -> None:
    (folder / "model_of_a_test.py").write_text(
        "import os, signal\ndef answer(prompt):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n    return '1'\n"
    )
    models = ("--model", "python:model_of_a_test:answer", "--model", "tiny")
    done = finish("run", "sums", *models, "-n", 50, PYTHONPATH=os.fspath(folder))
    assert done.code == 130, done.err
    assert "interrupted; what was answered is recorded" in done.err
    assert "tiny: not asked" in done.err
    assert not Path("runs/tiny").exists()


def test_exit_codes() -> None:
    def code(*failed: Any) -> ExitCode:
        return StudyEnd({}, {str(place): error for place, error in enumerate(failed)}).exit_code

    busy = InvalidInput()
    busy.exit_code = ExitCode.BUSY
    assert code(InvalidInput(), InvalidInput()) == ExitCode.USAGE
    assert code(InvalidInput(), busy) == code(OSError()) == ExitCode.FAILED
    assert code(busy) == ExitCode.BUSY
    assert StudyEnd({}, {}, ["a"]).exit_code == ExitCode.FAILED


def test_dry_runs_of_all_models() -> None:
    made = study_of_models(["sums"], ["tiny", "python:os.path:basename"], n=3)
    made.check(["pass@1"], 0.95)
    assert [plan.missing for plan in made.dry_run()] == [15, 15]
    assert not Path("runs").exists()
    done = run("run", "sums", "--model", "tiny", "--model", "python:os.path:basename", "--dry-run")
    assert done.out.count("No request was sent.") == 1
    assert "into runs/tiny" in done.out
    assert "into runs/python-os.path-basename" in done.out


def test_names_that_are_alike_are_no_twins() -> None:
    refuse_twice(["openai:a", "openai-completions:a", "b", "tiny"])
