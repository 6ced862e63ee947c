"""Serve calls in a worker process: read them from standard input, write results to standard output.

It serves the functions of one module, which it imports before it gives up everything else
(`passband.system.processes.guard`). It ends when standard input is closed, that is when the process
that started it is gone, and when a call goes on for longer than it may, even if no parent is left
to kill it.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import signal
import sys
from types import ModuleType
from typing import Any, BinaryIO

from passband.errors import describe
from passband.system import hide_ctypes, limit_resources, lock_down

FUNCTIONS = {
    "entry_point": ("passband.score.code.worker", "called_function_here"),
    "fault": ("passband.score.code.worker", "fault_here"),
    "findall": ("passband.score.patterns", "findall_here"),
    "math": ("passband.score.workers.math", "equal"),
    "program": ("passband.score.code.worker", "find_program_here"),
    "render": ("passband.tasks.prompt.rendering", "render_here"),
    "search": ("passband.score.patterns", "search_here"),
    "sub": ("passband.score.patterns", "sub_here"),
    "uses": ("passband.score.code.worker", "uses_function_here"),
}
Reply = dict[str, Any]  # a result, or an error; empty: the call is taken up
GRACE = 2  # seconds for the parent to kill first, and so to know why


def main(module_name: str) -> None:
    """Serve calls of one module's functions until standard input ends."""
    requests, replies = sys.stdin.buffer, _take_standard_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which drains first
    limit_resources()
    hide_ctypes()
    # Imports read files and load extensions, so they come before the guard, which refuses both.
    failure, module = None, None
    try:
        module = _imported(module_name)
    except Exception as error:
        failure = {"broken": describe(error)}
    lock_down()
    for line in requests:
        name, arguments, seconds = json.loads(line)
        _write(replies, {})  # taken up: the clock starts
        _write(replies, failure or _call(module, name, arguments, seconds))


def _imported(name: str) -> ModuleType:
    module = importlib.import_module(name)
    if hasattr(module, "warm_up"):
        module.warm_up()
    return module


def _call(module: ModuleType | None, name: str, arguments: list[object], seconds: float) -> Reply:
    function = getattr(module, FUNCTIONS[name][1], None)
    if function is None:
        return {"broken": f"there is no function {FUNCTIONS[name][1]}"}
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


def _write(replies: BinaryIO, reply: Reply) -> None:
    replies.write(json.dumps(reply).encode() + b"\n")
    replies.flush()


def _set_alarm(seconds: int) -> None:
    # The default action of the signal ends the process without any help from the interpreter.
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
