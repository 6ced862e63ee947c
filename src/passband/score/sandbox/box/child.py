"""Start the processes of a trial, confined as their sandbox can: forks, or clones in namespaces."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import confine

if TYPE_CHECKING:
    from . import wire


_NEW_PID, _NEW_MOUNT, _NEW_IPC = 0x20000000, 0x00020000, 0x08000000
_CLONE = {"x86_64": 56, "aarch64": 220}
_MOST_FILES = 1024  # more than a zygote ever has open

_signal: Any = sys.modules["_signal"]  # without the enumerations that `signal` makes of answers
_python = ctypes.PyDLL(None, use_errno=True)
_python.syscall.restype = ctypes.c_long
_FLAGS = _NEW_PID | _NEW_MOUNT | _NEW_IPC | signal.SIGCHLD
_ARGUMENTS = (
    ctypes.c_long(_CLONE.get(os.uname().machine, -1)), ctypes.c_ulong(_FLAGS), 0, 0, 0, 0,
)  # fmt: skip
# The process of the tests is there for many trials; the wall clock of each still holds.
_OF_TESTS = {"cpu": 10**9, "memory": 4 << 30}
_OTHERS = 4  # processes of the sandbox itself: its first one, the zygote, the tests, a spare one


def start(
    namespaces: bool, steps: list[confine.Step], main: Callable[[], int], files: list[int]
) -> int:
    """Start a child that carries out steps and exits with what a function returns.

    The child keeps the given files as 0, 1, 2 and so on, and no other; all of them must have higher
    numbers than that, or the right one. Returns the number of the child.
    """
    pid = _clone() if namespaces else os.fork()
    if pid == 0:
        status = 125
        try:
            _signal.set_wakeup_fd(-1)
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
            os.setsid()  # or kill(0) would reach the zygote, even from another namespace
            target = 0
            for number in files:
                os.dup2(number, target)
                target += 1
            os.closerange(target, _MOST_FILES)
            confine.carry_out(steps)
            status = main()
        finally:
            os._exit(status)
    return pid


def _clone() -> int:
    """Fork into new namespaces of processes, mounts and System V objects.

    os.fork has no flags, and unshare(2) can put the children of a process into a new namespace of
    processes only once.
    """
    # What os.fork does around the system call: hold the locks of the interpreter, and renew them.
    _python.PyOS_BeforeFork()
    pid = _python.syscall(*_ARGUMENTS)
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"clone: {os.strerror(number)}")
    return int(pid)


def exec_command(job: wire.Message) -> int:
    """Run a command in the working folder with its files; return its exit status."""
    for name, text in job["files"].items():
        _write(name, text.encode("latin-1"))
    pid = os.fork()
    if pid == 0:
        words = job["command"]
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        try:
            os.execvpe(words[0], words, dict(os.environ))
        except OSError as error:
            os.write(2, f"{words[0]}: {error.strerror}".encode())
        finally:
            os._exit(127)
    return _status(os.waitpid(pid, 0)[1])


def _write(name: str, data: bytes) -> None:
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(name, "wb") as file:
        file.write(data)
    os.chmod(name, 0o755)


def _status(status: int) -> int:
    """Return an exit status as shells do: 128 and the signal, if one ended the command."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Confinement:
    """The restrictions of a sandbox on the processes of its trials.

    namespaces: each process gets namespaces and folders of its own.
    filter: a filter of system calls in hexadecimal digits, perhaps none.
    user: whom programs run as, where the zygote is root; tests run as the one before.
    """

    def __init__(self, settings: wire.Message) -> None:
        self.namespaces = bool(settings["namespaces"])
        self._filter = confine.filter_steps(bytes.fromhex(settings["filter"]))
        self._user: int | None = settings.get("user")
        self._steps: dict[object, list[confine.Step]] = {}  # by user and limits
        # The true /proc, of which programs see nothing.
        self.proc = confine.hide_processes() if self.namespaces else None

    def start_program(
        self, main: Callable[[], int], files: list[int], limits: confine.Limits, folder: str | None
    ) -> int:
        """Start the process of a program; return its number."""
        return self._start(main, files, limits, folder, self._user)

    def start_tests(
        self, main: Callable[[], int], files: list[int], limits: confine.Limits, folder: str | None
    ) -> int:
        """Start the process of the tests, which outlasts a trial; return its number."""
        user = None if self._user is None else self._user - 1
        return self._start(main, files, {**limits, **_OF_TESTS}, folder, user)

    def _start(
        self,
        main: Callable[[], int],
        files: list[int],
        limits: confine.Limits,
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
        return start(self.namespaces, steps, main, files)

    def _prepared(self, limits: confine.Limits, user: int | None) -> list[confine.Step]:
        """Return the steps by which a child is confined, in their order."""
        steps = confine.folder_steps(limits["disk"]) if self.namespaces else []
        steps += [] if user is None else confine.user_steps(user)
        steps += confine.capability_steps() if self.namespaces else []
        return [*steps, *confine.limit_steps(limits, _OTHERS), *self._filter]

    def sweep(self) -> None:
        """End what a program left running, and remove its files, where no namespace does."""
        user = self._user
        if user is not None:
            pid = start(False, confine.user_steps(user), lambda: _swept(user), [0, 1, 2])
            os.waitpid(pid, 0)


def _swept(user: int) -> int:
    """As the user of programs, kill the processes of that user and remove its files."""
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
