"""The process of a shard: what it refuses, and how it follows orders."""

from __future__ import annotations

import io
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from passband.errors import ExitCode
from passband.run.request import make_request
from passband.run.session import Controls
from passband.run.shards import folder
from passband.run.shards.job import ShardJob
from passband.run.shards.shard import Shard
from passband.run.shards.wire import Ended, Failed, Grant, StopOrder
from passband.run.shards.worker import ShardEvents, read_job, run_job, written_job
from passband.trials.file.lock import Lock
from passband.trials.reader import Trials
from support.runs.runs import HURRIED
from support.servers.fault_server import FaultServer


@pytest.fixture(autouse=True)
def same_folder() -> object:
    """A job changes the working folder, as its own process may."""
    before = os.getcwd()
    yield
    os.chdir(before)


def job(task: Path, url: str = "http://127.0.0.1:9/v1", **options: object) -> ShardJob:
    out = task.parent / "shard"
    made = make_request(
        [task.name if options.pop("by_name", False) else task], "openai:model", out=out,
        base_url=url, n=4, batch=2, concurrency=8, patience=HURRIED, seed="bench", **options,  # type: ignore[arg-type]
    )  # fmt: skip
    assert made.recipe is not None
    settings = replace(made.settings, shard=Shard(1, 2), base="run", is_leased=True)
    return ShardJob(made.recipe, out, settings, None, None, {}, str(task.parent))


def test_a_job_survives_the_pipe_and_holds_no_key(
    task_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-machine")
    made = job(task_file)
    data = written_job(made)
    assert read_job(io.BytesIO(data)) == made
    assert b"sk-secret" not in data
    assert not made.has_secrets
    assert b"sk-secret" not in pickle.dumps(made)


@pytest.mark.parametrize(
    "options", [{"headers": {"X-Key": "v"}}, {"url": "http://user:word@127.0.0.1:9/v1"}]
)
def test_a_job_knows_that_it_holds_secrets(task_file: Path, options: dict[str, object]) -> None:
    assert job(task_file, **options).has_secrets  # type: ignore[arg-type]


def test_a_shard_is_asked_and_its_events_are_sent(task_file: Path) -> None:
    out = io.BytesIO()
    with FaultServer() as server:
        end = run_job(job(task_file, server.url), ShardEvents(out))
        assert end == Ended("finished")
        assert len(server.requests) == 20
    with Trials(task_file.parent / "shard") as trials:
        (run,) = trials.runs()
        assert (run.name, run.spec["seed"]) == ("run", "bench")
        assert run.config["shard"] == {"index": 1, "of": 2, "batch": 2}
        assert trials.trial_count(run.number) == 40
    names = [json.loads(line)[0] for line in out.getvalue().splitlines()]
    assert "Tick" in names


def test_trials_that_are_elsewhere_are_not_asked(task_file: Path) -> None:
    with FaultServer() as server:
        made = replace(job(task_file, server.url), elsewhere={"sums": {"p0": 0b1111}})
        run_job(made, ShardEvents(io.BytesIO()))
        assert len(server.requests) == 19


@pytest.mark.parametrize(
    ("changes", "text", "code"),
    [
        ({"version": "0.0.1"}, "install the same version everywhere", ExitCode.FAILED),
        ({"folder": "/no/such/folder"}, "cannot be entered on this machine", ExitCode.FAILED),
        ({"imports": ("no_such_module",)}, "cannot be imported", ExitCode.USAGE),
    ],
)
def test_what_a_node_lacks_is_an_error(
    task_file: Path, changes: dict[str, object], text: str, code: ExitCode
) -> None:
    end = run_job(replace(job(task_file), **changes), ShardEvents(io.BytesIO()))  # type: ignore[arg-type]
    assert isinstance(end, Failed)
    assert text in end.text
    assert end.exit_code == code


def test_a_directory_in_use_is_waited_for(task_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = task_file.parent / "shard"
    directory.mkdir()
    lock = Lock(directory)
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            lock.release()

    monkeypatch.setattr(folder, "_pause", pause)
    with FaultServer() as server:
        end = run_job(job(task_file, server.url), ShardEvents(io.BytesIO()))
    assert end == Ended("finished")
    assert len(waits) == 2


def test_orders_that_come_early_are_followed_when_the_run_begins() -> None:
    class Remembering(Controls):
        def __init__(self) -> None:
            object.__setattr__(self, "orders", [])

        def __call__(self, drain: float | None = None) -> None:
            self.orders.append(("stop", drain))  # type: ignore[attr-defined]

        def grant(
            self, max_cost: float | None, concurrency: int, *, may_grow: bool, known: float = 0.0
        ) -> None:
            self.orders.append((max_cost, concurrency, may_grow, known))  # type: ignore[attr-defined]

    events, controls = ShardEvents(io.BytesIO()), Remembering()
    events.order(Grant(1.0, 4, True, 0.5))
    events.started(controls)
    events.order(StopOrder(5.0))
    events.order(None)  # nobody leads any longer
    assert controls.orders == [(1.0, 4, True, 0.5), ("stop", 5.0), ("stop", None)]  # type: ignore[attr-defined]
