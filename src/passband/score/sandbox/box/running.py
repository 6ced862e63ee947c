"""Watch the processes of one trial to their end, and keep the process that runs tests."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time

from . import mains, wire
from .child import Confinement


class JudgeProcess:
    """Started for a trial, and kept for the next ones while tests leave nothing behind."""

    def __init__(self, null: int, confinement: Confinement, limits: wire.Message) -> None:
        self._folder = None if confinement.namespaces else new_folder()
        self.jobs, theirs = socket.socketpair()
        with theirs:
            files = [null, null, null, theirs.fileno()]
            self.pid = confinement.start_tests(mains.judge_trials, files, limits, self._folder)
        self.is_done = self.is_clean = True

    def give(self, files: list[int]) -> None:
        """Hand over the sockets of a trial."""
        self.is_done = False
        wire.send(self.jobs, {}, files)

    def heard(self) -> bool:
        """Return whether it wrote that the trial is judged, or ended; note which."""
        readable, _, _ = select.select([self.jobs], [], [], 0)
        if readable:
            message = wire.receive(self.jobs)
            self.is_done = message is not None
            self.is_clean = bool(message and message["is_clean"])
        return bool(readable)

    def is_ready(self) -> bool:
        """Return whether it can judge another trial; clean up after it if not."""
        if self.is_done and self.is_clean and not _has_ended(self.pid, os.WNOHANG):
            return True
        self.close()
        return False

    def close(self) -> None:
        """Let it end, which it does when no more trials come; remove what it made."""
        self.jobs.close()
        _has_ended(self.pid, 0)
        if self._folder is not None:
            remove_folder(self._folder)


def _has_ended(pid: int, options: int) -> bool:
    try:
        return os.waitpid(pid, options)[0] != 0
    except ChildProcessError:
        return True


def new_folder() -> str:
    """Return a new folder that only this user sees."""
    folder = f"/tmp/passband-{os.getpid()}-{time.monotonic_ns()}"
    os.mkdir(folder, 0o700)
    return folder


def remove_folder(folder: str) -> None:
    """Remove a folder with its content."""
    shutil.rmtree(folder, ignore_errors=True)


class RunningTrial:
    """A trial under way: its program, and the process of the tests if that is another one."""

    def __init__(self, program: int, judge: JudgeProcess | None, seconds: float) -> None:
        self._program, self._judge = program, judge
        self._began = time.monotonic()
        self._deadline = self._began + seconds
        self._timed_out = False
        self._waited: dict[str, float] | None = None
        self._alive = {program: "program"}
        if judge is not None:
            self._alive[judge.pid] = "tests"
        self._ended: wire.Message = {}

    def until_ended(
        self, woken: int, control: socket.socket, proc: int | None
    ) -> wire.Message | None:
        """Return how the trial ended; None if the host is gone.

        woken: becomes readable when a child ends. control: the host, which says nothing meanwhile.
        proc: the /proc of a sandbox, where every process but the first and this one is a trial's.
        """
        channels: list[int | socket.socket] = [woken, control]
        if self._judge is not None:
            channels.append(self._judge.jobs)
        while self._alive:
            left = self._deadline - time.monotonic()
            readable, _, _ = select.select(channels, [], [], max(0.0, left))
            if control in readable:  # the host says nothing during a trial, so it is gone
                self._kill()
                return None
            if woken in readable:
                os.read(woken, 4096)
            if not readable and not self._timed_out:
                self._end_by_time(proc)
            self._look(channels)
        return self._report()

    def _look(self, channels: list[int | socket.socket]) -> None:
        """See who has ended; when the tests have, the program has no more to do."""
        judge = self._judge
        self._reap()
        if judge is None:
            return
        if judge.jobs in channels and judge.heard():
            channels.remove(judge.jobs)
            if judge.is_done:
                self._alive.pop(judge.pid, None)
        if judge.is_done or "tests" in self._ended:
            self._kill()

    def _reap(self) -> None:
        for pid, role in list(self._alive.items()):
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                del self._alive[pid]
                self._ended[role] = _ending(status, usage)

    def _end_by_time(self, proc: int | None) -> None:
        self._timed_out, self._waited = True, self._times(proc)
        self._kill()
        self._deadline += 60.0  # more than the kernel takes to end them

    def _kill(self) -> None:
        for pid in self._alive:
            for kill in (os.killpg, os.kill):  # it may not have made its group yet
                with contextlib.suppress(OSError):
                    kill(pid, signal.SIGKILL)

    def _times(self, proc: int | None) -> dict[str, float] | None:
        """Return how long the program has run, and was ready to run but had to wait.

        Seconds over all of its processes; None where the kernel does not say.
        """
        pids = {self._program}
        try:
            if proc is not None:
                pids |= {int(name) for name in os.listdir(proc) if name.isdigit()}
            pids -= {1, os.getpid(), self._judge.pid if self._judge else 0}
            times = [_times(pid, proc) for pid in pids]
        except (OSError, ValueError):
            return None
        return {"cpu": sum(ran for ran, _ in times), "delay": max(waited for _, waited in times)}

    def _report(self) -> wire.Message:
        seconds = time.monotonic() - self._began
        report = {"timed_out": self._timed_out, "seconds": seconds, "waited": self._waited}
        return {**report, **self._ended}


def _times(pid: int, proc: int | None) -> tuple[float, float]:
    """Return how long a process ran, and how long it waited for a processor."""
    name = f"/proc/{pid}/schedstat" if proc is None else f"{pid}/schedstat"
    number = os.open(name, os.O_RDONLY, dir_fd=proc)
    try:
        ran, waited, _ = os.read(number, 100).split()
    finally:
        os.close(number)
    return int(ran) / 1e9, int(waited) / 1e9


def _ending(status: int, usage: resource.struct_rusage) -> wire.Message:
    exit_status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "exit": exit_status,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * unit,
    }
