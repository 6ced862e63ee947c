"""What the children of a zygote do once they are confined; each returns its exit status."""

from __future__ import annotations

import socket
from typing import Any

from . import child, judge, program, tests, wire

__all__ = ["MAINS", "judge_trials", "serve_calls"]


def _opened(number: int) -> socket.socket:
    """Return the socket of a number; its family need not be looked up."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, number)


def serve_calls() -> int:
    """Run a program and answer calls of its function."""
    with _opened(3) as calls:
        program.serve(calls)
    return 0


def judge_trials() -> int:
    """Run tests, of one trial after another."""
    with _opened(3) as jobs:
        judge.serve(jobs)
    return 0


def _same() -> int:
    with _opened(3) as results:
        tests.judge_in_one(results)
    return 0


def _script() -> int:
    with _opened(3) as jobs:
        return program.run_script(jobs)


def _command() -> int:
    with _opened(3) as jobs:
        wire.send(jobs, {"ready": True})
        job: dict[str, Any] = wire.receive(jobs)
    return child.exec_command(job)


MAINS = {"same": _same, "script": _script, "command": _command}
