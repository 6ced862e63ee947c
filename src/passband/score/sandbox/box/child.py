"""Children of the zygote: a fork, or a clone into namespaces of its own."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from . import confine

__all__ = ["exec_command", "start"]

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


def start(namespaces: bool, steps: list[Any], main: Callable[[], int], files: list[int]) -> int:
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
            place = 0
            for number in files:
                os.dup2(number, place)
                place += 1
            os.closerange(place, _MOST_FILES)
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


def exec_command(job: dict[str, Any]) -> int:
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
