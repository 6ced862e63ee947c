"""Filter the system calls of worker processes: Linux on x86-64, elsewhere nothing.

The kernel applies it, for good, to whatever the process runs: Python, an extension module, or
machine code. `passband.system.processes.first_stage` installs it, and
`passband.system.processes.bpf` has its steps.
"""

from __future__ import annotations

import os

from passband.system.processes import bpf

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

_PAGE, _FIRST_ADDRESS, _PAGES = 1 << 12, 1 << 44, 1 << 34  # up to 5 << 44, of 8 << 44


def random_address() -> int:
    """Return the address of a page that no program uses by itself.

    An executable, its heap, libraries and stacks lie below the first of these pages or above the
    last, each with terabytes in between.
    """
    return _FIRST_ADDRESS + _PAGE * (int.from_bytes(os.urandom(8), "little") % _PAGES)


def program(address: int) -> bytes:
    """Return the filter as instructions of the kernel's BPF machine, eight bytes each.

    It lets one program be started, by a name that is stored at the given address. The program that
    is started has no way to store a name there: the address is random, Python chooses none itself,
    and with the limit on memory nothing that it allocates reaches that far.
    """
    steps = bpf.unless(_OPEN, 1, bpf.jump(bpf.ANY_BIT, _WRITING, 0, 1))
    steps += bpf.unless(_OPENAT, 2, bpf.jump(bpf.ANY_BIT, _WRITING, 0, 1))
    steps += bpf.unless(_CLONE, 0, bpf.jump(bpf.ANY_BIT, _CLONE_THREAD, 1, 0))
    steps += _unless_it_reads_own_limits()
    steps += _unless_the_name_is_at(address)
    return bpf.assemble(_FORBIDDEN, _UNKNOWN, steps)


def _unless_it_reads_own_limits() -> list[bytes]:
    """Return steps that refuse prlimit64 for another process, and with new limits."""
    process = [bpf.load(16), bpf.jump(bpf.EQUAL, 0, 0, 2)]
    limits = [bpf.load(16 + 8 * 2), bpf.jump(bpf.EQUAL, 0, 1, 0)]
    inner = [*process, *limits, bpf.step(bpf.RETURN, bpf.REFUSE), bpf.step(bpf.RETURN, bpf.ALLOW)]
    return [bpf.jump(bpf.EQUAL, _PRLIMIT, 0, len(inner)), *inner]


def _unless_the_name_is_at(address: int) -> list[bytes]:
    """Return steps that refuse execve, except with one pointer as the name of the program."""
    low = [bpf.load(16), bpf.jump(bpf.EQUAL, address & 0xFFFFFFFF, 0, 2)]
    high = [bpf.load(16 + 4), bpf.jump(bpf.EQUAL, address >> 32, 1, 0)]
    inner = [*low, *high, bpf.step(bpf.RETURN, bpf.REFUSE), bpf.step(bpf.RETURN, bpf.ALLOW)]
    return [bpf.jump(bpf.EQUAL, _EXECVE, 0, len(inner)), *inner]
