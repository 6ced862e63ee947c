"""What a worker process may no longer do once it takes up work.

Workers parse untrusted text and never evaluate it as Python. Code that a flaw of a parser lets
through meets, in this order:

- limits of the kernel on memory, open files, and the size of files (`limit`);
- on Linux, a filter of system calls: no processes, sockets, signals to others, or writing
  (`passband.score.workers.system_calls`);
- an audit hook that refuses the same, reading outside of the import path, and the modules that
  reach past the interpreter. It holds immutable values only, in the defaults of a function that
  nothing refers to, so that there is nothing to patch;
- modules without the functions that raise no audit event.

This is defence in depth and no sandbox: a flaw of the interpreter itself, or of the kernel, is not
covered. Code that is meant to be hostile belongs in a container or a virtual machine.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from passband.score.workers.system_calls import forbid_system_calls

__all__ = ["MEMORY", "audit_hook", "limit", "lock"]

MEMORY = 1 << 30  # bytes of address space; sympy and math-verify take 65 MB of it
_OPEN_FILES = 64

_REFUSED = frozenset(
    {
        "builtins.breakpoint",
        "builtins.input",
        "signal.pthread_kill",
        "sys._current_exceptions",
        "sys._current_frames",
        "sys.addaudithook",
        "sys.setprofile",
        "sys.settrace",
        "syslog.openlog",
        "syslog.syslog",
        "webbrowser.open",
    }
)
_FAMILIES = (
    "cpython.", "ctypes.", "fcntl.", "ftplib.", "gc.", "http.", "imaplib.", "nntplib.",
    "os.", "pdb.", "poplib.", "pty.", "resource.", "shutil.", "smtplib.", "socket.", "sqlite3.",
    "subprocess.", "sys.monitoring.", "telnetlib.", "tempfile.", "urllib.",
)  # fmt: skip
_HARMLESS = frozenset({"os.listdir", "os.putenv", "os.scandir", "os.unsetenv", "os.walk"})
# Modules that reach past the audit hook, or files past its rule about opening them.
_MODULES = frozenset(
    {
        "_ctypes", "_dbm", "_gdbm", "_multiprocessing", "_posixshmem", "_posixsubprocess",
        "_sqlite3", "ctypes", "lxml", "multiprocessing", "pyarrow", "readline", "sqlite3",
        "subprocess",
    }
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Functions that raise no audit event in one version of Python or another.
_SILENT = {
    "_imp": ("create_builtin",),
    "_posixsubprocess": ("fork_exec",),
    "_signal": ("pidfd_send_signal",),
    "os": (
        "chroot", "mkfifo", "mknod", "pidfd_open", "sched_setaffinity", "sched_setparam",
        "sched_setscheduler", "setns", "setpriority", "tcsetpgrp", "unshare",
    ),
    "signal": ("pidfd_send_signal",),
    "subprocess": ("_fork_exec", "_posixsubprocess"),
}  # fmt: skip


def limit() -> None:
    """Set the limits of the kernel, which only root could raise again before `lock`."""
    with contextlib.suppress(ImportError):
        import resource

        limits = {"AS": MEMORY, "CORE": 0, "FSIZE": 0, "NOFILE": _OPEN_FILES, "NPROC": 0}
        for name, most in limits.items():
            with contextlib.suppress(AttributeError, OSError, ValueError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def lock() -> None:
    """Give up everything that no call of a worker needs; there is no way back."""
    _import_built_in_modules()
    forbid_system_calls()
    for module, names in (*_SILENT.items(), ("posix", _SILENT["os"])):
        for name in names:
            with contextlib.suppress(AttributeError, KeyError):
                delattr(sys.modules[module], name)
    for module in ("_ctypes", "ctypes"):
        sys.modules.pop(module, None)
    sys.addaudithook(audit_hook(_readable()))


def _import_built_in_modules() -> None:
    """Import what is compiled into the interpreter; later this is no longer possible."""
    for name in sys.builtin_module_names:
        if name not in _MODULES and not name.startswith("_xx"):
            with contextlib.suppress(ImportError):
                __import__(name)


def _readable() -> tuple[str, ...]:
    """Return the folders that modules are imported from, with a separator at the end."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    folders = [*sys.path, own]
    return tuple(os.path.join(folder, "") for folder in folders if len(folder) > 1)


def audit_hook(readable: tuple[str, ...]) -> Callable[[str, tuple[Any, ...]], None]:
    """Return a hook that raises for everything that is refused.

    An exception of any kind refuses, so that arguments of a wrong kind need no case of their own.
    """

    def refuse(
        event: str,
        arguments: tuple[Any, ...],
        refused: frozenset[str] = _REFUSED,
        families: tuple[str, ...] = _FAMILIES,
        harmless: frozenset[str] = _HARMLESS,
        modules: frozenset[str] = _MODULES,
        readable: tuple[str, ...] = readable,
        writing: int = _WRITING,
    ) -> None:
        if event == "open":
            path = "".join((arguments[0],))  # the true text, even of a class that lies about it
            is_refused = arguments[2] & writing or not path.startswith(readable) or "/.." in path
        elif event == "import":
            path = "".join((arguments[1] or "",))  # of an extension module
            is_refused = "".join((arguments[0],)).partition(".")[0] in modules or (
                path and (not path.startswith(readable) or "/.." in path)
            )
        elif event == "object.__setattr__":
            is_refused = arguments[1] == "__code__"
        else:
            is_refused = event in refused or (event.startswith(families) and event not in harmless)
        if is_refused:
            raise PermissionError(f"{event} is not allowed here")

    return refuse
