"""Evaluations that are interrupted, killed, or in each other's way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest

from passband.generate.provider import Hopeless
from passband.trials.store import Store
from support.runs import commands
from support.runs.inspect_runs import rows, run, statuses
from support.servers.fault_server import Behaviour, FaultServer, Received, held, ok

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
SERVED = 10  # requests that are answered before the others are held


def ten_then_hold(request: Received) -> Behaviour:
    return ok if request.number < SERVED else held()


def rest(server: FaultServer, seen: int) -> None:
    """Run to the end, and check that exactly what was not stored is asked again."""
    server.release()
    before = len(server.requests)
    finished = run("plain", n=8, model="openai:model", base_url=server.url)
    assert finished.task_runs[0].counters.fresh == len(server.requests) - before == 32 - seen
    assert statuses("plain") == {"ok": 32}
    assert len({(row.problem, row.trial) for row in rows("plain")}) == 32


def in_a_thread(act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act)
    thread.start()
    return thread


@pytest.mark.process
def test_an_interrupted_run_leaves_what_is_in_flight() -> None:
    def interrupt_twice() -> None:
        server.wait_for(SERVED + 4)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with FaultServer(ten_then_hold) as server:
        thread = in_a_thread(interrupt_twice)
        finished = run("plain", n=8, model="openai:model", base_url=server.url)
        thread.join()
        assert finished.ending == "interrupted"
        assert statuses("plain") == {"ok": SERVED}
        rest(server, SERVED)


@pytest.mark.process
def test_nothing_is_lost_and_nothing_twice_after_kill_9(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[2] / "support/samples/inspect_tasks.py", tmp_path)
    with FaultServer(ten_then_hold) as server:
        process = commands.process(
            "run", "inspect:inspect_tasks:plain",
            "--model", "openai:model", "--base-url",
            server.url, "-n", 8, "--concurrency", 4, "--seed", "s", "--out", "run", "--engine",
            "inspect", "--json",
        )  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:  # until it says that ten are recorded
            event = json.loads(line)
            if event["event"] == "progress" and event["tasks"][0]["done"] == SERVED:
                break
        server.wait_for(SERVED + 4)
        process.kill()
        process.communicate()
        assert statuses("plain") == {"ok": SERVED}
        rest(server, SERVED)  # so that the four in flight are asked again, and no others


def test_a_store_that_fails_ends_the_run_with_its_error() -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError("the disk is gone")

    with FaultServer(ok) as server:
        with patch.object(Store, "append", fail), pytest.raises(OSError, match="the disk is gone"):
            run("plain", n=8, model="openai:model", base_url=server.url)
        rest(server, 0)


def test_two_runs_at_once_take_turns() -> None:
    folders = [Path("one").absolute(), Path("two").absolute()]  # Inspect changes the folder
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda out: run("plain", "choices", out=out), folders))
    for out in folders:
        assert (statuses("plain", out), statuses("choices", out)) == ({"ok": 8}, {"ok": 12})


def test_why_inspect_ended_by_itself_is_the_error_of_the_run() -> None:
    with pytest.raises(Hopeless, match=r"Inspect ended .*no_such_sandbox"):
        run("without_a_sandbox")
