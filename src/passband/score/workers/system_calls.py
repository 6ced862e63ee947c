"""A filter of system calls for worker processes: Linux on x86-64, elsewhere nothing.

The kernel applies it, for good, to whatever the process runs: Python, an extension module, or
machine code. `passband.score.workers.first_stage` installs it. See `seccomp(2)`; the numbers are
those of `asm/unistd_64.h`.
"""

from __future__ import annotations

import os
import platform
import struct
import sys

__all__ = ["is_supported", "program", "random_place"]

_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000  # numbers of a second, rarely used, way to call
_OPEN, _OPENAT, _CLONE, _EXECVE, _PRLIMIT = 2, 257, 56, 59, 302
_CLONE_THREAD = 0x10000
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND

_FORBIDDEN = (
    57, 58, 322,  # fork, vfork, execveat
    62, 129, 200, 234, 297, 424, 434, 438,  # signals to processes, and pidfd_*
    101, 310, 311, 312,  # ptrace, process_vm_readv, process_vm_writev, kcmp
    41, 42, 49, 50, 53,  # socket, connect, bind, listen, socketpair
    76, 82, 83, 84, 85, 86, 87, 88, 90, 92, 94, 132, 133, 188, 189, 235,  # files, by name
    258, 259, 260, 261, 263, 264, 265, 266, 268, 280, 316, 452,  # the same, relative to a folder
    141, 142, 144, 203, 251, 314,  # priorities and schedules, which may be those of others
    160,  # setrlimit, by which root could lift the limits again
    155, 161, 165, 166, 272, 304, 308, 429, 430, 432, 442,  # mounts, roots, namespaces, handles
    29, 64, 68, 240, 248, 249, 250, 319,  # shared memory, queues, keys, memfd_create
    135, 175, 246, 298, 313, 321, 323, 425, 437,  # modules, tracing, bpf, io_uring, openat2
)  # fmt: skip
_UNKNOWN = (435,)  # clone3, whose arguments cannot be seen; libraries then use clone

_PAGE, _FIRST_PLACE, _PLACES = 1 << 12, 1 << 44, 1 << 34  # up to 5 << 44, of 8 << 44
_ALLOW, _KILL, _REFUSE, _NO_SUCH_CALL = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def is_supported() -> bool:
    """Return whether the filter is one for this system."""
    is_x86_64 = platform.machine() == "x86_64" and sys.maxsize > 1 << 32
    return sys.platform == "linux" and is_x86_64


def random_place() -> int:
    """Return the address of a page that no program uses by itself.

    An executable, its heap, libraries and stacks lie below the first of these pages or above the
    last, each with terabytes in between.
    """
    return _FIRST_PLACE + _PAGE * (int.from_bytes(os.urandom(8), "little") % _PLACES)


def program(place: int) -> bytes:
    """Return the filter as instructions of the kernel's BPF machine, eight bytes each.

    It lets one program be started, by a name that is stored at the given address. The program that
    is started has no way to store a name there: the address is random, Python chooses none itself,
    and with the limit on memory nothing that it allocates reaches that far.
    """
    steps = [_load(4), _jump(_EQUAL, _AUDIT_ARCH_X86_64, 1, 0), _step(_RETURN, _KILL), _load(0)]
    steps += _answered(_AT_LEAST, _X32, _REFUSE)
    for numbers, answer in ((_FORBIDDEN, _REFUSE), (_UNKNOWN, _NO_SUCH_CALL)):
        for number in numbers:
            steps += _answered(_EQUAL, number, answer)
    steps += _unless(_OPEN, 1, _jump(_ANY_BIT, _WRITING, 0, 1))
    steps += _unless(_OPENAT, 2, _jump(_ANY_BIT, _WRITING, 0, 1))
    steps += _unless(_CLONE, 0, _jump(_ANY_BIT, _CLONE_THREAD, 1, 0))
    steps += _unless_it_reads_own_limits()
    steps += _unless_the_name_is_at(place)
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _answered(comparison: int, number: int, answer: int) -> list[bytes]:
    return [_jump(comparison, number, 0, 1), _step(_RETURN, answer)]


def _unless(number: int, position: int, jump: bytes) -> list[bytes]:
    """Return steps that refuse a system call, unless an argument makes the jump skip that."""
    inner = [_load(16 + 8 * position), jump, _step(_RETURN, _REFUSE), _step(_RETURN, _ALLOW)]
    return [_jump(_EQUAL, number, 0, len(inner)), *inner]


def _unless_it_reads_own_limits() -> list[bytes]:
    """Return steps that refuse prlimit64 for another process, and with new limits."""
    process = [_load(16), _jump(_EQUAL, 0, 0, 2)]
    limits = [_load(16 + 8 * 2), _jump(_EQUAL, 0, 1, 0)]
    inner = [*process, *limits, _step(_RETURN, _REFUSE), _step(_RETURN, _ALLOW)]
    return [_jump(_EQUAL, _PRLIMIT, 0, len(inner)), *inner]


def _unless_the_name_is_at(place: int) -> list[bytes]:
    """Return steps that refuse execve, except with one pointer as the name of the program."""
    low = [_load(16), _jump(_EQUAL, place & 0xFFFFFFFF, 0, 2)]
    high = [_load(16 + 4), _jump(_EQUAL, place >> 32, 1, 0)]
    inner = [*low, *high, _step(_RETURN, _REFUSE), _step(_RETURN, _ALLOW)]
    return [_jump(_EQUAL, _EXECVE, 0, len(inner)), *inner]


def _load(offset: int) -> bytes:
    return _step(_LOAD, offset)


def _jump(comparison: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("HBBI", comparison, if_true, if_false, value)


def _step(code: int, value: int) -> bytes:
    return struct.pack("HBBI", code, 0, 0, value)
