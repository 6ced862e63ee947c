"""The command: what it prints, what it refuses before asking, how it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from passband.inspect_evals.run_bootstrapped_inspect_evals import Config, _sampling_client, main
from passband.trials.reader import Trials
from support.servers.fault_server import (
    Behaviour,
    FaultServer,
    Received,
    ok,
    says,
    status,
    unauthorized_401,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TASK = "tasks=support.samples.seed_tasks:simple_math_task"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["num_choices=3", "pass_at_k=4"], "pass_at_k is 4, but num_choices is 3"),
        (["pass_at_k=0"], "pass_at_k must be at least 1"),
        (["num_choices=0"], "num_choices must be at least 1"),
        (["limit=0"], "limit must be at least 1"),
        (["max_connections=0"], "max_connections must be at least 1"),
        (["max_tokens=0"], "max_tokens must be at least 1"),
        (["temperature=nan"], "temperature must be 0 or more"),
        (["top_p=1.5"], "top_p must be above 0 and at most 1"),
        (["top_k=0"], "top_k must be at least 1, or -1 for all tokens"),
        (["bootstrap_iters=1"], "bootstrap_iters must be at least 2"),
        (["bootstrap_seed=-1"], "bootstrap_seed must be 0 or more"),
        (["log_level=LOUD"], "log_level must be DEBUG, INFO, WARNING, ERROR; got 'LOUD'"),
        (["num_choises=3"], "Did you mean 'num_choices'"),
        (["tasks=,"], "tasks is empty"),
        (["tasks=support.samples.seed_tasks:nothing"], "has no function named 'nothing'"),
        (
            ["tasks=support.samples.seed_tasks:aime2024,support.samples.seed_tasks:aime2024"],
            "two tasks are named 'aime2024'",
        ),
        (["model_name=None"], "model_name is missing"),
        (["model_path=tinker://a/b"], "needs the package tinker"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_asked(
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tinker", None)
    with FaultServer(ok) as server, pytest.raises(SystemExit) as exit:
        main([TASK, "model_name=m", f"base_url={server.url}", *options])
    printed = capsys.readouterr()
    assert exit.value.code == 2
    assert printed.out == ""
    assert message in printed.err
    assert not server.requests


def test_a_model_that_nobody_knows_needs_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(SystemExit, match="2"):
        main([TASK, "model_name=Qwen/Qwen3-8B-Base"])
    assert "Give base_url=URL of the server" in capsys.readouterr().err


def test_a_run_is_resumed_and_topped_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = [TASK, "model_name=m", f"out={tmp_path / 'run'}", "seed=1"]
    with FaultServer(ok) as server:
        common.append(f"base_url={server.url}")
        main([*common, "num_choices=2"])
        assert len(server.requests) == 8
        first = capsys.readouterr().out
        main([*common, "num_choices=2"])
        assert len(server.requests) == 8
        assert capsys.readouterr().out == first
        main([*common, "num_choices=4"])
        assert len(server.requests) == 16


def test_several_tasks_print_three_lines_each(capsys: pytest.CaptureFixture[str]) -> None:
    with FaultServer(ok) as server:
        main(
            [
                f"{TASK},support.samples.seed_tasks:aime2024",
                "model_name=m",
                f"base_url={server.url}",
            ]
        )
    lines = capsys.readouterr().out.splitlines()
    names = [line.partition(":")[0] for line in lines]
    assert names == [
        f"{task}/pass@1{end}"
        for task in ("simple_math_task", "aime2024")
        for end in ("", "_bootstrap_stderr", "_bootstrap_mean")
    ]


def test_without_the_bootstrap_one_line_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["model_name=m", "limit=1", "bootstrap_stderr=False"]
    with FaultServer(ok) as server:
        main([TASK, f"base_url={server.url}", *options])
        assert capsys.readouterr().out.startswith("simple_math_task/pass@1: ")
        main([TASK, f"base_url={server.url}", *options, "pass_at_k=None"])
    names = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["simple_math_task/accuracy", "simple_math_task/stderr"]


def test_top_k_and_metadata(tmp_path: Path) -> None:
    options = ["model_name=m", "top_k=40", "metadata.step=100", f"out={tmp_path / 'run'}"]
    with FaultServer(ok) as server:
        main([TASK, f"base_url={server.url}", *options])
    assert {request.body["top_k"] for request in server.requests} == {40}
    with Trials(tmp_path / "run") as trials:
        assert trials.run().config["task"]["metadata"] == {"step": "100"}


def test_the_number_of_connections_is_kept_to() -> None:
    with FaultServer(ok) as server:
        options = [f"base_url={server.url}", "max_connections=2", "num_choices=8"]
        main([TASK, "model_name=m", *options])
    assert server.max_in_flight <= 2


def test_errors_are_logged_and_trials_without_an_answer_left_out(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: Received) -> Behaviour:
        return status(400) if "17" in request.prompt else says("The answer is 44.")

    with FaultServer(script) as server:
        main([TASK, "model_name=m", f"base_url={server.url}", "limit=2"])
    assert capsys.readouterr().out.startswith("simple_math_task/pass@1: 1.0000\n")
    log = caplog.text
    assert "simple_math_task: problem p0, trial 0: rejected" in log
    assert "trials without a score are left out: 1 invalid" in log
    assert "leaves out 1 of 2 problems" in log


def test_a_wrong_key_stops_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with FaultServer(unauthorized_401) as server, pytest.raises(SystemExit, match="1"):
        main([TASK, "model_name=m", f"base_url={server.url}", "num_choices=64"])
    assert capsys.readouterr().out == ""
    assert len(server.requests) == 1


def test_a_task_without_a_scorer_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with FaultServer(ok) as server, pytest.raises(SystemExit):
        main(
            ["tasks=support.samples.seed_tasks:unscored", "model_name=m", f"base_url={server.url}"]
        )
    assert capsys.readouterr().out == ""


def test_verbose_shows_problems_and_completions(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with FaultServer(ok) as server:
        main([TASK, "model_name=m", f"base_url={server.url}", "limit=1", "verbose=True"])
    assert "[Problem]\nuser: What is 17 + 25?\n[Completion]\nWay " in caplog.text


def test_logs_are_written_that_inspect_reads(tmp_path: Path) -> None:
    options = ["model_name=m", "num_choices=2", "limit=2", "metadata.step=100", "temperature=0.5"]
    with FaultServer(ok) as server:
        for _ in range(2):  # a second log does not take the place of the first
            main([TASK, f"base_url={server.url}", f"log_dir={tmp_path / 'logs'}", *options])
    first, second = sorted((tmp_path / "logs").iterdir())
    log = read_eval_log(str(first))
    assert (log.eval.task, log.eval.model) == ("simple_math_task", "openai:m")
    assert log.eval.metadata == {"step": "100"}
    assert log.eval.model_generate_config.temperature == 0.5
    assert log.samples is not None
    assert {(sample.id, sample.epoch) for sample in log.samples} == {
        (key, epoch) for key in ("p0", "p1") for epoch in (1, 2)
    }
    assert all(sample.output.completion.startswith("Way ") for sample in log.samples)
    assert all("extracted_answer" in (sample.scores or {}) for sample in log.samples)
    assert read_eval_log(str(second)).status == "success"


# --- several tasks, and values that are alike ---------------------------------------------------


def test_a_task_that_fails_leaves_the_others_their_lines(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: Received) -> Behaviour:
        return status(400) if "Only" in request.prompt else says("The answer is 42.")

    names = "tasks=support.samples.seed_tasks:simple_math_task,support.samples.seed_tasks:refused"
    with FaultServer(script) as server, pytest.raises(SystemExit) as exit:
        main([names, "model_name=m", f"base_url={server.url}", "debug_errors=False"])
    assert exit.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "simple_math_task/pass@1: 0.2500"
    assert len(lines) == 3
    assert "refused: no trial has a score (2 invalid; the last attempt: rejected: " in caplog.text


def test_a_task_that_fails_alone_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    with (
        FaultServer(lambda request: status(400)) as server,
        pytest.raises(SystemExit, match="1"),
    ):
        main(["tasks=support.samples.seed_tasks:refused", "model_name=m", f"base_url={server.url}"])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Last: HTTP 400" in printed.err


def test_a_standard_error_of_0_carries_a_note(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with FaultServer(says("The answer is 0.")) as server:
        main([TASK, "model_name=m", f"base_url={server.url}", "limit=2", "num_choices=3"])
    assert "simple_math_task/pass@1_bootstrap_stderr: 0.000000" in capsys.readouterr().out
    assert "all 2 problems have the same value" in caplog.text


# --- tinker -----------------------------------------------------------------------------------


class Client:
    """A sampling client of tinker, as far as it is told from other models."""

    async def sample_async(self) -> None: ...


def tinkers(create: Callable[[], Any]) -> ModuleType:
    """Return a package tinker whose service makes a sampling client so."""
    package = ModuleType("tinker")
    service = SimpleNamespace(create_sampling_client=lambda model_path: create())
    package.ServiceClient = lambda: service  # type: ignore[attr-defined]
    return package


TINKER: dict[str, Any] = {
    "tasks": "x",
    "model_path": "tinker://a/b",
    "model_name": "m",
    "renderer_name": "r",
}


@pytest.mark.parametrize("is_future", [True, False])
def test_the_future_of_a_sampling_client_is_resolved(
    monkeypatch: pytest.MonkeyPatch, is_future: bool
) -> None:
    client = Client()
    future = SimpleNamespace(result=lambda: client)
    package = tinkers(lambda: future if is_future else client)
    monkeypatch.setitem(sys.modules, "tinker", package)
    assert _sampling_client(Config(**TINKER)) is client


def test_the_future_of_the_real_package_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    tinker = pytest.importorskip("tinker", reason="tinker is not installed")
    futures = pytest.importorskip("tinker.lib.public_interfaces.api_future")
    made: Future[Client] = Future()
    made.set_result(client := Client())
    created = futures.AwaitableConcurrentFuture(made)
    monkeypatch.setattr(tinker.ServiceClient, "__init__", lambda self: None)
    monkeypatch.setattr(tinker.ServiceClient, "__del__", lambda self: None, raising=False)
    monkeypatch.setattr(tinker.ServiceClient, "holder", None, raising=False)
    monkeypatch.setattr(tinker.SamplingClient, "create", lambda *args, **options: created)
    assert _sampling_client(Config(**TINKER)) is client


def test_what_tinker_raises_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise RuntimeError("The api_key client option must be set\nor TINKER_API_KEY")

    monkeypatch.setitem(sys.modules, "tinker", tinkers(refuse))
    with pytest.raises(SystemExit, match="2"):
        main([f"{name}={value}" for name, value in TINKER.items()])
    assert capsys.readouterr().err == (
        "passband: model_path=tinker://a/b: RuntimeError: The api_key client option must be set "
        "or TINKER_API_KEY\n"
    )


def test_a_renderer_that_fails_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**options: Any) -> None:
        raise AttributeError("'NoneType' object has no attribute 'decode'")

    names = ("tinker_cookbook", "tinker_cookbook.eval", "tinker_cookbook.eval.inspect_utils")
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[names[-1]].InspectAPIFromTinkerSampling = fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tinker", tinkers(Client))
    with pytest.raises(SystemExit, match="2"):
        main([f"{name}={value}" for name, value in TINKER.items()])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("passband: renderer_name=r, model_name=m: AttributeError: 'NoneType'")
