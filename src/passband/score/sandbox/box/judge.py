"""The process that runs tests, one trial after another.

Forking it for every trial would double the cost of a trial. Tests are the benchmark's own code and
see no memory of a program, but one of them may leave something behind: a seeded generator, a
patched module, a file. So the process compares itself with what it was at its start after every
trial, and ends where anything is different; the next trial then gets a new one.
"""

from __future__ import annotations

import decimal
import os
import signal
import socket
import sys
from typing import Any

from . import tests, wire

__all__ = ["serve"]

_OWN = ("tests", "program")  # modules that every trial makes again


def serve(jobs: socket.socket) -> None:
    """Judge programs until a trial leaves something behind, or no more come."""
    _forget_trial()
    before = State()
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


class State:
    """What the tests of one trial could change for those of the next."""

    def __init__(self) -> None:
        self._modules = {name: dict(_names(module)) for name, module in sys.modules.items()}
        self._rest = _rest()

    def is_unchanged(self) -> bool:
        """Return whether everything is as it was when this was made."""
        if sys.modules.keys() != self._modules.keys() or self._rest != _rest():
            return False
        return all(_names(sys.modules[name]) == names for name, names in self._modules.items())


def _names(module: Any) -> dict[str, Any]:
    return vars(module) if module is not None else {}


def _rest() -> list[Any]:
    """Return what is not in the names of modules."""
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
