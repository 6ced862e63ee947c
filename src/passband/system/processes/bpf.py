"""Assemble filters of system calls for the kernel's BPF machine: Linux on x86-64.

A step has eight bytes. See `seccomp(2)`; numbers of system calls are those of `asm/unistd_64.h`.
"""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Iterable

_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000  # numbers of a second, rarely used, way to call

ALLOW, REFUSE, _NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x00050026
_KILL = 0x80000000
_LOAD, EQUAL, _AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def is_supported() -> bool:
    """Return whether the filters are ones for this system."""
    is_x86_64 = platform.machine() == "x86_64" and sys.maxsize > 1 << 32
    return sys.platform == "linux" and is_x86_64


def assemble(refused: Iterable[int], unknown: Iterable[int], further: Iterable[bytes]) -> bytes:
    """Return a filter that refuses some system calls, does not know others, and has further steps.

    Libraries fall back to an older call where the kernel does not know a new one.
    """
    steps = [*_first_steps(), *_answers(refused, REFUSE), *_answers(unknown, _NO_SUCH_CALL)]
    return b"".join([*steps, *further, step(RETURN, ALLOW)])


def _first_steps() -> list[bytes]:
    """Return steps that end a program of another architecture, and load the system call."""
    # At 4 is the architecture, whose numbers the rest relies on; at 0 is the number of the call.
    steps = [load(4), jump(EQUAL, _AUDIT_ARCH_X86_64, 1, 0), step(RETURN, _KILL), load(0)]
    return [*steps, jump(_AT_LEAST, _X32, 0, 1), step(RETURN, REFUSE)]


def _answers(numbers: Iterable[int], answer: int) -> list[bytes]:
    """Return steps that answer some system calls."""
    return [
        code for number in numbers for code in (jump(EQUAL, number, 0, 1), step(RETURN, answer))
    ]


def unless(number: int, position: int, test: bytes) -> list[bytes]:
    """Return steps that refuse a system call, unless an argument makes the test skip that."""
    # The arguments follow 16 bytes of number, architecture and instruction pointer; of each the
    # lower half comes first.
    inner = [load(16 + 8 * position), test, step(RETURN, REFUSE), step(RETURN, ALLOW)]
    return [jump(EQUAL, number, 0, len(inner)), *inner]


def load(offset: int) -> bytes:
    """Return a step that loads a part of the call: its number, or half of an argument."""
    return step(_LOAD, offset)


def jump(comparison: int, value: int, if_true: int, if_false: int) -> bytes:
    """Return a step that skips some of the next ones."""
    return struct.pack("HBBI", comparison, if_true, if_false, value)


def step(code: int, value: int) -> bytes:
    """Return one step."""
    return struct.pack("HBBI", code, 0, 0, value)
