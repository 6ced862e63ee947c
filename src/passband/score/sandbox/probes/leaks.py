"""Probe a sandbox for leaks: things that the next trial of the same zygote finds."""

from __future__ import annotations

import functools

from passband.score.sandbox.probes import Probe
from passband.score.sandbox.protocol import Limits
from passband.score.sandbox.zygotes import Zygotes

_LIMITS = Limits(wall=20, cpu=10)

_LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
# What a trial leaves, and how the next one looks for it: True if it is there.
_PAIRS = {
    "files": (
        "for folder in ('/tmp', '/dev/shm', '.'):\n"
        "    try:\n        open(folder + '/left', 'w').write('x')\n"
        "    except OSError:\n        pass",
        "import os\nfound = any(os.path.exists(f + '/left') for f in ('/tmp', '/dev/shm', '.'))",
    ),
    "memory of the interpreter": (
        "import builtins, math, os, sys\nbuiltins.left = math.left = sys.left = 1\n"
        "os.environ['LEFT'] = '1'",
        "import builtins, math, os, sys\n"
        "found = any(hasattr(m, 'left') for m in (builtins, math, sys)) or 'LEFT' in os.environ",
    ),
    "source of the last program": (
        "left = 'leak-' + 'canary' * 2",
        "import gc\nwanted = 'leak-' + 'canary' * 2\n"
        "found = any(type(o) is dict and wanted in map(str, o.values()) and o is not globals()\n"
        "            for o in gc.get_objects())",
    ),
    "shared memory": (
        f"{_LIBC}libc.shmget(0x5EED, 4096, 0o1666)",
        f"{_LIBC}found = libc.shmget(0x5EED, 4096, 0o666) >= 0",
    ),
    "processes": (
        "import os, socket, signal\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        with socket.socket(socket.AF_UNIX) as server:\n"
        "            server.bind('\\0passband-left')\n"
        "            server.listen()\n"
        "            signal.pause()\n"
        "    os._exit(0)\n"
        "os.wait()",
        "import socket\n"
        "try:\n    socket.socket(socket.AF_UNIX).connect('\\0passband-left')\n    found = True\n"
        "except OSError:\n    found = False",
    ),
    "keys": (
        f"{_LIBC}libc.syscall(248, b'user', b'left', b'x', 1, -3)",
        f"{_LIBC}found = libc.syscall(249, b'user', b'left', None, 0) >= 0",
    ),
    "signal handlers": (
        "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)",
        "import signal\nfound = signal.getsignal(signal.SIGUSR1) is not signal.SIG_DFL",
    ),
}


def _leak(leaving: str, looking: str, sandbox: Zygotes) -> str | None:
    sandbox.run_program(leaving, "", _LIMITS)
    looked = sandbox.run_program(f"{looking}\nprint(found)", "", _LIMITS)
    if looked.stdout == "False\n":
        return None
    return "the next trial found it" if looked.stdout == "True\n" else looked.stderr[-200:]


LEAKS = tuple(Probe(name, "leak", functools.partial(_leak, *pair)) for name, pair in _PAIRS.items())
