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

    namespaces: each process gets namespaces and folders of its own.
    filter: a filter of system calls in hexadecimal digits, perhaps none.
    user: whom programs run as, where the zygote is root; tests run as the one before.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.namespaces = bool(settings["namespaces"])
        self._filter = confine.filter_steps(bytes.fromhex(settings["filter"]))
        self._user: int | None = settings.get("user")
        self._steps: dict[Any, list[Any]] = {}  # by user and limits
        # The true /proc, of which programs see nothing.
        self.proc = confine.hide_processes() if self.namespaces else None

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
        key = (user, *limits.values())
        steps = self._steps.get(key)
        if steps is None:
            steps = self._steps[key] = self._prepared(limits, user)
        if folder is not None:
            os.chmod(folder, 0o700 if user is None else 0o777)
            steps = [("chdir", os.chdir, (folder,)), *steps]
        return child.start(self.namespaces, steps, main, files)

    def _prepared(self, limits: dict[str, Any], user: int | None) -> list[Any]:
        """Return the steps by which a child is confined, in their order."""
        steps = confine.folder_steps(limits["disk"]) if self.namespaces else []
        steps += [] if user is None else confine.user_steps(user)
        steps += confine.capability_steps() if self.namespaces else []
        return [*steps, *confine.limit_steps(limits, _OTHERS), *self._filter]

    def sweep(self) -> None:
        """End what a program left running, and remove its files, where no namespace does."""
        user = self._user
        if user is not None:
            pid = child.start(False, confine.user_steps(user), lambda: _swept(user), [0, 1, 2])
            os.waitpid(pid, 0)


def _swept(user: int) -> int:
    """As the user of programs, kill everything that user runs and remove what it made."""
    if os.getuid() != user or os.geteuid() != user:
        return 1  # as anyone else the signal would reach what is not a program's
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
