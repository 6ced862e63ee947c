"""The pool of processes: kinds, failures, worn-out processes, forks."""

import os
import subprocess
import sys

import pytest

from passband.system.processes.pool import PooledProcess, ProcessPool

pytestmark = pytest.mark.process

ECHO = "import sys\nfor line in sys.stdin:\n    print(sys.argv[1], line, end='', flush=True)\n"


class Echo(PooledProcess):
    """A process that answers each line with its kind and the line, for two calls."""

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", ECHO, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid, self.calls = self._process.pid, 0

    @property
    def is_worn_out(self) -> bool:
        return self.calls == 2

    def ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.calls += 1
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


class EchoPool(ProcessPool[str, Echo]):
    """A pool of such processes."""

    def _usual_size(self) -> int:
        return 2

    def _start(self, kind: str) -> Echo:
        return Echo(kind)

    def ask(self, kind: str, line: str) -> tuple[str, int]:
        """Return the answer and the number of the process that gave it."""
        with self._slot(), self._lent(kind) as process:
            return process.ask(line), process.pid


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_serves_one_kind_until_it_is_worn_out() -> None:
    pool = EchoPool()
    answer, first = pool.ask("a", "x")
    assert answer == "a x\n"
    assert pool.ask("b", "x")[0] == "b x\n"
    assert pool.ask("a", "y") == ("a y\n", first)
    assert not is_alive(first)  # after its second call
    assert pool.ask("a", "z")[1] != first
    assert pool.started == 3
    pool.close()
    assert not pool._idle


def test_the_oldest_idle_process_makes_room_for_another_kind() -> None:
    pool = EchoPool(size=1)
    _, first = pool.ask("a", "x")
    _, second = pool.ask("b", "x")
    assert not is_alive(first)
    assert is_alive(second)
    pool.close()
    assert not is_alive(second)


def test_a_process_whose_call_raises_is_ended() -> None:
    pool, pids = EchoPool(), []

    def fail() -> None:
        with pool._slot(), pool._lent("a") as process:
            pids.append(process.pid)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    (pid,) = pids
    assert not is_alive(pid)
    assert pool.ask("a", "x")[1] != pid
    pool.close()


def test_a_fork_has_processes_of_its_own() -> None:
    pool = EchoPool()
    _, first = pool.ask("a", "x")
    child = os.fork()
    if child == 0:
        answer, second = "", first
        try:
            pool.close()  # ends none of the parent's
            answer, second = pool.ask("a", "y")
            pool.close()
        finally:
            os._exit(0 if answer == "a y\n" and second != first else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pool.ask("a", "z") == ("a z\n", first)
    pool.close()
