"""The run itself, where something inside it fails."""

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import PassbandError
from passband.generate.provider import (
    Completion,
    Provider,
    ProviderFault,
    RateLimited,
    Request,
    Unavailable,
)
from passband.generate.registry import Connection
from passband.run.loop import loop, recorder
from passband.run.loop.attempts import NothingAnswered
from passband.run.loop.loop import Runner
from passband.run.session import RunResult
from passband.run.settings import Settings
from passband.trials import store
from passband.trials.file.writer import DiskNearlyFull
from support.runs.runs import HURRIED, Bench, run_watched, sums
from support.servers import fault_server as faults
from support.servers.fault_server import FaultServer


class Model(Provider):
    """A provider of one's own."""

    batch = 1
    name = "mine"

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.asked = 0
        self.closed = 0

    async def generate(self, request: Request) -> Sequence[Completion]:
        self.asked += 1
        await asyncio.sleep(0)
        given = self.script.pop(0) if self.script else f"It is {self.asked}"
        if isinstance(given, BaseException):
            raise given
        return given if isinstance(given, list) else [Completion(given)]

    async def close(self) -> None:
        self.closed += 1


def run(bench: Bench, model: Any, task: Any = None, **settings: Any) -> RunResult:
    patience = settings.pop("patience", HURRIED)
    return run_watched(
        bench.notes,
        [task or sums()],
        model,
        bench.directory,
        settings=Settings(patience=patience, **({"concurrency": 4} | settings)),
        connection=Connection(),
        low_water=0,
    )


# --- providers -------------------------------------------------------------------------------


def test_a_model_is_closed_at_the_end(bench: Bench) -> None:
    model = Model()
    assert run(bench, model).ending == "finished"
    assert (model.asked, model.closed) == (6, 1)


def test_a_model_that_breaks_stops_the_run_and_is_closed(bench: Bench) -> None:
    model = Model("one", "two", KeyError("a mistake of the provider"))
    with pytest.raises(KeyError, match="a mistake"):
        run(bench, model, concurrency=1)
    assert model.closed == 1
    assert bench.statuses == {"ok": 2}


def test_a_model_that_cancels_itself_does_not_lose_a_trial_silently(bench: Bench) -> None:
    model = Model("one", asyncio.CancelledError())
    with pytest.raises(PassbandError, match="cancelled by the model's own code"):
        run(bench, model, concurrency=1)
    assert model.closed == 1
    run(bench, Model())
    assert bench.statuses == {"ok": 6}


def test_a_model_that_gives_nothing_is_not_asked_for_ever(bench: Bench) -> None:
    model = Model("one", *[[] for _ in range(3)])
    run(bench, model, concurrency=1, n=1)
    assert bench.statuses == {"ok": 2, "invalid": 1}


def test_a_fault_of_ones_own_is_a_fault(bench: Bench) -> None:
    class Busy(RateLimited):
        pass

    class Odd(ProviderFault):
        pass

    model = Model("one", Busy("wait", retry_after=0.0), Odd("odd"))
    run(bench, model, concurrency=1, n=1)
    assert bench.statuses == {"ok": 3}
    assert bench.outcomes == ["rate_limited", "failed"]


def test_a_function_with_a_mistake_is_told_soon(bench: Bench) -> None:
    def answer(prompt: str) -> str:
        raise NameError("name 'x' is not defined")

    with pytest.raises(NothingAnswered, match="name 'x' is not defined"):
        run(bench, answer, sums(30), concurrency=30)
    assert bench.statuses == {}
    assert len(bench.attempts) <= 15


def test_a_function_is_a_model(bench: Bench) -> None:
    run(bench, lambda prompt, seed: f"{prompt} {seed}")
    assert bench.statuses == {"ok": 6}


def test_a_run_inside_an_event_loop(bench: Bench) -> None:
    async def notebook() -> RunResult:
        return run(bench, Model())

    assert asyncio.run(notebook()).ending == "finished"


# --- the disk --------------------------------------------------------------------------------


def fill(monkeypatch: pytest.MonkeyPatch, bench: Bench, after: int) -> None:
    """Let the disk be nearly full from some look at it on."""
    usage, looks = shutil.disk_usage(bench.directory.parent), [0]

    def look(path: Path) -> Any:
        looks[0] += 1
        return usage._replace(free=0 if looks[0] > after else 10**12)

    monkeypatch.setattr(shutil, "disk_usage", look)


@pytest.mark.process
@pytest.mark.parametrize("after", range(1, 5))
def test_a_disk_that_fills_up_stops_the_run_which_can_go_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    with FaultServer(faults.after(0.02)) as server:
        with monkeypatch.context() as patch:
            fill(patch, bench, after)
            with pytest.raises(DiskNearlyFull, match="make room"):
                bench.run(server, sums(30), n=4, low_water=10**6, concurrency=3)
        assert len(server.requests) < 120
        before = dict(zip(bench.keys, bench.content, strict=True))
        bench.run(server, sums(30), n=4)
    after_all = dict(zip(bench.keys, bench.content, strict=True))
    assert {key: after_all[key] for key in before} == before
    assert len(after_all) == 120


def test_a_disk_that_fills_up_while_all_wait_for_room(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_CROWDED", 2)
    fill(monkeypatch, bench, 2)
    with FaultServer() as server, pytest.raises(DiskNearlyFull):
        bench.run(server, sums(60), n=4, low_water=10**6)


def test_room_for_few_rows_is_enough(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_CROWDED", 2)
    bench.play(task=sums(20), n=4, concurrency=16)
    assert bench.statuses == {"ok": 80}


def test_a_store_that_breaks_stops_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **options: object) -> None:
        raise OSError("Input/output error")

    monkeypatch.setattr(store.Store, "append", broken)
    with FaultServer(faults.after(0.05)) as server:
        with pytest.raises(OSError, match="Input/output"):
            bench.run(server, sums(60), n=4)
        assert len(server.requests) < 240


def test_a_store_that_breaks_at_the_very_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_EVERY", 60.0)  # only the end commits
    monkeypatch.setattr(store.Store, "append", lambda *_, **options: 1 / 0)
    with FaultServer() as server, pytest.raises(ZeroDivisionError):
        bench.run(server)


# --- the clock -------------------------------------------------------------------------------


class Watch:
    """Time that can be moved."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def time(self) -> float:
        return time.time() + self.ahead

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def test_after_a_sleep_of_the_machine_it_connects_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch()
    monkeypatch.setattr(loop, "time", watch)
    monkeypatch.setattr(loop, "_TICK", 0.01)
    with FaultServer(lambda r: faults.held() if 1 <= r.number <= 4 else faults.ok) as server:

        def sleep(runner: Runner) -> None:
            if server.in_flight == 4:
                watch.ahead = 3600.0

        bench.notes.on_tick = sleep
        bench.run(server, sums(10), n=1, concurrency=4)
    assert bench.statuses == {"ok": 10}
    assert any("slept for 3600 s" in text for text in bench.notes.warnings)
    assert {row.attempts for row in bench.rows} == {1, 2}
    assert all((row.latency_ms or 0) < 60_000 for row in bench.rows)


@pytest.mark.parametrize("jump", [-3600.0, 30.0])
def test_a_clock_that_is_set_back_or_a_little_forward_is_no_sleep(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    watch = Watch()
    monkeypatch.setattr(loop, "time", watch)
    monkeypatch.setattr(loop, "_TICK", 0.01)
    bench.notes.on_tick = lambda runner: setattr(watch, "ahead", jump)
    server = bench.play(faults.after(0.05), sums(10), n=1, concurrency=2)
    assert bench.notes.warnings == []
    assert server.abandoned == []


# --- the watcher -----------------------------------------------------------------------------


def test_a_watcher_that_fails_does_not_lose_anything(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(runner: Runner) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(loop, "_TICK", 0.01)
    bench.notes.on_tick = fail
    with FaultServer(faults.after(0.03)) as server, pytest.raises(BrokenPipeError):
        bench.run(server, sums(10))
    assert bench.statuses == {"ok": 20}


def test_the_watcher_sees_the_end(bench: Bench) -> None:
    bench.play()
    (task,) = bench.notes.progress[-1].tasks
    assert (task.task, task.done, task.planned) == ("sums", 6, 6)
    assert bench.notes.progress[-1].under_way == 0


# --- stopping --------------------------------------------------------------------------------


def test_an_interruption_of_a_run_that_has_nothing_to_do(bench: Bench) -> None:
    bench.play()
    bench.notes.on_tick = lambda runner: runner.interrupt()
    assert bench.play().requests == []


def test_what_does_not_come_back_is_cancelled_after_the_drain(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_TICK", 0.01)
    patience = replace(HURRIED, drain=0.1)
    with FaultServer(lambda r: faults.ok if r.number == 0 else faults.hang) as server:

        def stop(runner: Runner) -> None:
            if server.in_flight == 4 and not runner.endpoint.is_stopping:
                runner.interrupt()

        bench.notes.on_tick = stop
        ended = bench.run(server, sums(10), concurrency=4, patience=patience)
        server.wait_until(lambda server: len(server.abandoned) == 4)
    assert ended.ending == "interrupted"
    assert bench.statuses == {"ok": 1}
    assert bench.outcomes == ["cancelled"] * 4


def test_down_for_everyone_is_held_against_nobody(bench: Bench) -> None:
    """Few requests at a time, each failing often, while the server is away."""
    down = Unavailable("refused", everyone=True)
    model = Model("one", "two", *[down] * 30)
    run(bench, model, sums(4), concurrency=3, n=2)
    assert bench.statuses == {"ok": 8}
