"""Children of the zygote: a fork, or a clone into namespaces of its own."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from typing import Any

__all__ = ["exec_command", "start"]

_NEW_PID, _NEW_MOUNT, _NEW_IPC = 0x20000000, 0x00020000, 0x08000000
_CLONE = {"x86_64": 56, "aarch64": 220}


def start(namespaces: bool, main: Callable[[], int], files: list[int]) -> int:
    """Start a child that calls a function and exits with what it returns; return its number.

    The child keeps the given files as 0, 1, 2 and so on, and no other.
    """
    pid = _clone() if namespaces else os.fork()
    if pid == 0:
        status = 125
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.setsid()  # or kill(0) would reach the zygote, even from another namespace
            _keep(files)
            status = main()
        finally:
            os._exit(status)
    return pid


def _clone() -> int:
    """Fork into new namespaces of processes, mounts and System V objects.

    os.fork has no flags, and unshare(2) can put the children of a process into a new namespace of
    processes only once.
    """
    python = ctypes.PyDLL(None, use_errno=True)
    python.syscall.restype = ctypes.c_long
    flags = _NEW_PID | _NEW_MOUNT | _NEW_IPC | signal.SIGCHLD
    python.PyOS_BeforeFork()
    pid = python.syscall(
        ctypes.c_long(_CLONE[os.uname().machine]), ctypes.c_ulong(flags), 0, 0, 0, 0
    )
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"clone: {os.strerror(number)}")
    return int(pid)


def _keep(files: list[int]) -> None:
    """Make the given files 0, 1, 2 and so on, and close all others."""
    above = [os.dup(number) for number in files]
    spare = max([*above, len(files)]) + 1
    above = [os.dup2(number, spare + place, False) for place, number in enumerate(above)]
    for place, number in enumerate(above):
        os.dup2(number, place, True)
    os.closerange(len(files), 1024)


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
