"""Reports of zygotes, made by hand."""

import signal
from typing import Any

import pytest

from passband.score.sandbox.protocol import Limits
from passband.score.sandbox.verdicts import NoVerdict, Starved, finished, verdict

READY = {"ready": True}
LIMITS = Limits(wall=6, cpu=3)


def report(*messages: Any, exit: int = 0, cpu: float = 0.1, **more: Any) -> dict[str, Any]:
    program = {"exit": exit, "cpu": cpu, "memory": 1}
    return {
        "messages": list(messages), "timed_out": False, "seconds": 1.0, "waited": None,
        "program": program, "stdout": "", "stderr": "", "is_cut": False, **more,
    }  # fmt: skip


PASSED = {"status": "passed"}


@pytest.mark.parametrize(
    "broken",
    [
        {"failure": "clone: out of memory"},
        report(),
        report(PASSED),
        report({"ready": False}, PASSED),
        report(READY, {"sandbox": "the program's side did not start"}),
    ],
)
def test_without_the_sign_of_life_there_is_no_verdict(broken: dict[str, Any]) -> None:
    with pytest.raises(NoVerdict):
        verdict(broken, LIMITS)


def test_a_long_trial_that_passed_has_passed() -> None:
    """When the tests are done the program is killed, perhaps just below its limit."""
    killed = report(READY, PASSED, exit=-signal.SIGKILL, cpu=2.99)
    assert verdict(killed, LIMITS).passed
    killed = report(READY, {"status": "crashed"}, exit=-signal.SIGKILL, cpu=2.99)
    assert verdict(killed, LIMITS).status == "timed_out"
    killed = report(READY, {"status": "crashed"}, exit=-signal.SIGKILL, cpu=0.1)
    assert verdict(killed, LIMITS).status == "crashed"


@pytest.mark.parametrize("message", [{}, {"status": "perfect"}, {"status": ["passed"]}, "passed"])
def test_what_is_no_verdict_never_passes(message: Any) -> None:
    assert verdict(report(READY, message), LIMITS).status == "crashed"


@pytest.mark.parametrize(
    ("cpu", "delay", "is_starved"),
    [(0.5, 5.0, True), (0.0, 0.2, False), (2.0, 4.0, False), (1.4, 2.9, False), (1.4, 3.1, True)],
)
def test_a_trial_that_others_kept_waiting(cpu: float, delay: float, is_starved: bool) -> None:
    late = report(READY, timed_out=True, waited={"cpu": cpu, "delay": delay})
    if is_starved:
        with pytest.raises(Starved, match="for a processor"):
            verdict(late, LIMITS)
        with pytest.raises(Starved):
            finished(late, LIMITS)
    else:
        assert verdict(late, LIMITS).status == "timed_out"
        assert finished(late, LIMITS).timed_out


def test_a_command_that_is_killed_for_its_time() -> None:
    """Its first process lives, and reports the signal as shells do."""
    assert finished(report(READY, exit=137, cpu=2.9), LIMITS).timed_out
    assert not finished(report(READY, exit=137, cpu=0.1), LIMITS).timed_out


def test_where_the_kernel_does_not_say_who_waited() -> None:
    assert verdict(report(READY, timed_out=True), LIMITS).status == "timed_out"


def test_programs_that_do_not_compile() -> None:
    ended = finished(report(READY, {"did_not_compile": "SyntaxError"}, exit=1), LIMITS)
    assert (ended.compiled, ended.stderr) == (False, "SyntaxError")
    assert finished(report(READY, stdout="\xc3\xa9\xff"), LIMITS).stdout == "é\ufffd"
