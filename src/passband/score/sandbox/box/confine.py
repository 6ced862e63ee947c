"""Confine a child before it takes a program: it gives up everything but its own few files.

The order matters. Mounts need a capability, which goes next; limits are set after the namespaces,
so that making them does not count; the filter of system calls comes last.

All of it is prepared in the zygote as steps, each the call of one function, so that a child has
little left to do: each page of memory that it touches is copied for it.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import struct
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # such aliases cannot be made by Python 3.8
    Step = tuple[str, Callable[..., Any], tuple[Any, ...]]  # its name, a function, its arguments
    Limits = dict[str, float]


_NOSUID, _NODEV, _READ_ONLY, _PRIVATE = 0x2, 0x4, 0x1, 0x4000 | 0x40000
_NEW_MOUNT = 0x00020000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_CAPABILITIES = 0x20080522  # the version of the structure that capset takes
_STACK = 8 << 20  # bytes

libc = ctypes.CDLL(None, use_errno=True)
_kept: list[object] = []  # memory that the kernel is given addresses of


def carry_out(steps: Iterable[Step]) -> None:
    """Carry out steps; raise for the first one that fails."""
    for name, function, arguments in steps:
        if function(*arguments):
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")


def hide_processes() -> int:
    """Put nothing in the place of /proc, for all children; return the true one, open."""
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    flags = _NOSUID | _NODEV | _READ_ONLY
    carry_out(
        [
            ("unshare", libc.unshare, (_NEW_MOUNT,)),
            _mount("none", "/", None, _PRIVATE, None),
            _mount("tmpfs", "/proc", "tmpfs", flags, "size=4096,nr_inodes=1"),
        ]
    )
    return proc


def folder_steps(disk: float) -> list[Step]:
    """Return steps to an empty /tmp and /dev/shm of one's own."""
    flags = _NOSUID | _NODEV
    return [
        _mount("tmpfs", "/tmp", "tmpfs", flags, f"size={disk},nr_inodes=1024,mode=1777"),
        _mount("tmpfs", "/dev/shm", "tmpfs", flags, "size=1048576,nr_inodes=64,mode=1777"),
        ("chdir", os.chdir, ("/tmp",)),
    ]


def _mount(source: str, folder: str, kind: str | None, flags: int, options: str | None) -> Step:
    first, second, third, last = (
        None if text is None else text.encode() for text in (source, folder, kind, options)
    )
    arguments = (first, second, third, ctypes.c_ulong(flags), last)
    return f"mount {folder}", libc.mount, arguments


def capability_steps() -> list[Step]:
    """Return the step that gives up every capability, for good."""
    header = struct.pack("Ii", _CAPABILITIES, 0)
    return [("capset", libc.capset, (header, bytes(24)))]


def user_steps(user: int) -> list[Step]:
    """Return steps to being another user, for good."""
    return [
        ("setgroups", os.setgroups, ([],)),
        ("setgid", os.setgid, (user,)),
        ("setuid", os.setuid, (user,)),
    ]


def limit_steps(limits: Limits, others: int) -> list[Step]:
    """Return steps that set the kernel's limits; `others` are processes of the sandbox itself."""
    values = {
        "CPU": math.ceil(limits["cpu"]),
        "AS": limits["memory"],
        "FSIZE": limits["disk"],
        "NOFILE": limits["files"],
        "NPROC": limits["processes"] + others,
        "CORE": 0,
        "STACK": _STACK,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
    }
    known = {name: most for name, most in values.items() if hasattr(resource, f"RLIMIT_{name}")}
    return [_limit(name, int(most)) for name, most in known.items()]


def _limit(name: str, most: int) -> Step:
    """Return the step of one limit; it never raises a lower hard limit."""
    number = getattr(resource, f"RLIMIT_{name}")
    _, hard = resource.getrlimit(number)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    return name, resource.setrlimit, (number, (most, most))


def filter_steps(program: bytes) -> list[Step]:
    """Return steps that give up gaining privileges, and install a filter of system calls."""
    if not program:
        return []
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(header)
    _kept.extend((buffer, pointer))
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    address = ctypes.addressof(pointer)
    return [
        ("no new privileges", libc.prctl, (_NO_NEW_PRIVILEGES, 1, 0, 0, 0)),
        ("seccomp", libc.prctl, (_SECCOMP, _FILTER, address, 0, 0)),
    ]
