"""Runs the code of a trial in the zygote first.

Python rewrites the byte code of a function in its first calls. Rewritten in a child, every page of
it would be copied for every trial.
"""

from __future__ import annotations

import socket

from . import confine, plain, program, tests, wire

__all__ = ["warm_up"]

_CALLS = 24  # enough for Python 3.11 and later to settle
_PROGRAM = '''
from typing import List

def double(numbers: List[int]) -> List[int]:
    """Return numbers, doubled."""
    return [2 * number for number in numbers]
'''
_TEST = "def check(candidate):\n    assert candidate([1, 2]) == [2, 4]\n"
_VALUES = [1, 2.5, "text", None, True, [1, [2]], (1, 2), {"a": 1}, {1, 2}, 1 << 70]


def warm_up() -> None:
    """Call what children call, until it changes no more."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for _ in range(_CALLS):
            wire.send(ours, plain.encode(_VALUES))
            plain.decode(wire.receive(theirs))
            _one_trial(ours, theirs)
            _serve()
            confine.carry_out([("nothing", len, ("",))] * 3)


def _one_trial(ours: socket.socket, theirs: socket.socket) -> None:
    """Play both sides of a trial in turn."""
    job = {"program": _PROGRAM, "prompt": "", "test": _TEST, "entry_point": "double"}
    function = program.function_of(_PROGRAM, "double")
    answer = program.called(function, {"args": [[1, 2]], "kwargs": {}})
    wire.send(theirs, answer)
    tests.verdict_on(job, tests.Remote(ours, "double"))
    wire.receive(theirs)


def _serve() -> None:
    """Be the program's side of a trial whose calls are all there already."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.send(ours, {"program": _PROGRAM, "entry_point": "double"})
        wire.send(ours, {"args": [[1, 2]], "kwargs": {}})
        ours.shutdown(socket.SHUT_WR)
        program.serve(theirs)
