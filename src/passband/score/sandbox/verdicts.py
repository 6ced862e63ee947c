"""Turn reports of zygotes into verdicts and ended programs, or into a reason to try again."""

from __future__ import annotations

import math
import signal
from typing import cast

from passband.errors import InvalidInput
from passband.score.sandbox.box.wire import Message
from passband.score.sandbox.protocol import (
    Limits,
    NeedsSameInterpreter,
    ProgramExit,
    ProgramVerdict,
    VerdictStatus,
)

_WAITED = 0.5  # share of the wall clock; a trial that waited longer for a processor was starved
_USED = 0.5  # share of its processor time after which a killed program was killed for it
# How a program ends that is killed for its time, and how a command does.
_KILLED = (-signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGKILL, 128 + signal.SIGXCPU)


class NoVerdict(Exception):
    """The sandbox failed in this trial: nothing can be said of the program."""


class Starved(NoVerdict):
    """The time ran out while others used the processor."""


def verdict(report: Message, limits: Limits) -> ProgramVerdict:
    """Return the verdict in the report of a trial."""
    messages = _messages(report)
    message = messages[-1] if messages else {}
    # First, as a verdict that was written while the time ran out does not count.
    if timeout := _wall_clock(report, limits):
        return _verdict("timed_out", timeout, report)
    _refuse(message)
    status, detail = message.get("status"), message.get("detail")
    if status in ("passed", "failed", "did_not_compile"):
        return _verdict(cast("VerdictStatus", status), detail, report)
    if timeout := _processor_time(report, limits):
        return _verdict("timed_out", timeout, report)
    ending = _ending(report, "program" if status == "crashed" else "tests")
    return _verdict("crashed", f"{ending}; {detail}" if detail else ending, report)


def _refuse(message: Message) -> None:
    """Raise for a message without a verdict."""
    if "sandbox" in message:
        raise NoVerdict(message["sandbox"])
    if "invalid" in message:
        raise InvalidInput(f"{message['invalid']}.")
    if "needs_same" in message:
        raise NeedsSameInterpreter(
            f"the tests pass a {message['needs_same']} to the program, which is no plain data; "
            "such tests need 'verdict: same', where program and tests share an interpreter."
        )


def finished(report: Message, limits: Limits) -> ProgramExit:
    """Return how a program or command ended."""
    messages = _messages(report)
    timeout = _wall_clock(report, limits) or _processor_time(report, limits)
    program = report["program"]
    error = messages[0].get("did_not_compile") if messages else None
    stdout, stderr = (
        report[name].encode("latin-1").decode("utf-8", "replace") for name in ("stdout", "stderr")
    )
    return ProgramExit(
        exit=program["exit"],
        timed_out=timeout is not None,
        stdout=stdout,
        stderr=stderr if error is None else str(error),
        is_cut=report["is_cut"],
        compiled=error is None,
        seconds=report["seconds"],
        cpu_seconds=program["cpu"],
        memory=program["memory"],
    )


def _messages(report: Message) -> list[Message]:
    """Return the messages after the sign that the trial was confined."""
    if "failure" in report:
        raise NoVerdict(report["failure"])
    messages = report["messages"]
    if not messages or messages[0] != {"ready": True}:
        raise NoVerdict(f"the trial was not confined: {_ending(report, 'program')}")
    return [message for message in messages[1:] if isinstance(message, dict)]


def _wall_clock(report: Message, limits: Limits) -> str | None:
    """Return that a trial took too long, if it did; raise if it was kept waiting."""
    if not report["timed_out"]:
        return None
    waited = report["waited"]
    half = min(limits.cpu, limits.wall) / 2
    if waited and waited["cpu"] < half and waited["delay"] > _WAITED * limits.wall:
        raise Starved(f"it waited {waited['delay']:.1f} of {limits.wall:g} s for a processor")
    return f"took longer than {limits.wall:g} s"


def _processor_time(report: Message, limits: Limits) -> str | None:
    """Return that the kernel ended a program for its processor time, if it did.

    The kernel counts that time by its clock ticks when it enforces the limit, and exactly when it
    reports it: the two differ on a busy machine.
    """
    program, seconds = report["program"], math.ceil(limits.cpu)
    if program["exit"] in _KILLED and program["cpu"] > _USED * seconds:
        return f"took more than {seconds} s of processor time"
    return None


def _ending(report: Message, role: str) -> str:
    """Return how a process ended, for people."""
    role = role if role in report else "program"
    status = report[role]["exit"]
    if status >= 0:
        return f"the {role} ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the {role} was ended by {name}"


def _verdict(status: VerdictStatus, detail: str | None, report: Message) -> ProgramVerdict:
    program = report["program"]
    return ProgramVerdict(status, detail, report["seconds"], program["cpu"], program["memory"])
