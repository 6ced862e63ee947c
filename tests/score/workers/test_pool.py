"""Worker processes: limits, deaths, threads, and that none outlives its parent."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import passband.score.workers.pool as workers
from passband.score.workers.pool import Pool, WorkerFailed, WorkerTimeout

pytestmark = pytest.mark.process

RUNAWAY = [r"(a+)+$", "a" * 60 + "b"]


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(size=2)
    yield pool
    pool.close()


def pids(pool: Pool) -> list[int]:
    return [worker._process.pid for worker in pool._idle]


def test_a_worker_is_used_again(pool: Pool) -> None:
    assert pool.call("findall", ["a", "banana"], seconds=30) == ["a"] * 3
    first = pids(pool)
    assert pool.call("sub", ["a", "b\ud800\0a"], seconds=30) == "b\ud800\0"
    assert pids(pool) == first


def test_a_call_that_takes_too_long_is_killed(pool: Pool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    with pytest.raises(WorkerTimeout, match=r"longer than 0\.2 s"):
        pool.call("findall", RUNAWAY, seconds=0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert pool.call("search", ["a", "a"], seconds=30) is True


def test_what_raises_is_told_and_the_worker_goes_on(pool: Pool) -> None:
    with pytest.raises(WorkerFailed, match="error: missing"):
        pool.call("findall", ["(", ""], seconds=30)
    with pytest.raises(WorkerFailed, match="KeyError"):
        pool.call("no such function", [], seconds=30)
    assert len(pids(pool)) == 1


def test_a_worker_killed_from_outside_is_replaced(pool: Pool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGKILL)
    assert pool.call("search", ["a", "a"], seconds=30) is True
    assert pids(pool) != [pid]


def test_interrupts_are_for_the_parent(pool: Pool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGINT)
    pool.call("search", ["a", "a"], seconds=30)
    assert pids(pool) == [pid]


def test_workers_are_replaced_after_many_calls(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CALLS_PER_WORKER", 2)
    for expected in (1, 0, 1):
        pool.call("search", ["a", "a"], seconds=30)
        assert len(pids(pool)) == expected


def test_threads_share_a_pool(pool: Pool) -> None:
    texts = [f"{number} and {number + 1}" for number in range(60)]
    with ThreadPoolExecutor(8) as threads:
        found = list(
            threads.map(lambda text: pool.call("findall", ["[0-9]+", text], seconds=60), texts)
        )
    assert found == [[str(number), str(number + 1)] for number in range(60)]
    assert len(pids(pool)) <= 2


def test_long_texts_pass_through(pool: Pool) -> None:
    text = "ab" * 500_000
    assert pool.call("sub", ["b", text], seconds=30) == "a" * 500_000


def test_a_closed_pool_starts_again(pool: Pool) -> None:
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert pool.call("search", ["a", "a"], seconds=30) is True


PARENT = """
import json
from passband.score.workers.pool import Pool, _Worker
pool = Pool(size=1)
pool.call("search", ["a", "a"], seconds=30)
busy = _Worker()
busy._input.write(json.dumps(["findall", [r"(a+)+$", "a" * 60 + "b"], 0.1]).encode() + b"\\n")
busy._line(60)
print(pool._idle[0]._process.pid, busy._process.pid, flush=True)
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


WORKER = """
import sys
from passband.score.workers.main import _call, _limit
import os, subprocess, socket, shutil
_limit()
attempts = [
    lambda: os.system("echo no"),
    lambda: subprocess.run(["echo", "no"]),
    lambda: os.execv("/bin/echo", ["echo", "no"]),
    lambda: socket.socket(),
    lambda: open("written", "w"),
    lambda: os.open("written", os.O_CREAT | os.O_WRONLY),
    lambda: shutil.rmtree("anything"),
    lambda: os.remove("anything"),
]
for attempt in attempts:
    reply = _call(attempt, [], 30)
    assert "PermissionError" in reply.get("error", ""), reply
assert "MemoryError" in _call(lambda: bytearray(1 << 30), [], 30)["error"]
print("refused all")
"""


def test_calls_may_neither_touch_the_system_nor_fill_memory(tmp_path: Path) -> None:
    source = str(Path(workers.__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        env=os.environ | {"PYTHONPATH": source},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "refused all\n", done.stderr
    assert not list(tmp_path.iterdir())


PLANTED = """
import os, pathlib
pathlib.Path({marker!r}).write_text(os.environ.get("OPENAI_API_KEY", "no key"))
"""
STRANGERS = ("functools.py", "json.py", "types.py", "sympy.py", "math_verify.py", "re.py")


@pytest.fixture
def strange_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a marker file that modules planted in the working folder write when imported."""
    folder, marker = tmp_path / "strange", tmp_path / "marker"
    (folder / "passband" / "score").mkdir(parents=True)
    source = PLANTED.format(marker=str(marker))
    for name in (*STRANGERS, "passband/__init__.py", "passband/score/__init__.py"):
        (folder / name).write_text(source)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    return marker


@pytest.mark.parametrize("on_path", ["", ".", "absolute"])
def test_workers_import_nothing_from_the_working_folder(
    pool: Pool, strange_folder: Path, monkeypatch: pytest.MonkeyPatch, on_path: str
) -> None:
    monkeypatch.syspath_prepend(os.getcwd() if on_path == "absolute" else on_path)
    assert pool.call("findall", ["a", "banana"], seconds=30) == ["a"] * 3
    assert pool.call("math", ["1/2", "0.5"], seconds=60) is True
    assert not strange_folder.exists()


def test_workers_inherit_no_secrets(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("HF_TOKEN", "hf-canary")
    pool.call("search", ["a", "a"], seconds=30)
    (pid,) = pids(pool)
    environment = Path(f"/proc/{pid}/environ")
    if not environment.exists():
        pytest.skip("needs /proc")
    assert b"canary" not in environment.read_bytes()


def test_the_guard_cannot_be_switched_off(tmp_path: Path) -> None:
    program = WORKER.replace(
        "for attempt in attempts:",
        "import passband.score.workers.main as guard\n"
        "guard.FORBIDDEN, guard.WRITING, sys.dont_write_bytecode = frozenset(), 0, False\n"
        "for attempt in attempts:",
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        env=os.environ | {"PYTHONPATH": str(Path(workers.__file__).parents[3])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "refused all\n", done.stderr
