"""Probe a sandbox for escapes: reaching something outside, or more than the limits.

Each prints what it reached, a line each; one that prints nothing but "held" was stopped. None of
them does harm where it is not stopped, as far as that can be: files that they make are empty or in
the working folder, signals are number 0 or go to the process that started them.
"""

from __future__ import annotations

import functools
import os
import socket
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from passband.score.sandbox.bubblewrap import user_of_trials
from passband.score.sandbox.interpreter import find_interpreter
from passband.score.sandbox.probes import Probe
from passband.score.sandbox.protocol import Limits, ProgramExit
from passband.score.sandbox.zygotes import Zygotes

_LIMITS = Limits(wall=20, cpu=10, disk=4 << 20, memory=512 << 20)
_BRIEF = Limits(wall=0.5, cpu=1)
_LONG = Limits(wall=60, cpu=1)  # so that the processor time ends it, on a busy machine too

# Of the host; an image of a container may have its own.
_FOLDERS = (
    "/etc/passwd", "/etc/shadow", "/home", "/var", "/run", "/sys", "/boot", "/mnt",
    "/proc/1", "/proc/self",
)  # fmt: skip

_NETWORK = """
import socket
def reach(what, act):
    try:
        act()
    except OSError:
        return
    print(what)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    reach("192.0.2.1", lambda: socket.socket(socket.AF_INET, kind).connect(("192.0.2.1", 53)))
reach("a port of this machine", lambda: socket.create_connection(("127.0.0.1", PORT), 5))
reach("raw packets", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
if {name for _, name in socket.if_nameindex()} - {"lo"}:
    print("network devices")
print("held")
"""
_FILES = """
import os
for path in PATHS:
    if os.path.exists(path):
        print(path)
print("held")
"""
_WRITING = """
for folder in ("/", "/usr", "/usr/bin", "/dev", "/proc", "/etc"):
    try:
        open(folder.rstrip("/") + "/passband-probe", "w")
    except OSError:
        continue
    print(folder)
print("held")
"""
_ENVIRONMENT = """
import os
known = {"PATH", "HOME", "LANG", "PWD", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS",
         "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
         "LC_CTYPE"}
for name in sorted(set(os.environ) - known):
    print(name)
print("held")
"""
_PROCESSES = """
import os
def reach(what, act):
    try:
        act()
    except (OSError, OverflowError):
        return
    print(what)
reach("passband itself", lambda: os.kill(PID, 0))
reach("all processes", lambda: os.kill(-1, 0))
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != os.getpid():
        reach(f"process {name}", lambda: open(f"/proc/{name}/environ").close())
reach("root", lambda: os.setuid(0))
if os.getuid() == 0:
    print("runs as root")
for number in range(3, 256):
    reach(f"open file {number}", lambda: os.fstat(number))
print("held")
"""
_MEMORY = """
try:
    block = bytearray(1 << 30)
except MemoryError:
    print("held")
else:
    print(len(block), "bytes")
"""
_DISK = """
import os
written = 0
try:
    for number in range(64):
        with open(f"large-{number}", "wb") as file:
            written += file.write(bytes(1 << 20))
except OSError:
    pass
if written > 4 << 20:
    print(written, "bytes")
files = 0
try:
    for files in range(5000):
        open(f"{files}", "w").close()
except OSError:
    pass
if files > 2000:
    print(files, "files")
print("held")
"""
_FORKS = """
import os, signal
started = []
try:
    for _ in range(300):
        pid = os.fork()
        if pid == 0:
            signal.pause()
            os._exit(0)
        started.append(pid)
except OSError:
    pass
if len(started) > 32:
    print(len(started), "processes")
print("held")
import sys
sys.stdout.flush()
for pid in started:
    os.kill(pid, signal.SIGKILL)
"""
_NAMESPACES = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x4000000, 0x8000000):
    if libc.unshare(flag) == 0:
        print(f"unshare {flag:#x}")
if os.uname().machine == "x86_64":
    for flag in (0x10000000 | 17, 0x10000000 | 0x20000 | 17):
        pid = libc.syscall(56, flag, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        if pid > 0:
            print(f"clone {flag:#x}")
    buffer = (ctypes.c_uint64 * 11)(0x10000000, *[0] * 3, 17)
    pid = libc.syscall(435, buffer, 88)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        print("clone3")
print("held")
"""
# With arguments that no call accepts: one that is not refused fails for another reason.
_CALLS = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
calls = {"ptrace": (101, -1, -1, 0, 0), "process_vm_readv": (310, -1, 0, 1, 0, 1, 1),
         "mount": (165, 0, 0, 0, 0, 0), "umount": (166, 0, -1), "setns": (308, -1, 0),
         "chroot": (161, 0), "pivot_root": (155, 0, 0), "bpf": (321, -1, 0, 0),
         "perf_event_open": (298, 0, 0, -1, -1, 0), "keyctl": (250, -1, 0),
         "add_key": (248, 0, 0, 0, 0, 0), "io_uring_setup": (425, 0, 0),
         "userfaultfd": (323, -1), "personality": (135, 0xFFFFFFFF), "fsopen": (430, 0, -1),
         "open_by_handle_at": (304, -1, 0, 0), "pidfd_open": (434, -1, 0),
         "sethostname": (170, 0, -1), "clock_settime": (227, -1, 0)}
if os.uname().machine == "x86_64":
    for name, arguments in calls.items():
        ctypes.set_errno(0)
        libc.syscall(*arguments)
        if ctypes.get_errno() != errno.EPERM:
            print(name)
print("held")
"""
_FLOOD = """
import os
piece = b"x" * (1 << 20)
for _ in range(64):
    os.write(1, piece)
"""
_SLEEP = "import time\ntime.sleep(60)"
_BUSY = """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
"""
# The parent of the first process of a namespace is 0, which means the group of the sender.
_PARENT = """
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
"""


def _printed(source: str, sandbox: Zygotes, limits: Limits = _LIMITS) -> str | None:
    """Run a program that prints everything it reached."""
    return _reached(sandbox.run_program(source, "", limits))


def _reached(finished: ProgramExit) -> str | None:
    *reached, last = finished.stdout.split("\n")[:-1] or [""]
    if last != "held":
        return f"no answer: {finished.stderr[-200:] or finished.stdout[-200:] or finished.exit}"
    return ", ".join(reached) or None


def _network(sandbox: Zygotes) -> str | None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return _printed(f"PORT = {server.getsockname()[1]}\n{_NETWORK}", sandbox)


def _files(sandbox: Zygotes) -> str | None:
    with tempfile.NamedTemporaryFile(prefix="passband-probe-") as canary:
        os.chmod(canary.name, 0o644)
        paths = [canary.name]
        if sandbox.name == "bubblewrap":
            # The Python of programs may be in one of them, which then holds the way to it.
            shown = _parents(find_interpreter(user_of_trials()).folders)
            paths += [path for path in _FOLDERS if path not in shown]
        return _printed(f"PATHS = {paths!r}\n{_FILES}", sandbox)


def _parents(folders: Iterable[str]) -> set[str]:
    return {str(parent) for folder in folders for parent in Path(folder).parents}


def _processes(sandbox: Zygotes) -> str | None:
    return _printed(f"PID = {os.getpid()}\n{_PROCESSES}", sandbox)


def _flood(sandbox: Zygotes) -> str | None:
    limits = Limits(wall=20, output=1000)
    finished = sandbox.run_program(_FLOOD, "", limits)
    kept = len(finished.stdout)
    if finished.exit == 0 and finished.is_cut and kept == limits.output:
        return None
    return f"{kept} bytes kept, exit {finished.exit}"


def _endless(source: str, limits: Limits, sandbox: Zygotes) -> str | None:
    finished = sandbox.run_program(source, "", limits)
    return None if finished.timed_out else f"it ended by itself, with {finished.exit}"


def _parent(sandbox: Zygotes) -> str | None:
    """Send signals to the parent; the zygote has to live on."""
    sandbox.facts()
    before = sandbox.pool.started
    sandbox.run_program(_PARENT, "", _LIMITS)
    sandbox.run_program("", "", _LIMITS)
    return None if sandbox.pool.started == before else "the process that starts trials was killed"


def _program(name: str, source: str, is_quick: bool = False) -> Probe:
    return Probe(name, "escape", functools.partial(_printed, source), is_quick)


def _other(name: str, attempt: Callable[[Zygotes], str | None], is_quick: bool = False) -> Probe:
    return Probe(name, "escape", attempt, is_quick)


ESCAPES = (
    _other("network", _network, True),
    _other("files of the host", _files, True),
    _program("writing to the system", _WRITING),
    _program("environment", _ENVIRONMENT, True),
    _other("processes and open files", _processes, True),
    _program("memory", _MEMORY),
    _program("disk", _DISK),
    _program("fork bomb", _FORKS, True),
    _program("nested namespaces", _NAMESPACES, True),
    _program("system calls", _CALLS, True),
    _other("output flood", _flood),
    _other("sleep", functools.partial(_endless, _SLEEP, _BRIEF)),
    _other("endless loop, signals ignored", functools.partial(_endless, _BUSY, _LONG)),
    _other("signals to the parent", _parent),
)
