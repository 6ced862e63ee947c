"""Describe how to start a zygote, and collect the source that is sent into it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from passband.score.sandbox.box.wire import Message
from passband.system import ANY_BIT, assemble, is_supported, jump, unless

# Reads one frame from standard input, makes modules of the sources in it, and calls the last one.
BOOT = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, os, types
def exactly(length):
    data = b""
    while len(data) < length:
        piece = os.read(0, length - len(data))
        if not piece:
            sys.exit("nothing to do")
        data += piece
    return data
job = json.loads(exactly(int.from_bytes(exactly(4), "big")).decode())
box = sys.modules["box"] = types.ModuleType("box")
box.__path__ = []
for name, source in job["sources"]:
    module = sys.modules["box." + name] = types.ModuleType("box." + name)
    module.__package__ = "box"
    setattr(box, name, module)
    exec(compile(source, "<box." + name + ">", "exec"), module.__dict__)
module.main(job["settings"])
"""
# In the order of their imports: the interpreter inside has no finder that could look for one.
_MODULES = (
    "wire", "plain", "program", "tests", "confine", "child", "mains", "running", "zygote",
)  # fmt: skip
_BOX = Path(__file__).resolve().with_name("box")


@dataclass(frozen=True)
class ZygoteRecipe:
    """The command that starts a zygote, its environment and its settings."""

    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None  # to start it as
    settings: Message = field(default_factory=dict)
    is_remote: bool = False  # only bytes reach it, and no open files

    def first_frame(self) -> Message:
        """Return the first frame for the interpreter: its program."""
        modules = (*_MODULES, "client", "front") if self.is_remote else _MODULES
        return {"sources": sources(modules), "settings": dict(self.settings)}


@functools.cache
def sources(modules: tuple[str, ...]) -> list[list[str]]:
    """Return the sources of modules of the box."""
    return [[name, (_BOX / f"{name}.py").read_text("utf-8")] for name in modules]


def variables(hash_seed: int) -> dict[str, str]:
    """Return the environment of programs: the same everywhere, and nothing of the user's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(hash_seed),
    }


# -- system calls --------------------------------------------------------------------------

_REFUSED = (
    101, 310, 311, 312, 424, 434, 438, 440, 448,  # other processes: ptrace, process_vm_*, pidfd_*
    155, 161, 165, 166, 428, 429, 430, 431, 432, 433, 442, 457, 458, 467,  # mounts and roots
    272, 308, 303, 304,  # unshare, setns, handles of files
    248, 249, 250,  # keys
    298, 321, 323, 425, 426, 427, 300, 447,  # perf, bpf, userfaultfd, io_uring, fanotify
    134, 135, 154, 172, 173, 175, 176, 180, 246, 313, 320,  # modules, ports, personality, kexec
    103, 153, 159, 163, 164, 167, 168, 169, 170, 171, 179, 212, 227, 305, 443,  # administration
    256, 279,  # pages of other processes
)  # fmt: skip
_IPC = (29, 64, 68, 240)  # shmget, semget, msgget, mq_open
_CLONE, _CLONE3 = 56, 435
# CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET
_NAMESPACES = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000


def call_filter(shares_ipc: bool = False) -> str:
    """Return a filter of system calls in hexadecimal digits; empty where there is none.

    Programs may start processes and threads, open sockets and send signals: inside the sandbox
    there is nothing to reach. Refused are calls that look past a namespace or make a new one, calls
    that few programs need and the kernel has often got wrong, and calls whose effect outlives a
    trial. Only Linux on x86-64 has the filter.

    shares_ipc: trials share a namespace of System V objects, which would outlive them.
    """
    if not is_supported():
        return ""
    refused = (*_REFUSED, *_IPC) if shares_ipc else _REFUSED
    no_namespaces = unless(_CLONE, 0, jump(ANY_BIT, _NAMESPACES, 0, 1))
    # The arguments of clone3 cannot be seen; those of clone can.
    return assemble(refused, [_CLONE3], no_namespaces).hex()
