"""Reports of zygotes become verdicts and ended programs, or the reason to try again."""

from __future__ import annotations

import math
import signal
from typing import Any, cast

from passband.errors import InvalidInput
from passband.score.sandbox.limits import Limits
from passband.score.sandbox.result import Finished, NeedsSameInterpreter, Verdict, VerdictStatus

__all__ = ["NoVerdict", "Starved", "finished", "verdict"]

_STATUSES = ("passed", "failed", "crashed", "did_not_compile")
_WAITED = 0.1  # share of the wall clock that a trial may have waited for a processor


class NoVerdict(Exception):
    """The sandbox failed in this trial: nothing can be said of the program."""


class Starved(NoVerdict):
    """The time ran out while others used the processor."""


def verdict(report: dict[str, Any], limits: Limits) -> Verdict:
    """Return the verdict in the report of a trial."""
    messages = _messages(report)
    message = messages[-1] if messages else {}
    if timeout := _timeout(report, limits):
        return _verdict("timed_out", timeout, report)
    if "sandbox" in message:
        raise NoVerdict(message["sandbox"])
    if "invalid" in message:
        raise InvalidInput(f"{message['invalid']}.")
    if "needs_same" in message:
        raise NeedsSameInterpreter(
            f"the tests pass a {message['needs_same']} to the program, which is no plain data; "
            "such tests need 'verdict: same', where program and tests share an interpreter."
        )
    status = message.get("status")
    if status not in _STATUSES:
        return _verdict("crashed", _ending(report, "tests"), report)
    detail = message.get("detail")
    if status == "crashed":
        detail = _ending(report, "program") + (f"; {detail}" if detail else "")
    return _verdict(cast(VerdictStatus, status), detail, report)


def finished(report: dict[str, Any], limits: Limits) -> Finished:
    """Return how a program or command ended."""
    messages = _messages(report)
    timeout = _timeout(report, limits)
    program = report["program"]
    error = messages[0].get("did_not_compile") if messages else None
    stdout, stderr = (
        report[name].encode("latin-1").decode("utf-8", "replace") for name in ("stdout", "stderr")
    )
    return Finished(
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


def _messages(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was written after the sign that the trial was confined."""
    if "failure" in report:
        raise NoVerdict(report["failure"])
    messages = report["messages"]
    if not messages or messages[0] != {"ready": True}:
        raise NoVerdict(f"the trial was not confined: {_ending(report, 'program')}")
    return [message for message in messages[1:] if isinstance(message, dict)]


def _timeout(report: dict[str, Any], limits: Limits) -> str | None:
    """Return how a trial ran out of time, if it did; raise if it was kept waiting."""
    program = report["program"]
    if report["timed_out"]:
        waited = report["waited"]
        half = min(limits.cpu, limits.wall) / 2
        if waited and waited["cpu"] < half and waited["delay"] > _WAITED * limits.wall:
            raise Starved(f"it waited {waited['delay']:.1f} of {limits.wall:g} s for a processor")
        return f"took longer than {limits.wall:g} s"
    is_killed = program["exit"] in (-signal.SIGKILL, -signal.SIGXCPU)
    if is_killed and program["cpu"] > math.ceil(limits.cpu) - 0.2:
        return f"took more than {math.ceil(limits.cpu)} s of processor time"
    return None


def _ending(report: dict[str, Any], role: str) -> str:
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


def _verdict(status: VerdictStatus, detail: str | None, report: dict[str, Any]) -> Verdict:
    program = report["program"]
    return Verdict(status, detail, report["seconds"], program["cpu"], program["memory"])
