"""Take away the permissions of a worker process before it takes up work.

Workers parse untrusted text and never evaluate it as Python. Code that a flaw of a parser lets
through meets, in this order:

- limits of the kernel on memory, open files, and the size of files (`LIMITS`);
- on Linux, a filter of system calls: no processes, sockets, signals to others, or writing
  (`passband.system.processes.system_calls`). Like the limits, it holds before this interpreter
  starts (`passband.system.processes.first_stage`);
- an audit hook that refuses the same, reading outside of the import path, and the modules that
  reach past the interpreter. It holds immutable values only, in the defaults of a function that
  nothing refers to, so that there is nothing to patch;
- an interpreter that has never loaded ctypes, so that neither its modules nor its classes are there
  to be found;
- modules without the functions that raise no audit event.

This is defence in depth and no sandbox. A flaw of the kernel is not covered, and neither is one of
the interpreter: it does not check byte code, and Python code that forges some could write into its
memory and switch the audit hook off, though not the filter or the limits. Code that is meant to be
hostile belongs in a container or a virtual machine.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

from passband.system.processes.first_stage import set_limits

MEMORY = 1 << 30  # bytes of address space; sympy and math-verify take 65 MB of it
LIMITS = {"AS": MEMORY, "CORE": 0, "FSIZE": 0, "NOFILE": 64, "NPROC": 0}

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
        "_cffi_backend", "_ctypes", "_ctypes_test", "_dbm", "_gdbm", "_interpreters",
        "_multiprocessing", "_posixshmem", "_posixsubprocess", "_sqlite3", "_testbuffer",
        "_testcapi", "_testinternalcapi", "_testlimitedcapi", "_xxsubinterpreters", "cffi",
        "ctypes", "lxml", "multiprocessing", "numpy", "pyarrow", "readline", "sqlite3",
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


def limit_resources() -> None:
    """Set the limits of the kernel, unless the first stage did, and they can change no more."""
    set_limits(LIMITS)


def hide_ctypes() -> None:
    """Keep ctypes, which reads and writes any memory, out of this process from its start.

    sympy asks ctypes for the size of a C long and for nothing else, and a module that can answer
    that takes its place until `lock_down`.
    """
    stand_in: Any = ModuleType("ctypes")
    stand_in.c_long, stand_in.sizeof = "l", struct.calcsize
    sys.modules["ctypes"] = stand_in
    for name in ("_cffi_backend", "_ctypes"):
        sys.modules[name] = cast(ModuleType, None)  # its import fails


def lock_down() -> None:
    """Give up everything that no call of a worker needs, for good."""
    if sys.modules.get("_ctypes") is not None:
        raise RuntimeError("ctypes is loaded, and with it the guard could be switched off")
    _import_built_in_modules()
    for module, names in (*_SILENT.items(), ("posix", _SILENT["os"])):
        for name in names:
            with contextlib.suppress(AttributeError, KeyError):
                delattr(sys.modules[module], name)
    sys.modules.pop("ctypes", None)  # the stand-in: its next import is refused
    # Last: the hook refuses the imports above, and cannot be taken back.
    sys.addaudithook(audit_hook(_readable()))


def _import_built_in_modules() -> None:
    """Import the modules of the interpreter itself; later this is no longer possible."""
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
            name = "".join((arguments[0],))
            file = path.rpartition("/")[2].partition(".")[0]
            # The interpreter loads _ctypes under the name of x._ctypes, too.
            is_refused = (
                name.partition(".")[0] in modules
                or (path and (not path.startswith(readable) or "/.." in path))
                or (path and (file in modules or name.rpartition(".")[2] in modules))
            )
        elif event == "object.__setattr__":
            is_refused = arguments[1] == "__code__"
        else:
            is_refused = event in refused or (event.startswith(families) and event not in harmless)
        if is_refused:
            raise PermissionError(f"{event} is not allowed here")

    return refuse
