"""Async functions that are late, that do not let themselves be cancelled, that block the loop."""

import asyncio

import pytest

from passband.generate import function
from passband.generate.function import Calls, DeadlinePassed, Heartbeat
from passband.system.event_loop import complete


async def stubborn() -> str:
    """Wait for ever, whatever happens."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


def test_a_coroutine_that_swallows_its_cancellation_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(function, "_GRACE", 0.01)

    async def ask() -> str:
        function = Calls(stubborn, timeout=0.01, threads=1)
        with pytest.raises(DeadlinePassed):
            await function.call()
        function.close()
        return "over"

    assert complete(ask()) == "over"  # which would never end while the task is known


def test_a_coroutine_that_ends_late_has_its_cleaning_up_done() -> None:
    cleaned = []

    async def careful() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async def ask() -> None:
        function = Calls(careful, timeout=0.01, threads=1)
        with pytest.raises(DeadlinePassed):
            await function.call()
        function.close()

    complete(ask())
    assert cleaned == [True]


class Standstill(Heartbeat):
    """A loop that stood still for a minute after the first look."""

    looks = 0

    @property
    def held(self) -> float:
        self.looks += 1
        return 60.0 * (self.looks > 1)

    @held.setter
    def held(self, seconds: float) -> None:
        pass


def test_time_in_which_the_loop_was_held_is_no_ones_fault() -> None:
    async def answer() -> str:
        while function._heartbeat.looks < 2:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        return "late"

    function = Calls(answer, timeout=0.01, threads=1)
    function._heartbeat = Standstill()
    assert complete(function.call()) == "late"
    function.close()


def test_a_loop_that_stands_still_is_said_once() -> None:
    heartbeat = Heartbeat()
    heartbeat.note(0.9)
    assert heartbeat.held == 0.0
    heartbeat.note(2.0)  # a busy machine
    with pytest.warns(UserWarning, match="stood still for 7 s"):
        heartbeat.note(7.0)
    heartbeat.note(9.0)
    assert heartbeat.held == 18.0


def test_a_heartbeat_starts_again_in_another_loop() -> None:
    heartbeat = Heartbeat()

    async def beat() -> None:
        heartbeat.start()
        await asyncio.sleep(0)

    complete(beat())
    complete(beat())
    heartbeat.stop()
