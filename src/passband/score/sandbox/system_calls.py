"""Filter the system calls of a program: Linux on x86-64, elsewhere nothing.

Programs may start processes and threads, open sockets and send signals: inside the sandbox there is
nothing to reach. Refused are calls that look past a namespace or make a new one, calls that few
programs need and the kernel has often got wrong, and calls whose effect outlives a trial.
"""

from __future__ import annotations

from passband.system.processes import bpf

__all__ = ["program"]

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


def program(shares_ipc: bool = False) -> bytes:
    """Return the filter; empty where this architecture has none.

    shares_ipc: trials share a namespace of System V objects, which would outlive them.
    """
    if not bpf.is_supported():
        return b""
    refused = (*_REFUSED, *_IPC) if shares_ipc else _REFUSED
    steps = [*bpf.first_steps(), *bpf.answers(refused, bpf.REFUSE)]
    steps += bpf.answers([_CLONE3], bpf.NO_SUCH_CALL)  # its arguments cannot be seen; clone's can
    steps += bpf.unless(_CLONE, 0, bpf.jump(bpf.ANY_BIT, _NAMESPACES, 0, 1))
    return b"".join([*steps, bpf.step(bpf.RETURN, bpf.ALLOW)])
