"""Starting the processes of a trial, confined as their sandbox can."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Callable
from typing import Any

from . import child, confine

__all__ = ["Confinement"]

# The process of the tests is there for many trials; the wall clock of each still holds.
_OF_TESTS = {"cpu": 10**9, "memory": 4 << 30}
_OTHERS = 4  # processes of the sandbox itself: its first one, the zygote, the tests, a spare one


class Confinement:
    """What a sandbox does to the processes of its trials.

    namespaces: each program gets namespaces and folders of its own.
    filter: a filter of system calls in hexadecimal digits, perhaps none.
    user: whom programs run as, where the zygote is root; tests run as the next one.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.namespaces = bool(settings["namespaces"])
        self._filter = bytes.fromhex(settings["filter"])
        self._user: int | None = settings.get("user")

    def start_program(
        self, main: Callable[[], int], files: list[int], limits: dict[str, Any], folder: str | None
    ) -> int:
        """Start the process of a program; return its number."""
        return self._start(main, files, limits, folder, self._user)

    def start_tests(
        self, main: Callable[[], int], files: list[int], limits: dict[str, Any], folder: str | None
    ) -> int:
        """Start the process of the tests, which outlasts a trial; return its number."""
        user = None if self._user is None else self._user - 1
        return self._start(main, files, {**limits, **_OF_TESTS}, folder, user)

    def _start(
        self,
        main: Callable[[], int],
        files: list[int],
        limits: dict[str, Any],
        folder: str | None,
        user: int | None,
    ) -> int:
        def run() -> int:
            if self.namespaces:
                confine.fresh_folders(limits["disk"])
            self._give_up(limits, folder, user)
            return main()

        return child.start(self.namespaces, run, files)

    def sweep(self) -> None:
        """End what a program left running, and remove its files, where no namespace does."""
        user = self._user
        if user is not None:
            pid = child.start(False, lambda: _swept(user), [0, 1, 2])
            os.waitpid(pid, 0)

    def _give_up(self, limits: dict[str, Any], folder: str | None, user: int | None) -> None:
        if folder is not None:
            os.chdir(folder)
        if user is not None:
            _become(user, folder)
        if self.namespaces:
            confine.drop_capabilities()
        confine.apply_limits(limits, _OTHERS)
        if self._filter:
            confine.filter_calls(self._filter)


def _swept(user: int) -> int:
    """As the user of programs, kill everything that user runs and remove what it made."""
    _become(user, None)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # whatever this user may signal, but not this process
    for folder in ("/tmp", "/dev/shm"):
        for entry in os.scandir(folder):
            if entry.stat(follow_symlinks=False).st_uid == user:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.remove(entry.path)
    return 0


def _become(user: int, folder: str | None) -> None:
    """Give the working folder to a user, and be that user for good."""
    if folder is not None:
        os.chmod(folder, 0o777)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
