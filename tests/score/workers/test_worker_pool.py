"""Pools of worker processes: limits, deaths, threads, and that none outlives its parent."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import passband.score.workers.worker_pool as workers
from passband.score.workers.main import FUNCTIONS
from passband.score.workers.worker_pool import (
    WorkerBroken,
    WorkerFailed,
    WorkerPool,
    WorkerTimeout,
)

pytestmark = pytest.mark.process

RUNAWAY: list[object] = [r"(a+)+$", "a" * 60 + "b"]


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=2)
    yield pool
    pool.close()


def pids(pool: WorkerPool) -> list[int]:
    return [worker._process.pid for _, worker in pool._idle]


def test_a_worker_is_used_again(pool: WorkerPool) -> None:
    assert pool.call("findall", ["a", "banana"], seconds=30) == ["a"] * 3
    first = pids(pool)
    assert pool.call("sub", ["a", "b\ud800\0a"], seconds=30) == "b\ud800\0"
    assert pids(pool) == first


def test_a_call_that_takes_too_long_is_killed(pool: WorkerPool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    with pytest.raises(WorkerTimeout, match=r"longer than 0\.2 s"):
        pool.call("findall", RUNAWAY, seconds=0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert pool.call("search", ["a", "a"], seconds=30) is True


def test_what_raises_is_told_and_the_worker_goes_on(pool: WorkerPool) -> None:
    with pytest.raises(WorkerFailed, match="error: missing"):
        pool.call("findall", ["(", ""], seconds=30)
    with pytest.raises(WorkerFailed, match="KeyError"):
        pool.call("no such function", [], seconds=30)
    assert len(pids(pool)) == 1


def test_a_worker_killed_from_outside_is_replaced(pool: WorkerPool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGKILL)
    assert pool.call("search", ["a", "a"], seconds=30) is True
    assert pids(pool) != [pid]


def test_interrupts_are_for_the_parent(pool: WorkerPool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGINT)
    pool.call("search", ["a", "a"], seconds=30)
    assert pids(pool) == [pid]


def test_workers_are_replaced_after_many_calls(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CALLS_PER_WORKER", 2)
    for expected in (1, 0, 1):
        pool.call("search", ["a", "a"], seconds=30)
        assert len(pids(pool)) == expected


def test_a_worker_serves_one_module_and_makes_room_for_another(pool: WorkerPool) -> None:
    calls: dict[str, list[object]] = {"search": ["a", "a"], "render": ["x", ""], "sub": ["a", "a"]}
    for function, arguments in calls.items():
        with contextlib.suppress(WorkerFailed):  # only the processes count here
            pool.call(function, arguments, seconds=30)
    assert len(pids(pool)) == 2
    small = WorkerPool(size=1)
    small.call("search", ["a", "a"], seconds=30)
    (first,) = pids(small)
    with contextlib.suppress(WorkerFailed):
        small.call("render", ["x", ""], seconds=30)
    assert pids(small) != [first]
    assert len(pids(small)) == 1
    small.close()


def test_threads_share_a_pool(pool: WorkerPool) -> None:
    texts = [f"{number} and {number + 1}" for number in range(60)]
    with ThreadPoolExecutor(8) as threads:
        found = list(
            threads.map(lambda text: pool.call("findall", ["[0-9]+", text], seconds=60), texts)
        )
    assert found == [[str(number), str(number + 1)] for number in range(60)]
    assert len(pids(pool)) <= 2


def test_long_texts_pass_through(pool: WorkerPool) -> None:
    text = "ab" * 500_000
    assert pool.call("sub", ["b", text], seconds=30) == "a" * 500_000


def test_a_closed_pool_starts_again(pool: WorkerPool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert pool.call("search", ["a", "a"], seconds=30) is True


PARENT = """
import json
from passband.score.workers.worker_pool import WorkerPool, _Worker
pool = WorkerPool(size=1)
pool.call("search", ["a", "a"], seconds=30)
busy = _Worker("passband.score.patterns")
busy._input.write(json.dumps(["findall", [r"(a+)+$", "a" * 60 + "b"], 0.1]).encode() + b"\\n")
busy._line(60)
print(pool._idle[0][1]._process.pid, busy._process.pid, flush=True)
input()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits with pidfd_open")
def test_no_worker_outlives_its_parent() -> None:
    source = str(Path(workers.__file__).parents[3])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    idle, busy = (os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split())
    parent.kill()
    parent.wait()
    for ended in (idle, busy):
        readable, _, _ = select.select([ended], [], [], 60)
        os.close(ended)
        assert readable
    parent.stdin.close()
    parent.stdout.close()


def test_what_no_worker_can_do_is_not_a_failed_call(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FUNCTIONS, "findall", ("passband.score.no_such", "findall_here"))
    with pytest.raises(WorkerBroken, match="no_such"):
        pool.call("findall", ["a", "banana"], seconds=30)
    monkeypatch.setitem(FUNCTIONS, "findall", ("passband.score.code.worker", "any"))
    with pytest.raises(WorkerBroken, match="no function findall_here"):
        pool.call("findall", ["a", "banana"], seconds=30)
