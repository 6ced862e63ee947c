"""The first of a worker's two interpreters: limit this process for good, and start the second.

Limits and the filter of system calls outlast the start of another program in the same process. A
filter is installed through ctypes, with which a process can read and write all of its own memory,
and so switch off whatever guards it. The interpreter that does the work inherits the filter and
never loads ctypes.

Python runs this file as a script, by its name, so it imports the standard library only, and as
little of that as it can: every start of a worker waits for it.
"""

from __future__ import annotations

import os
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_READABLE, _WRITABLE, _PAGE = 0x1, 0x2, 4096
_PRIVATE, _EMPTY, _HERE = 0x2, 0x20, 0x100000  # MAP_PRIVATE, _ANONYMOUS, _FIXED_NOREPLACE

TYPE_CHECKING = False  # without the import of typing
if TYPE_CHECKING:
    import ctypes


def main(program: str, address: str, limits: str, command: list[str]) -> None:
    """Limit this process, install a filter, and go on as another program.

    Takes the filter in hexadecimal digits, the address that it lets a program be started from,
    and limits such as "CORE=0 NOFILE=64". Where there is no ctypes, or the kernel takes no filter,
    the program starts without one.
    """
    set_limits({name: int(most) for name, most in (limit.split("=") for limit in limits.split())})
    try:
        import ctypes  # noqa: F401 - the only thing that may be missing
    except ImportError:
        pass
    else:
        _start_filtered(
            bytes.fromhex(program), int(address), [os.fsencode(word) for word in command]
        )
    os.execv(command[0], command)


def set_limits(limits: dict[str, int]) -> None:
    """Set limits of the kernel, by the names that `resource` has for them, where it has them."""
    try:
        import resource
    except ImportError:
        return
    for name, most in limits.items():
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
        except (AttributeError, OSError, ValueError):
            continue


def _start_filtered(program: bytes, address: int, command: list[bytes]) -> None:
    """Start a program under a filter; return only if the kernel takes no filter."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    # Before the filter: it lets a program be started by the name at this address only.
    _store(libc, command[0] + b"\0", address)
    settings = [name + b"=" + value for name, value in os.environb.items()]
    words, variables = (
        (ctypes.c_char_p * (len(texts) + 1))(*texts)  # the last one is a null pointer
        for texts in (command, settings)
    )
    if _takes_filter(libc, program):
        libc.execve(ctypes.c_void_p(address), words, variables)
        raise SystemExit(f"{os.fsdecode(command[0])}: {os.strerror(ctypes.get_errno())}")


def _store(libc: ctypes.CDLL, name: bytes, address: int) -> None:
    """Store the name of a program in a page of its own, at an address where nothing is yet."""
    import ctypes

    if len(name) > _PAGE:
        raise SystemExit("the path of the interpreter is too long")
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    access, kind = _READABLE | _WRITABLE, _PRIVATE | _EMPTY | _HERE
    if libc.mmap(address, _PAGE, access, kind, -1, 0) != address:
        raise SystemExit("the address is taken")
    ctypes.memmove(address, name, len(name))


def _takes_filter(libc: ctypes.CDLL, program: bytes) -> bool:
    """Install a filter; return whether the kernel took it."""
    import ctypes

    steps = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    pointer = ctypes.create_string_buffer(header)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(pointer), 0, 0) == 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
