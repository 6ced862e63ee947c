"""The process that every trial is a copy of.

It imports what programs usually import, and then starts a child for each trial. It never sees a
program or a test: the child reads them from a socket that the zygote only hands on, so that the
next child finds nothing of them in its memory.
"""

from __future__ import annotations

import gc
import os
import platform
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from . import child, confine, program, tests, wire

__all__ = ["main"]

_PRELOADED = (
    "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses",
    "datetime", "enum", "functools", "hashlib", "heapq", "inspect", "itertools", "json", "math",
    "numbers", "operator", "queue", "random", "re", "statistics", "string", "threading", "time",
    "traceback", "typing",
)  # fmt: skip


def main(settings: dict[str, Any]) -> None:
    """Serve trials until the other end of standard input is closed."""
    control = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    for name in _PRELOADED:
        __import__(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    zygote = Zygote(control, null, settings)
    wire.send(control, zygote.facts())
    gc.collect()
    gc.freeze()
    while zygote.serve():
        pass


class Zygote:
    """Starts one trial at a time, waits for its end, and says how it ended."""

    def __init__(self, control: socket.socket, null: int, settings: dict[str, Any]) -> None:
        self._control, self._null = control, null
        self._namespaces = bool(settings["namespaces"])
        self._filter = bytes.fromhex(settings["filter"])
        self._user: int | None = settings.get("user")
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.set_wakeup_fd(wake)

    def facts(self) -> dict[str, Any]:
        """Return the positive sign of life."""
        return {
            "ready": True,
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
            "numpy": _version("numpy"),
        }

    def serve(self) -> bool:
        """Run one trial; return whether there may be more."""
        request, files = wire.receive_with_files(self._control)
        if request is None:
            return False
        folder = None if self._namespaces else tempfile.mkdtemp(prefix="passband-")
        try:
            reply = self._trial(request, files, folder)
        except OSError as error:
            reply = {"failure": str(error)}
        finally:
            for number in files:
                os.close(number)
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
        if reply is None:
            return False
        wire.send(self._control, reply)
        return True

    def _trial(
        self, request: dict[str, Any], files: list[int], folder: str | None
    ) -> dict[str, Any] | None:
        limits = request["limits"]
        confined = _Confined(self._namespaces, self._filter, self._user, limits, folder)
        kind, null = request["kind"], self._null
        running = Running(limits["wall"], self._namespaces)
        if kind == "split":
            ours, theirs = socket.socketpair()
            run = confined.around(_split_program)
            judge = confined.beside(_split_tests)
            try:
                running.add("program", child.start(*run, [null, null, null, theirs.fileno()]))
                inherited = [null, null, null, files[0], ours.fileno()]
                running.add("tests", child.start(*judge, inherited))
            finally:
                ours.close()
                theirs.close()
        else:
            streams = [null, null, null] if kind == "same" else files[1:4]
            run = confined.around(_MAINS[kind])
            running.add("program", child.start(*run, [*streams, files[0]]))
        return running.until_ended(self._woken, self._control)


def _ignore(number: int, frame: Any) -> None:
    """Let the signal wake `select`; a default handler would not."""


def _version(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _split_program() -> int:
    with socket.socket(fileno=3) as calls:
        program.serve(calls)
    return 0


def _split_tests() -> int:
    with socket.socket(fileno=3) as results, socket.socket(fileno=4) as calls:
        tests.judge(results, calls)
    return 0


def _same() -> int:
    with socket.socket(fileno=3) as results:
        tests.judge_in_one(results)
    return 0


def _script() -> int:
    return program.run_script(_job())


def _command() -> int:
    return child.exec_command(_job())


def _job() -> dict[str, Any]:
    """Say that this child is confined; return its job and close the socket."""
    with socket.socket(fileno=3) as jobs:
        wire.send(jobs, {"ready": True})
        job: dict[str, Any] = wire.receive(jobs)
        return job


_MAINS = {"same": _same, "script": _script, "command": _command}


class _Confined:
    """How the children of one trial are confined."""

    def __init__(
        self,
        namespaces: bool,
        filter_program: bytes,
        user: int | None,
        limits: dict[str, Any],
        folder: str | None,
    ) -> None:
        self._namespaces, self._filter, self._user = namespaces, filter_program, user
        self._limits, self._folder = limits, folder

    def around(self, main: Callable[[], int]) -> Any:
        """Return arguments of `child.start` for the program: everything of its own."""

        def run() -> int:
            if self._namespaces:
                confine.fresh_folders(self._limits["disk"])
            self._give_up(self._limits)
            return main()

        return self._namespaces, run

    def beside(self, main: Callable[[], int]) -> Any:
        """Return arguments for the tests, which are the benchmark's own: a fork that is limited."""

        def run() -> int:
            limits = dict(self._limits)
            limits.update(memory=2 * limits["memory"], cpu=2 * limits["cpu"])
            self._give_up(limits)
            return main()

        return False, run

    def _give_up(self, limits: dict[str, Any]) -> None:
        if self._folder is not None:
            os.chdir(self._folder)
        if self._user is not None:
            os.setgroups([])
            os.setgid(self._user)
            os.setuid(self._user)
        if self._namespaces:
            confine.drop_capabilities()
        confine.apply_limits(limits, others=4)
        if self._filter:
            confine.filter_calls(self._filter)


class Running:
    """The children of a trial, from their start to their end."""

    def __init__(self, seconds: float, owns_all: bool) -> None:
        self._owns_all = owns_all  # whether no process of others can be seen
        self._began = time.monotonic()
        self._deadline = self._began + seconds
        self._alive: dict[int, str] = {}
        self._ended: dict[str, Any] = {}
        self._last = ""  # the role whose end is the trial's end

    def add(self, role: str, pid: int) -> None:
        """Note a child; the tests end the trial if they are there, and else the program."""
        self._alive[pid] = role
        self._last = role

    def until_ended(self, woken: int, control: socket.socket) -> dict[str, Any] | None:
        """Return how the trial ended; None if the host is gone."""
        timed_out, waited = False, None
        while self._alive:
            left = self._deadline - time.monotonic()
            readable, _, _ = select.select([woken, control], [], [], max(0.0, left))
            if control in readable:
                self._kill()
                return None
            if woken in readable:
                os.read(woken, 4096)
            elif not timed_out and left <= 0:
                timed_out, waited = True, self._waited()
                self._kill()
                self._deadline += 60
            self._reap()
            if self._last in self._ended and self._alive:
                self._kill()
        seconds = time.monotonic() - self._began
        return {"timed_out": timed_out, "seconds": seconds, "waited": waited, **self._ended}

    def _reap(self) -> None:
        for pid, role in list(self._alive.items()):
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                del self._alive[pid]
                self._ended[role] = _ending(status, usage)

    def _kill(self) -> None:
        for pid in self._alive:
            for kill in (os.killpg, os.kill):
                try:
                    kill(pid, signal.SIGKILL)
                except OSError:
                    pass

    def _waited(self) -> dict[str, float] | None:
        """Return how long the trial has run so far, and was ready to run but had to wait.

        Seconds over all of its processes; None where the kernel does not say. In a sandbox every
        process but the first and this one belongs to the trial.
        """
        numbers = [name for name in os.listdir("/proc") if name.isdigit()] if self._owns_all else []
        pids = {*map(int, numbers), *self._alive} - {1, os.getpid()}
        try:
            times = [_times(pid) for pid in pids]
        except (OSError, ValueError, IndexError):
            return None
        return {"cpu": sum(cpu for cpu, _ in times), "delay": max(delay for _, delay in times)}


def _times(pid: int) -> tuple[float, float]:
    """Return how long a process ran, and how long it waited for a processor."""
    with open(f"/proc/{pid}/schedstat") as file:
        ran, waited, _ = file.read().split()
    return int(ran) / 1e9, int(waited) / 1e9


def _ending(status: int, usage: resource.struct_rusage) -> dict[str, Any]:
    exit_status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "exit": exit_status,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * unit,
    }
