"""The process that runs tests, as seen from the zygote."""

from __future__ import annotations

import os
import select
import shutil
import socket
import time
from typing import Any

from . import mains, wire
from .confined import Confinement

__all__ = ["JudgeProcess", "new_folder", "remove_folder"]


class JudgeProcess:
    """Started for a trial, and kept for the next ones while tests leave nothing behind."""

    def __init__(self, null: int, confinement: Confinement, limits: dict[str, Any]) -> None:
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
    """Remove a folder and what is in it."""
    shutil.rmtree(folder, ignore_errors=True)
