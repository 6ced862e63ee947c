"""Serve trials: each is a copy of this process.

It imports what programs usually import, and then starts a child for each trial. It never sees a
program or a test: the child reads them from a socket that the zygote only hands on, so that the
next child finds nothing of them in its memory.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import socket
import sys

from . import confine, mains, plain, program, tests, wire
from .child import Confinement
from .running import JudgeProcess, RunningTrial, new_folder, remove_folder

# What programs import most, and what other modules of theirs need. Not those that do something in
# every fork: random seeds itself again, threading makes new locks, and each trial pays for it.
_PRELOADED = (
    "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools",
    "json", "math", "numbers", "operator", "re", "string", "time", "traceback", "typing",
)  # fmt: skip

_RESERVED = 10  # files below this number are those of a child; the zygote's own are above


def main(settings: wire.Message) -> None:
    """Serve trials until the other end of standard input is closed."""
    control = socket.socket(fileno=fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _RESERVED))
    null = os.open("/dev/null", os.O_RDWR)
    # Taken now, so that no file of the zygote gets a number that a child needs.
    for number in (0, *range(3, _RESERVED)):
        os.dup2(null, number)
    null = os.dup(null)
    for name in _PRELOADED:
        __import__(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    zygote = Zygote(control, null, settings)
    warm_up()
    wire.send(control, _facts())
    # A collection in a child would write to every object of the zygote, and so copy its page.
    gc.collect()
    gc.freeze()
    while zygote.serve():
        pass
    zygote.close()


def _facts() -> wire.Message:
    """Return the positive sign of life."""
    return {
        "ready": True,
        "python": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "numpy": _version("numpy"),
    }


def _version(package: str) -> str | None:
    """Return the version of an installed package, without importing importlib.metadata."""
    for folder in filter(os.path.isdir, sys.path):
        for name in os.listdir(folder):
            if name.startswith(f"{package}-") and name.endswith((".dist-info", ".egg-info")):
                return name[len(package) + 1 : -len(".dist-info")]
    return None


def _ignore(number: int, frame: object) -> None:
    """Let the signal wake `select`; a default handler would not."""


class Zygote:
    """Starts one trial at a time, waits for its end, and reports how it ended."""

    def __init__(self, control: socket.socket, null: int, settings: wire.Message) -> None:
        self._control, self._null = control, null
        self._confinement = Confinement(settings)
        self._judge: JudgeProcess | None = None
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.set_wakeup_fd(wake)

    def serve(self) -> bool:
        """Run one trial; return whether there may be more."""
        request, files = wire.receive_with_files(self._control)
        if request is None:
            return False
        folder = None if self._confinement.namespaces else new_folder()
        try:
            report = self._trial(request, files, folder)
        except OSError as error:
            report = {"failure": str(error)}
        finally:
            for number in files:
                os.close(number)
            self._confinement.sweep()
            if folder is not None:
                remove_folder(folder)
        if report is None:
            return False
        wire.send(self._control, report)
        return True

    def close(self) -> None:
        """End the process of the tests."""
        if self._judge is not None:
            self._judge.close()

    def _trial(
        self, request: wire.Message, files: list[int], folder: str | None
    ) -> wire.Message | None:
        """Run a trial of any kind; None if the host is gone."""
        kind, limits = request["kind"], request["limits"]
        if kind == "split":
            return self._split(files[0], limits, folder)
        streams = files[1:] or [self._null] * 3
        program = self._confinement.start_program(
            mains.MAINS[kind], [*streams, files[0]], limits, folder
        )
        return self._ended(RunningTrial(program, None, limits["wall"]))

    def _split(self, results: int, limits: wire.Message, folder: str | None) -> wire.Message | None:
        """Run program and tests in two processes."""
        if self._judge is None or not self._judge.is_ready():
            self._judge = JudgeProcess(self._null, self._confinement, limits)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            streams = [self._null] * 3
            program = self._confinement.start_program(
                mains.serve_calls, [*streams, theirs.fileno()], limits, folder
            )
            running = RunningTrial(program, self._judge, limits["wall"])
            self._judge.give([results, ours.fileno()])
        return self._ended(running)

    def _ended(self, running: RunningTrial) -> wire.Message | None:
        return running.until_ended(self._woken, self._control, self._confinement.proc)


# -- warming up ----------------------------------------------------------------------------

# Python rewrites the byte code of a function in its first calls. Rewritten in a child, every page
# of it would be copied for every trial, so the zygote makes those calls first.
_CALLS = 24  # enough for Python 3.11 and later to settle
_PROGRAM = '''
from typing import List

def double(numbers: List[int]) -> List[int]:
    """Return numbers, doubled."""
    return [2 * number for number in numbers]
'''
_TEST = "def check(candidate):\n    assert candidate([1, 2]) == [2, 4]\n"
_VALUES = [1, 2.5, "text", None, True, [1, [2]], (1, 2), {"a": 1}, {1, 2}, 1 << 70]


def warm_up() -> None:
    """Call the functions that children call, until their byte code no longer changes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for _ in range(_CALLS):
            wire.send(ours, plain.encode(_VALUES))
            plain.decode(wire.receive(theirs))
            _one_trial(ours, theirs)
            _serve_calls()
            confine.carry_out([("nothing", len, ("",))] * 3)


def _one_trial(ours: socket.socket, theirs: socket.socket) -> None:
    """Play both sides of a trial in turn."""
    job = {"program": _PROGRAM, "prompt": "", "test": _TEST, "entry_point": "double"}
    function = program.function_of(_PROGRAM, "double")
    answer = program.called(function, {"args": [[1, 2]], "kwargs": {}})
    wire.send(theirs, answer)
    tests.verdict_on(job, tests.Remote(ours, "double"))
    wire.receive(theirs)


def _serve_calls() -> None:
    """Be the program's side of a trial whose calls are all there already."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.send(ours, {"program": _PROGRAM, "entry_point": "double"})
        wire.send(ours, {"args": [[1, 2]], "kwargs": {}})
        ours.shutdown(socket.SHUT_WR)
        program.serve(theirs)
