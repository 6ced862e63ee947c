"""Attempts at one request: what is waited for, what is given up, and what ends the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from passband.generate.inspect.provider_api import PatientProvider
from passband.generate.provider import (
    Completion,
    Crashed,
    GaveUp,
    Hopeless,
    InvalidReply,
    Provider,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
    Unfinished,
)
from support.runs.watched import Clock

REQUEST = Request((), Sampling())


class Scripted(Provider):
    """A provider that fails in turn with what it is given, then answers."""

    batch = 1

    def __init__(self, *faults: ProviderFault | None) -> None:
        self.faults = list(faults)
        self.calls = 0

    async def generate(self, request: Request) -> list[Completion]:
        self.calls += 1
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        return [Completion("yes")]

    async def close(self) -> None:
        pass


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(1000.0)
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def asked(clock: Clock, provider: Scripted, times: int = 1) -> Sequence[str | None]:
    async def sleep(seconds: float) -> None:
        clock.now += seconds

    async def ask() -> list[str | None]:
        patient = PatientProvider(provider, sleep)
        return [(await patient.generate(REQUEST)).text for _ in range(times)]

    return asyncio.run(ask())


def test_an_answer_that_may_be_incomplete_is_asked_for_once_more(clock: Clock) -> None:
    once = Unfinished("no reason", [Completion("half", "unknown")])
    provider = Scripted(once)
    assert asked(clock, provider) == ["yes"]
    provider = Scripted(once, once)
    assert asked(clock, provider) == ["half"]
    assert provider.calls == 2


def test_a_rate_limit_is_waited_for_as_often_as_it_comes(clock: Clock) -> None:
    provider = Scripted(*[RateLimited("slow down", retry_after=60.0) for _ in range(9)])
    assert asked(clock, provider) == ["yes"]
    assert provider.calls == 10
    assert clock.now >= 1000 + 9 * 60


def test_a_rate_limit_without_end_ends_the_run(clock: Clock) -> None:
    endless = [RateLimited("slow down") for _ in range(1000)]
    with pytest.raises(Hopeless, match=r"turned every request away for 6\d\d s"):
        asked(clock, Scripted(*endless))
    with pytest.raises(Hopeless, match=r"until .* \(601 s\), longer than --max-outage"):
        asked(clock, Scripted(RateLimited("tomorrow", retry_after=601.0)))


@pytest.mark.parametrize(
    ("fault", "calls", "kind"),
    [
        (Unavailable("HTTP 500", http=500), 5, GaveUp),
        (TimedOut("late"), 3, GaveUp),
        (Crashed("broken"), 3, GaveUp),
        (InvalidReply("not JSON"), 3, Rejected),
    ],
)
def test_a_request_that_fails_is_given_up(
    clock: Clock, fault: ProviderFault, calls: int, kind: type[ProviderFault]
) -> None:
    provider = Scripted(*[fault] * calls)
    with pytest.raises(kind, match=fault.detail):
        asked(clock, provider)
    assert provider.calls == calls
    assert asked(clock, Scripted(*[fault] * (calls - 1))) == ["yes"]


@pytest.mark.parametrize("fault", [Hopeless("HTTP 401"), Rejected("HTTP 400")])
def test_what_will_never_be_answered_is_not_repeated(clock: Clock, fault: ProviderFault) -> None:
    provider = Scripted(fault)
    with pytest.raises(type(fault)):
        asked(clock, provider)
    assert provider.calls == 1


def test_a_server_that_was_never_reached_ends_the_run(clock: Clock) -> None:
    with pytest.raises(Hopeless, match="cannot be reached: refused"):
        asked(clock, Scripted(Unavailable("refused", everyone=True)))


def test_a_server_that_goes_down_is_waited_for_and_then_ends_the_run(clock: Clock) -> None:
    down = [Unavailable("refused", everyone=True) for _ in range(10)]
    assert asked(clock, Scripted(None, *down), times=2) == ["yes", "yes"]
    with pytest.raises(Hopeless, match=r"has been down for 6\d\d s"):
        asked(clock, Scripted(None, *down * 100), times=2)


# --- several addresses -----------------------------------------------------------------------


def elsewhere(fault: ProviderFault) -> ProviderFault:
    """A fault of one address, where another can be asked."""
    fault.elsewhere = True
    return fault


@pytest.mark.parametrize(
    "fault",
    [
        RateLimited("slow down", retry_after=60.0),
        Unavailable("refused", everyone=True),
        Unavailable("HTTP 500"),
    ],
)
def test_what_another_address_may_answer_waits_for_nothing(
    clock: Clock, fault: ProviderFault
) -> None:
    began = clock.now
    provider = Scripted(elsewhere(fault))
    assert asked(clock, provider) == ["yes"]
    assert clock.now == began


def test_a_request_that_fails_everywhere_is_given_up(clock: Clock) -> None:
    faults = [elsewhere(Unavailable("HTTP 500")) for _ in range(5)]
    with pytest.raises(GaveUp):
        asked(clock, Scripted(*faults))
