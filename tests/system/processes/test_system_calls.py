"""The filter of system calls, tried by calling the kernel past the interpreter."""

import platform
import struct
import subprocess
import sys

import pytest

from passband.system.processes.launch import confined
from passband.system.processes.system_calls import program, random_address

FILTERED = """
import ctypes, errno, os, threading
if "Seccomp:\\t2" not in open("/proc/self/status").read():
    raise SystemExit("the kernel takes no filter")
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
def refused(number, *arguments):
    ctypes.set_errno(0)
    failed = libc.syscall(number, *arguments) == -1
    return failed and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)
assert refused(57)  # fork
assert refused(56, 17, 0, 0, 0, 0)  # clone, of a process
assert refused(435, 0, 0)  # clone3
assert refused(59, b"/bin/echo", 0, 0)  # execve
assert refused(322, -100, b"/bin/echo", 0, 0, 0)  # execveat
assert refused(101, 0, 0, 0, 0)  # ptrace
for start in (os.execv, os.posix_spawn):
    try:
        start("/bin/echo", ["echo", "no"], *([{}] if start is os.posix_spawn else []))
    except OSError as error:
        assert error.errno in (errno.EPERM, errno.ENOSYS)
    else:
        raise AssertionError(start)
assert refused(62, parent, 0)  # kill
assert refused(434, parent, 0)  # pidfd_open
assert refused(41, 2, 1, 0)  # socket
assert refused(2, b"/tmp/passband-written", 0o101, 0o600)  # open
assert refused(257, -100, b"/tmp/passband-written", 0o101, 0o600)  # openat
assert refused(302, parent, 7, 0, 0)  # prlimit of another process
limits = (ctypes.c_ulong * 2)()
assert not refused(302, 0, 7, None, limits)  # prlimit that reads
assert refused(302, 0, 7, limits, None)  # and that sets
assert refused(160, 7, limits)  # setrlimit
assert refused(310, parent, 0, 0, 0, 0, 0)  # process_vm_readv
thread = threading.Thread(target=print, args=["threads and reading work"])
thread.start()
thread.join()
assert open("/proc/self/status").read()
"""


@pytest.mark.process
@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="Linux on x86-64 only"
)
def test_the_kernel_refuses() -> None:
    done = subprocess.run(
        confined([sys.executable, "-c", FILTERED]), capture_output=True, text=True, timeout=60
    )
    if "takes no filter" in done.stderr:
        pytest.skip("the kernel takes no filter")
    assert done.stdout == "threads and reading work\n", done.stderr


PLACE = 0x2345_6789_A000
EXECVE, ALLOWED, REFUSED = 59, 0x7FFF0000, 0x00050001


def answer(number: int, *arguments: int) -> int:
    """Return what the filter says to a system call, step by step as the kernel does."""
    data = struct.pack("<IIQ6Q", number, 0xC000003E, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("HBBI", program(PLACE)))
    position = loaded = 0
    while True:
        code, if_true, if_false, value = steps[position]
        position += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: loaded & value}[code]
            position += if_true if holds else if_false


def test_a_program_starts_from_one_address_only() -> None:
    assert answer(EXECVE, PLACE, 1, 2) == ALLOWED
    others = (0, PLACE + 1, PLACE - 4096, PLACE & 0xFFFFFFFF, PLACE ^ 1 << 40, PLACE >> 32 << 32)
    assert {answer(EXECVE, other, PLACE, PLACE) for other in others} == {REFUSED}
    assert answer(322, PLACE, PLACE) == REFUSED  # execveat
    assert answer(39) == ALLOWED  # getpid


def test_places_are_pages_that_differ() -> None:
    places = {random_address() for _ in range(100)}
    assert len(places) == 100
    assert all(place % 4096 == 0 and 1 << 44 <= place < 5 << 44 for place in places)


def test_every_jump_of_the_filter_ends_inside_of_it() -> None:
    steps = [program(PLACE)[start : start + 8] for start in range(0, len(program(PLACE)), 8)]
    assert len(steps) * 8 == len(program(PLACE))
    for position, step in enumerate(steps):
        if step[0] & 7 == 5:  # a jump
            assert position + 1 + max(step[2], step[3]) < len(steps)
    assert all(step[0] == 6 for step in steps[-1:])  # the last step returns
