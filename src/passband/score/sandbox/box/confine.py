"""What a child gives up before it takes a program: everything but its own few files.

The order matters. Namespaces and mounts need a capability, which goes next; limits are set after
the namespaces, so that making them does not count; the filter of system calls comes last.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import struct
from typing import Any

__all__ = ["apply_limits", "drop_capabilities", "filter_calls", "fresh_folders"]

_NOSUID, _NODEV, _READ_ONLY, _PRIVATE = 0x2, 0x4, 0x1, 0x4000 | 0x40000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_CAPABILITIES = 0x20080522  # the version of the structure that capset takes
_STACK = 8 << 20  # bytes

libc = ctypes.CDLL(None, use_errno=True)


def fresh_folders(disk: int) -> None:
    """Give this process an empty /tmp and /dev/shm of its own, and nothing in /proc."""
    _mount("none", "/", None, _PRIVATE, None)
    size = f"size={disk},nr_inodes=1024,mode=1777"
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, size)
    _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, "size=1048576,nr_inodes=64,mode=1777")
    _mount("tmpfs", "/proc", "tmpfs", _NOSUID | _NODEV | _READ_ONLY, "size=4096,nr_inodes=1")
    os.chdir("/tmp")


def _mount(source: str, place: str, kind: Any, flags: int, options: Any) -> None:
    texts = [None if text is None else text.encode() for text in (source, place, kind, options)]
    first, second, third, last = texts
    _checked(libc.mount(first, second, third, ctypes.c_ulong(flags), last), f"mount {place}")


def _checked(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def drop_capabilities() -> None:
    """Give up every capability, for good."""
    header = struct.pack("Ii", _CAPABILITIES, 0)
    _checked(libc.capset(header, bytes(24)), "capset")


def apply_limits(limits: dict[str, Any], others: int) -> None:
    """Set the kernel's limits; `others` are the processes of the sandbox itself."""
    seconds = math.ceil(limits["cpu"])
    values = {
        "CPU": seconds,
        "AS": limits["memory"],
        "FSIZE": limits["disk"],
        "NOFILE": limits["files"],
        "NPROC": limits["processes"] + others,
        "CORE": 0,
        "STACK": _STACK,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
    }
    for name, most in values.items():
        _set_limit(name, int(most))


def _set_limit(name: str, most: int) -> None:
    """Set one limit, where the system has it, or leave it at what is already less."""
    number = getattr(resource, f"RLIMIT_{name}", None)
    if number is None:
        return
    _, hard = resource.getrlimit(number)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(number, (most, most))


def filter_calls(program: bytes) -> None:
    """Install a filter of system calls, and give up ever gaining privileges."""
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")
    if not program:
        return
    steps = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    pointer = ctypes.create_string_buffer(header)
    _checked(libc.prctl(_SECCOMP, _FILTER, ctypes.addressof(pointer), 0, 0), "seccomp")
