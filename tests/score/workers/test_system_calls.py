"""The filter of system calls, tried by calling the kernel past the interpreter."""

import platform
import subprocess
import sys

import pytest

from passband.score.workers.system_calls import program

FILTERED = """
import ctypes, errno, os, threading
from passband.score.workers.system_calls import forbid_system_calls
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
if not forbid_system_calls():
    raise SystemExit("the kernel takes no filter")
def refused(number, *arguments):
    ctypes.set_errno(0)
    failed = libc.syscall(number, *arguments) == -1
    return failed and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)
assert refused(57)  # fork
assert refused(56, 17, 0, 0, 0, 0)  # clone, of a process
assert refused(435, 0, 0)  # clone3
assert refused(59, b"/bin/echo", 0, 0)  # execve
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
        [sys.executable, "-c", FILTERED], capture_output=True, text=True, timeout=60
    )
    if "takes no filter" in done.stderr:
        pytest.skip("the kernel takes no filter")
    assert done.stdout == "threads and reading work\n", done.stderr


def test_every_jump_of_the_filter_ends_inside_of_it() -> None:
    steps = [program()[start : start + 8] for start in range(0, len(program()), 8)]
    assert len(steps) * 8 == len(program())
    for position, step in enumerate(steps):
        if step[0] & 7 == 5:  # a jump
            assert position + 1 + max(step[2], step[3]) < len(steps)
    assert all(step[0] == 6 for step in steps[-1:])  # the last step returns
