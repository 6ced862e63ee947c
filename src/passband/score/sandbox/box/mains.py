"""Main functions of the confined children of a zygote; each returns an exit status.

Forking the process that runs tests for every trial would double the cost of a trial. Tests are the
benchmark's own code and see no memory of a program, but one of them may leave something behind: a
seeded generator, a patched module, a file. So that process compares itself after every trial with
what it was at its start, and ends where anything is different; the next trial then gets a new one.
"""

from __future__ import annotations

import decimal
import os
import signal
import socket
import sys

from . import child, program, tests, wire

_OWN = ("tests", "program")  # modules that every trial makes again


def _opened(number: int) -> socket.socket:
    """Return the socket of a number; its family need not be looked up."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, number)


def serve_calls() -> int:
    """Run a program and answer calls of its function."""
    with _opened(3) as calls:
        program.serve(calls)
    return 0


def judge_trials() -> int:
    """Run tests, of one trial after another."""
    with _opened(3) as jobs:
        judge_all(jobs)
    return 0


def _same() -> int:
    with _opened(3) as results:
        tests.judge_in_one(results)
    return 0


def _script() -> int:
    with _opened(3) as jobs:
        return program.run_script(jobs)


def _command() -> int:
    with _opened(3) as jobs:
        wire.send(jobs, {"ready": True})
        job: wire.Message = wire.receive(jobs)
    return child.exec_command(job)


MAINS = {"same": _same, "script": _script, "command": _command}


# -- tests, one trial after another --------------------------------------------------------


def judge_all(jobs: socket.socket) -> None:
    """Judge programs until a trial leaves something behind, or no more come."""
    _forget_trial()
    before = InterpreterState()
    while True:
        message, files = wire.receive_with_files(jobs)
        if message is None:
            return
        with socket.socket(fileno=files[0]) as results, socket.socket(fileno=files[1]) as calls:
            tests.judge(results, calls)
        _forget_trial()
        is_clean = before.is_unchanged()
        wire.send(jobs, {"done": True, "is_clean": is_clean})
        if not is_clean:
            return


def _forget_trial() -> None:
    for name in _OWN:
        sys.modules.pop(name, None)


class InterpreterState:
    """The state of an interpreter that the tests of one trial could change for the next."""

    def __init__(self) -> None:
        self._modules = {name: dict(_names(module)) for name, module in sys.modules.items()}
        self._rest = _rest()

    def is_unchanged(self) -> bool:
        """Return whether everything is as it was when this was made."""
        if sys.modules.keys() != self._modules.keys() or self._rest != _rest():
            return False
        return all(_names(sys.modules[name]) == names for name, names in self._modules.items())


def _names(module: object) -> wire.Message:
    return vars(module) if module is not None else {}


def _rest() -> list[object]:
    """Return the state that is not in the names of modules."""
    return [
        dict(os.environ),
        os.getcwd(),
        os.listdir("."),
        list(sys.path),
        sys.getrecursionlimit(),
        sys.gettrace(),
        sys.getprofile(),
        [signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT, signal.SIGCHLD)],
        str(decimal.getcontext()),
    ]
