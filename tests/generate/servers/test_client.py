"""Deadlines: one timer for many requests, and nobody else's cancellation is lost."""

import asyncio
from collections.abc import Awaitable

import pytest

from passband.generate.servers.client import Deadlines


def test_what_takes_too_long_is_cancelled_and_what_does_not_is_not() -> None:
    async def main() -> tuple[str, str]:
        deadlines = Deadlines(0.05)

        async def take(work: Awaitable[object]) -> str:
            try:
                with deadlines.start():
                    await work
            except asyncio.TimeoutError:
                return "late"
            return "in time"

        found = await asyncio.gather(take(asyncio.Event().wait()), take(asyncio.sleep(0)))
        deadlines.close()
        return found[0], found[1]

    assert asyncio.run(main()) == ("late", "in time")


def test_a_cancellation_that_comes_with_the_deadline_is_not_lost() -> None:
    async def main() -> bool:
        deadlines = Deadlines(30.0)

        async def work() -> None:
            with deadlines.start():
                await asyncio.Event().wait()

        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        (deadline,) = deadlines.inside
        task.cancel()
        deadline.expire()
        with pytest.raises((asyncio.CancelledError, asyncio.TimeoutError)):
            await task
        deadlines.close()
        return task.cancelled()

    if hasattr(asyncio.Task, "uncancel"):  # before Python 3.11 nobody can tell
        assert asyncio.run(main())
