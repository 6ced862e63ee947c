"""The worker process: reads calls from standard input, writes results to standard output.

It ends when standard input is closed, that is when the process that started it is gone, and when a
call goes on for longer than it may, even if no parent is left to kill it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import math
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from passband.errors import describe

__all__ = ["FUNCTIONS", "main"]

FUNCTIONS = {
    "findall": ("passband.score.patterns", "findall_here"),
    "math": ("passband.score.workers.math", "equal"),
    "search": ("passband.score.patterns", "search_here"),
    "sub": ("passband.score.patterns", "sub_here"),
}
MEMORY = 1 << 30  # bytes of address space; sympy and math-verify take 65 MB of it
GRACE = 2  # seconds for the parent to kill first, and so to know why

# Events that no comparison of answers needs. Answers are parsed and never evaluated as Python;
# should a parser one day let something through, it ends here.
FORBIDDEN = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.kill",
        "os.posix_spawn",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.spawn",
        "os.startfile",
        "os.system",
        "os.truncate",
        "shutil.rmtree",
        "socket.__new__",
        "socket.connect",
        "subprocess.Popen",
    }
)

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def main() -> None:
    """Serve until standard input ends."""
    requests, replies = sys.stdin.buffer, _take_standard_output()
    _limit()
    for line in requests:
        name, arguments, seconds = json.loads(line)
        failed = None
        try:
            function = _imported(name)
        except Exception as error:
            failed = {"error": describe(error)}
        _write(replies, {})  # taken up: the clock starts
        _write(replies, failed or _call(function, arguments, seconds))


@functools.cache
def _imported(name: str) -> Callable[..., Any]:
    module_name, attribute = FUNCTIONS[name]
    module = importlib.import_module(module_name)
    if hasattr(module, "warm_up"):
        module.warm_up()
    function: Callable[..., Any] = getattr(module, attribute)
    return function


def _call(function: Callable[..., Any], arguments: list[Any], seconds: float) -> dict[str, Any]:
    _set_alarm(math.ceil(seconds) + GRACE)
    try:
        return {"result": function(*arguments)}
    except Exception as error:
        return {"error": describe(error)}
    finally:
        _set_alarm(0)


def _take_standard_output() -> BinaryIO:
    """Return the pipe to the parent, and let everything else that prints go to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _write(replies: BinaryIO, reply: dict[str, Any]) -> None:
    replies.write(json.dumps(reply).encode() + b"\n")
    replies.flush()


def _set_alarm(seconds: int) -> None:
    # The default action of the signal ends the process without any help from the interpreter.
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _limit() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which drains first
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.addaudithook(_guard())


def _guard() -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that refuses the forbidden events; nothing can switch it off.

    The interpreter runs with -B, so imports write no byte code and need no exception.
    """
    forbidden, writing = FORBIDDEN, WRITING

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in forbidden or (event == "open" and arguments[2] & writing):
            raise PermissionError(f"{event} is not allowed here")

    return refuse


if __name__ == "__main__":
    main()
