"""Ctrl-C, SIGTERM and SIGKILL: what was answered is recorded, and the rest is asked next time."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import fault_server as faults
import passband
from commands import Done, finish, process
from fault_server import FaultServer, Received
from passband.errors import PassbandError
from passband.score.scorer import Score
from passband.trials.reader import Trials
from runs import Bench, sums

SOURCE = str(Path(passband.__file__).resolve().parents[1])


def words(task: Path, server: FaultServer, bench: Bench, *more: object) -> list[object]:
    where = ["--model", "openai:m", "--base-url", server.url, "--out", bench.directory]
    return ["run", task, *where, "--batch", 1, "--seed", "s", *more]


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    with process(*arguments) as started:
        try:
            yield started
        finally:
            started.kill()


def ended(started: subprocess.Popen[bytes]) -> Done:
    out, err = started.communicate(timeout=30)
    return Done(started.returncode, out.decode(), err.decode())


def ok_then_held(request: Received) -> faults.Behaviour:
    return faults.ok if request.number == 0 else faults.held()


def recorded(bench: Bench, count: int) -> None:
    """Wait until so many trials can be read."""
    stop = time.monotonic() + 30
    while time.monotonic() < stop:
        with suppress(PassbandError):  # nothing is there yet
            if sum(bench.statuses.values()) >= count:
                return
        time.sleep(0.02)
    raise TimeoutError(bench.statuses)


@pytest.mark.parametrize(
    ("number", "code", "told"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_one_signal_waits_for_what_is_under_way(
    bench: Bench, task_file: Path, number: signal.Signals, code: int, told: str
) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 6)) as started:
            server.wait_for(7)
            started.send_signal(number)
            time.sleep(0.3)  # so that a run that did not wait would be gone
            assert started.poll() is None
            server.release()
            done = ended(started)
        assert done.code == code
        assert len(server.requests) == 7
        assert server.abandoned == []
        assert bench.statuses == {"ok": 7}
        assert f"{told}; what was answered is recorded: 7 of 40 trials" in done.err
        assert "# go on where it stopped" in done.err
        again = finish(*words(task_file, server, bench))
        assert again.code == 0
        assert len(server.requests) == 40
    assert bench.statuses == {"ok": 40}
    assert len(set(bench.keys)) == 40


def test_two_signals_do_not_wait(bench: Bench, task_file: Path) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 6)) as started:
            server.wait_for(7)
            recorded(bench, 1)
            started.send_signal(signal.SIGINT)
            time.sleep(0.2)
            started.send_signal(signal.SIGINT)
            done = ended(started)
        assert done.code == 130
        server.wait_until(lambda server: len(server.abandoned) == 6)
        assert bench.statuses == {"ok": 1}
        assert bench.outcomes == ["cancelled"] * 6
        server.play(faults.ok)
        finish(*words(task_file, server, bench))
    assert bench.statuses == {"ok": 40}
    assert sum(row.attempts == 2 for row in bench.rows) == 6  # asked twice, and said so


def test_a_signal_ends_a_pause_at_once(bench: Bench, task_file: Path) -> None:
    script = lambda r: faults.ok if r.number == 0 else faults.rate_limit("999")  # noqa: E731
    with FaultServer(script) as server:
        with running(*words(task_file, server, bench, "--concurrency", 4, "--json")) as started:
            server.wait_for(2)
            time.sleep(0.3)
            told = len(server.requests)  # with those that were under way when it said so
            time.sleep(1.0)
            assert len(server.requests) == told <= 5
            started.send_signal(signal.SIGINT)
            asked = time.monotonic()
            done = ended(started)
        assert time.monotonic() - asked < 5
    assert done.code == 130
    assert "asks to wait until" in done.out
    assert bench.statuses == {"ok": 1}
    assert bench.outcomes == ["rate_limited"] * (told - 1)


def test_a_signal_before_the_first_answer(bench: Bench, task_file: Path) -> None:
    with FaultServer(faults.hang) as server, running(*words(task_file, server, bench)) as started:
        server.wait_for(1)
        started.send_signal(signal.SIGINT)
        time.sleep(0.2)
        started.send_signal(signal.SIGINT)
        done = ended(started)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert bench.statuses == {}


def test_a_function_that_never_returns_does_not_hold_the_run(
    bench: Bench, task_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = task_file.parent
    (folder / "stuck.py").write_text(
        "import pathlib, threading\n"
        "def answer(prompt):\n"
        "    pathlib.Path('asked').touch()\n"
        "    threading.Event().wait()\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [SOURCE, str(folder)])))
    monkeypatch.chdir(folder)
    with running("run", task_file, "--model", "python:stuck:answer", "--out", "here") as started:
        while not (folder / "asked").exists():
            time.sleep(0.02)
        for _ in range(2):
            started.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert ended(started).code == 130


class Sleepy:
    """A slow scorer that takes long."""

    name = identity = "sleepy"
    slow = True

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.count = 0

    def score(self, text: str | None, reference: Any) -> Score:
        self.count += 1
        self.begun.set()
        time.sleep(0.2)
        return Score(1.0)

    def same(self, one: str, other: str) -> bool:
        return one == other

    def close(self) -> None:
        pass


def interrupt_when(event: threading.Event) -> threading.Thread:
    """Send SIGINT to this process when something has happened."""

    def wait() -> None:
        if event.wait(30):
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_signal_while_only_scores_are_missing(bench: Bench) -> None:
    scorer = Sleepy()
    task = sums(30, scorers=[scorer])
    with FaultServer() as server:
        thread = interrupt_when(scorer.begun)
        began = time.monotonic()
        ended = bench.run(server, task, n=2)
        thread.join()
        assert time.monotonic() - began < 2.5  # all scores would take 3 seconds
        assert ended.ending == "interrupted"
        assert scorer.count < 60


def test_a_signal_while_catching_up_on_scores(bench: Bench) -> None:
    bench.play(task=sums(30, scorers=[]), n=2)
    scorer = Sleepy()
    with FaultServer() as server:
        thread = interrupt_when(scorer.begun)
        began = time.monotonic()
        ended = bench.run(server, sums(30, scorers=[scorer]), n=3)
        thread.join()
        assert time.monotonic() - began < 2.5
    assert ended.ending == "interrupted"
    assert server.requests == []
    scored = sum(bool(row.scores) for row in bench.rows)
    assert 0 < scored == scorer.count < 60


def test_signals_are_given_back(bench: Bench) -> None:
    caught: list[int] = []
    mine = lambda number, frame: caught.append(number)  # noqa: E731
    before = {number: signal.signal(number, mine) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        bench.play()
        assert {signal.getsignal(number) for number in before} == {mine}
        with FaultServer(faults.unauthorized_401) as server, pytest.raises(PassbandError):
            bench.run(server, n=9)
        assert {signal.getsignal(number) for number in before} == {mine}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert caught == []


def test_a_killed_run_goes_on_as_if_nothing_had_been(
    bench: Bench, another: Bench, task_file: Path, tmp_path: Path
) -> None:
    chance = random.Random(5)
    with FaultServer(faults.after(0.005)) as server:
        for _ in range(3):
            with running(*words(task_file, server, bench, "--concurrency", 2)) as started:
                server.wait_for(len(server.requests) + chance.randrange(2, 9))
                started.kill()
                started.communicate()
        killed = bench.keys
        assert len(set(killed)) == len(killed) < 40
        assert finish(*words(task_file, server, bench)).code == 0
        assert finish(*words(task_file, server, another)).code == 0
    for form in ("jsonl", "csv"):
        files = [tmp_path / f"{name}.{form}" for name in ("one", "other")]
        for where, file in zip((bench, another), files, strict=True):
            assert finish("export", where.directory, "-o", file).code == 0
        assert files[0].read_bytes() == files[1].read_bytes()


def test_a_second_process_is_told_who_is_there(bench: Bench, task_file: Path) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 2)) as started:
            server.wait_for(3)
            second = finish(*words(task_file, server, bench))
            assert second.code == 3
            assert f"process {started.pid}" in second.err
            with Trials(bench.directory) as trials:  # reading is free
                assert trials.runs()
            server.release()
            assert ended(started).code == 0
        assert len(server.requests) == 40
