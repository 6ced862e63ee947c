"""Threads whose calls hang: they are replaced, and cost no other call."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from passband.generate.function import DeadlinePassed, Threads
from passband.generate.provider import Hopeless

pytestmark = pytest.mark.filterwarnings("ignore:a call of the model's function is late")
SOON = 0.05  # seconds until a call that hangs is late


@pytest.fixture
def hang() -> Iterator[Callable[[], None]]:
    """A call that returns when the test is over."""
    release = threading.Event()
    yield lambda: release.wait(60) and None
    release.set()


async def results(threads: Threads, *calls: tuple[Callable[[], Any], float]) -> list[Any]:
    made = [threads.run(call, timeout) for call, timeout in calls]
    try:
        return await asyncio.gather(*made, return_exceptions=True)
    finally:
        threads.close()


def test_calls_that_wait_for_a_thread_are_not_late(hang: Callable[[], None]) -> None:
    calls: list[Any] = [(hang, SOON)] * 3 + [(lambda: "here", 60.0)] * 9
    made = asyncio.run(results(Threads(1), *calls))
    assert [type(late) for late in made[:3]] == [DeadlinePassed] * 3
    assert made[3:] == ["here"] * 9


def test_too_many_that_hang_end_it_and_fail_what_waits(hang: Callable[[], None]) -> None:
    calls: list[Any] = [(hang, SOON)] * 3 + [(lambda: "here", 60.0)] * 2
    threads = Threads(1, most_hung=2)
    *late, third, fourth, fifth = asyncio.run(results(threads, *calls))
    assert [type(one) for one in late] == [DeadlinePassed] * 2
    for failed in (third, fourth, fifth):
        assert isinstance(failed, Hopeless)
        assert "2 calls of the model's function have not returned" in str(failed)


def test_after_too_many_no_call_is_made(hang: Callable[[], None]) -> None:
    async def ask() -> None:
        threads = Threads(1, most_hung=1)
        with pytest.raises(DeadlinePassed):
            await threads.run(hang, SOON)
        with pytest.raises(Hopeless):
            await threads.run(lambda: "here", 60.0)

    asyncio.run(ask())


def test_a_late_call_that_returns_makes_room_again() -> None:
    release = threading.Event()

    async def ask() -> str:
        threads = Threads(1, most_hung=1)
        with pytest.raises(DeadlinePassed):
            await threads.run(lambda: release.wait(60), SOON)
        release.set()
        while True:
            try:
                return str(await threads.run(lambda: "here", 60.0))
            except Hopeless:
                await asyncio.sleep(0)

    assert asyncio.run(ask()) == "here"


def test_no_thread_to_be_had_fails_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def ask() -> None:
        with pytest.raises(Hopeless):
            await Threads(1).run(lambda: "here", 60.0)

    monkeypatch.setattr(threading.Thread, "start", start)
    asyncio.run(ask())


@pytest.mark.filterwarnings("error")
def test_it_is_said_once(hang: Callable[[], None]) -> None:
    async def ask() -> None:
        threads = Threads(1)
        with pytest.warns(UserWarning, match="cannot be stopped"), pytest.raises(DeadlinePassed):
            await threads.run(hang, SOON)
        with pytest.raises(DeadlinePassed):
            await threads.run(hang, SOON)

    asyncio.run(ask())
