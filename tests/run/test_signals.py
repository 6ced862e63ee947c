"""Ctrl-C, SIGTERM and SIGKILL: what was answered is recorded, and the rest is asked next time."""

import json
import os
import random
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import passband
from passband.errors import PassbandError
from passband.run.loop.loop import Runner
from passband.score.scorer import Score, Scorer
from passband.trials.reader import Trials
from support.runs.commands import Done, apart, process, run
from support.runs.runs import Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import FaultServer, Received

pytestmark = pytest.mark.process
SOURCE = str(Path(passband.__file__).resolve().parents[1])
LONGEST = 60.0  # seconds that a process may live
Event = dict[str, Any]


def words(task: Path, server: FaultServer, bench: Bench, *more: object) -> list[object]:
    where = ["--model", "openai:m", "--base-url", server.url, "--out", bench.directory]
    where.append("--moved-server")
    return ["run", task, *where, "--batch", 1, "--seed", "s", *more]


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command; kill it at the end of the block, or if it lives for too long."""
    with process(*arguments) as started:
        watchdog = threading.Timer(LONGEST, started.kill)
        watchdog.start()
        try:
            yield started
        finally:
            watchdog.cancel()
            started.kill()


def ended(started: subprocess.Popen[bytes]) -> Done:
    """Read what is left of the output, and wait for the end."""
    assert started.stdout is not None
    assert started.stderr is not None
    out, err = started.stdout.read(), started.stderr.read()
    return Done(started.wait(), out.decode(), err.decode())


def heard(started: subprocess.Popen[bytes], holds: Callable[[Event], bool]) -> Event:
    """Read the events of a run with --json up to the first one for which `holds` is true."""
    assert started.stdout is not None
    for line in started.stdout:
        event = json.loads(line)
        if holds(event):
            return event
    raise EOFError("the run ended before it said so")


def waits_for(event: Event, reason: str) -> bool:
    waiting = event["waiting"] if event["event"] == "progress" else None
    return waiting is not None and waiting["reason"] == reason


def is_stopping(event: Event) -> bool:
    return waits_for(event, "stopping")


def has_recorded(count: int) -> Callable[[Event], bool]:
    def holds(event: Event) -> bool:
        return event["event"] == "progress" and sum(t["done"] for t in event["tasks"]) >= count

    return holds


def is_paused(event: Event) -> bool:
    return waits_for(event, "rate-limited")


def ok_then_held(request: Received) -> faults.Behaviour:
    return faults.ok if request.number == 0 else faults.held()


SIGNALS = pytest.mark.parametrize(
    ("number", "code", "ending"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)


@SIGNALS
def test_one_signal_waits_for_what_is_under_way(
    bench: Bench,
    another: Bench,
    task_file: Path,
    tmp_path: Path,
    number: signal.Signals,
    code: int,
    ending: str,
) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 6, "--json")) as started:
            server.wait_for(7)
            started.send_signal(number)
            heard(started, is_stopping)
            assert started.poll() is None
            server.release()
            done = ended(started)
        assert done.code == code
        assert json.loads(done.out.splitlines()[-1])["ending"] == ending
        assert len(server.requests) == 7
        assert server.abandoned == []
        assert bench.statuses == {"ok": 7}
        again = run(*words(task_file, server, bench))
        assert again.code == 0
        assert len(server.requests) == 40
        assert run(*words(task_file, server, another)).code == 0
    assert bench.statuses == {"ok": 40}
    assert len(set(bench.keys)) == 40
    assert exported(bench, tmp_path) == exported(another, tmp_path)


@SIGNALS
def test_a_signal_ends_in_words(
    bench: Bench, task_file: Path, number: signal.Signals, code: int, ending: str
) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 2)) as started:
            server.wait_for(3)
            started.send_signal(number)
            server.release()
            done = ended(started)
        assert done.code == code
        recorded = len(server.requests)
    assert f"{ending}; what was answered is recorded: {recorded}/40 trials" in done.err
    assert "# go on where it stopped" in done.err


def test_two_signals_do_not_wait(bench: Bench, task_file: Path) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 6, "--json")) as started:
            server.wait_for(7)
            heard(started, has_recorded(1))
            started.send_signal(signal.SIGINT)
            heard(started, is_stopping)
            started.send_signal(signal.SIGINT)
            done = ended(started)
        assert done.code == 130
        server.wait_until(lambda server: len(server.abandoned) == 6)
        assert bench.statuses == {"ok": 1}
        assert bench.outcomes == ["cancelled"] * 6
        server.play(faults.ok)
        run(*words(task_file, server, bench))
    assert bench.statuses == {"ok": 40}
    assert sum(row.attempts == 2 for row in bench.rows) == 6  # asked twice, and said so


def test_a_signal_ends_a_pause_at_once(bench: Bench, task_file: Path) -> None:
    """The pause is of 500 seconds, and a process that lives for a minute is killed."""
    script = lambda r: faults.ok if r.number == 0 else faults.rate_limit("500")  # noqa: E731
    with FaultServer(script) as server:
        with running(*words(task_file, server, bench, "--concurrency", 4, "--json")) as started:
            heard(started, is_paused)
            server.wait_until(lambda server: server.in_flight == 0)
            heard(started, is_paused)  # and still is, at the next tick
            started.send_signal(signal.SIGINT)
            done = ended(started)
        asked = len(server.requests)
    assert done.code == 130
    assert 2 <= asked <= 5  # the first, and those that were under way when the server said so
    assert bench.statuses == {"ok": 1}
    assert bench.outcomes == ["rate_limited"] * (asked - 1)


def test_a_signal_before_the_first_answer(bench: Bench, task_file: Path) -> None:
    with (
        FaultServer(faults.hang) as server,
        running(*words(task_file, server, bench, "--json")) as started,
    ):
        server.wait_for(1)
        started.send_signal(signal.SIGINT)
        heard(started, is_stopping)
        started.send_signal(signal.SIGINT)
        done = ended(started)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert bench.statuses == {}


def test_a_function_that_never_returns_does_not_hold_the_run(
    bench: Bench, task_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = task_file.parent
    os.mkfifo(folder / "asked")
    (folder / "stuck.py").write_text(
        "import threading\n"
        "def answer(prompt):\n"
        "    open('asked', 'w').close()\n"
        "    threading.Event().wait()\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [SOURCE, str(folder)])))
    monkeypatch.chdir(folder)
    model = ("--model", "python:stuck:answer", "--concurrency", 1)
    with running("run", task_file, *model, "--out", "here", "--json") as started:
        (folder / "asked").read_bytes()  # waits until the function has been called
        started.send_signal(signal.SIGINT)
        heard(started, is_stopping)
        started.send_signal(signal.SIGINT)
        assert ended(started).code == 130


class Held(Scorer):
    """A slow scorer that scores nothing before it is let go."""

    name = identity = "held"
    slow = True

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.released = threading.Event()
        self.count = 0

    def score(self, text: str | None, reference: Any) -> Score:
        self.count += 1
        self.begun.set()
        if not self.released.wait(LONGEST):
            raise TimeoutError("nobody let go of the scorer")
        return Score(1.0)


@contextmanager
def interrupted_at(event: threading.Event) -> Iterator[None]:
    """Send SIGINT to this process when something has happened."""

    def wait() -> None:
        if event.wait(LONGEST):
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_signal_while_only_scores_are_missing(bench: Bench) -> None:
    scorer = Held()
    task = sums(30, scorers=[scorer])
    with FaultServer() as server, interrupted_at(scorer.begun):
        try:
            finished = bench.run(server, task, n=2)  # which ends though no score has come
        finally:
            scorer.released.set()
    assert finished.ending == "interrupted"
    assert 0 < scorer.count < 60


def test_a_signal_while_catching_up_on_scores(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.play(task=sums(30, scorers=[]), n=2)
    scorer = Held()
    interrupt = Runner.interrupt

    def interrupt_and_let_go(self: Runner, *arguments: Any) -> None:
        interrupt(self, *arguments)
        scorer.released.set()

    monkeypatch.setattr(Runner, "interrupt", interrupt_and_let_go)
    with FaultServer() as server, interrupted_at(scorer.begun):
        finished = bench.run(server, sums(30, scorers=[scorer]), n=3)
    assert finished.ending == "interrupted"
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
        assert run(*words(task_file, server, bench)).code == 0
        assert run(*words(task_file, server, another)).code == 0
    assert exported(bench, tmp_path) == exported(another, tmp_path)


def exported(bench: Bench, folder: Path) -> list[bytes]:
    """Return the trials in two formats."""
    files = [folder / f"trials.{form}" for form in ("jsonl", "csv")]
    for file in files:
        assert run("export", bench.directory, "-o", file).code == 0
    return [file.read_bytes() for file in files]


def test_a_second_process_is_told_who_is_there(bench: Bench, task_file: Path) -> None:
    with FaultServer(ok_then_held) as server:
        with running(*words(task_file, server, bench, "--concurrency", 2)) as started:
            server.wait_for(3)
            second = apart(*words(task_file, server, bench))
            assert second.code == 5
            assert f"process {started.pid}" in second.err
            with Trials(bench.directory) as trials:  # reading is free
                assert trials.runs()
            server.release()
            assert ended(started).code == 0
        assert len(server.requests) == 40


def test_a_run_that_stands_still_keeps_its_place_and_goes_on(
    bench: Bench, another: Bench, task_file: Path, tmp_path: Path
) -> None:
    with FaultServer(ok_then_held) as server:
        arguments = words(task_file, server, bench, "--concurrency", 2, "--json")
        with running(*arguments) as started:
            heard(started, has_recorded(1))
            server.wait_for(3)
            started.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, started.pid, os.WSTOPPED | os.WNOWAIT)
            second = run(*words(task_file, server, bench))
            assert second.code == 5
            assert f"process {started.pid}" in second.err
            stats = run("stats", bench.directory, "--format", "json")
            assert json.loads(stats.out)["groups"][0]["statuses"] == {"ok": 1}
            server.release()  # answers arrive while nobody reads them
            started.send_signal(signal.SIGCONT)
            assert ended(started).code == 0
        assert len(server.requests) == 40
        assert run(*words(task_file, server, another)).code == 0
    assert exported(bench, tmp_path) == exported(another, tmp_path)
