"""Pauses, the breaker and stopping, by a clock of our own."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from passband.generate.provider import RateLimited, Unavailable
from passband.run.loop.endpoint import Endpoint, Outage, Stopping
from passband.run.settings import Patience

PATIENCE = Patience(first_pause=1.0, failures=3, outage=100.0)
DOWN = Unavailable("refused", everyone=True)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def with_endpoint(act: Callable[[Endpoint, Clock], Awaitable[None]]) -> None:
    async def run() -> None:
        clock = Clock()
        endpoint = Endpoint(PATIENCE, clock=clock)
        real = endpoint.sleep

        async def sleep(seconds: float) -> None:
            clock.now += seconds
            await real(0.0)

        endpoint.sleep = sleep  # type: ignore[method-assign]
        await act(endpoint, clock)

    asyncio.run(run())


def limited(seconds: float | None) -> RateLimited:
    return RateLimited("slow down", retry_after=seconds)


def test_a_request_may_go_at_once() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        await endpoint.ready()
        assert clock.now == 1000.0
        assert endpoint.is_clear
        assert not endpoint.is_down

    with_endpoint(act)


def test_a_pause_is_as_long_as_asked_and_a_little_longer() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        endpoint.limited(limited(20.0))
        assert endpoint.paused_for == 20.0
        assert not endpoint.is_clear
        await endpoint.ready()
        assert 1020.0 <= clock.now <= 1023.0

    with_endpoint(act)


def test_the_longest_pause_holds() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        endpoint.limited(limited(20.0))
        endpoint.limited(limited(5.0))
        assert endpoint.paused_for == 20.0

    with_endpoint(act)


def test_without_a_time_pauses_double_until_an_answer() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        pauses = []
        for _ in range(7):
            endpoint.limited(limited(None))
            pauses.append(endpoint.paused_for)
            clock.now += endpoint.paused_for
        assert pauses == [1, 2, 4, 8, 16, 32, 37]  # the last fits into what is left
        endpoint.succeeded()
        endpoint.limited(limited(None))
        assert endpoint.paused_for == 1.0

    with_endpoint(act)


def test_many_limits_at_once_are_one() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(64):
            endpoint.limited(limited(None))
        assert endpoint.paused_for <= 2.0

    with_endpoint(act)


def test_no_time_at_all_is_believed_once() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        pauses = []
        for _ in range(6):
            endpoint.limited(limited(0.0))
            pauses.append(endpoint.paused_for)
            clock.now += endpoint.paused_for
        assert pauses == [0, 2, 4, 5, 5, 5]

    with_endpoint(act)


def test_failures_in_a_row_open_it_and_an_answer_closes_it() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        endpoint.failed(DOWN)
        endpoint.failed(DOWN)
        endpoint.succeeded()
        endpoint.failed(DOWN)
        endpoint.failed(DOWN)
        assert not endpoint.is_down
        endpoint.failed(DOWN)
        assert endpoint.is_down
        assert endpoint.paused_for == 1.0
        endpoint.succeeded()
        assert not endpoint.is_down
        assert endpoint.is_clear

    with_endpoint(act)


def test_while_open_one_probe_goes_at_a_time() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(3):
            endpoint.failed(DOWN)
        clock.now += 10
        await endpoint.ready()  # the probe
        waiting = [asyncio.ensure_future(endpoint.ready()) for _ in range(5)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        endpoint.failed(DOWN)  # the next one may try
        for _ in range(20):
            await asyncio.sleep(0)
        assert sum(task.done() for task in waiting) == 1
        endpoint.succeeded()
        await asyncio.gather(*waiting)

    with_endpoint(act)


def test_a_probe_that_ends_without_telling_lets_another_go() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(3):
            endpoint.failed(DOWN)
        clock.now += 10
        await endpoint.ready()
        waiting = asyncio.ensure_future(endpoint.ready())
        await asyncio.sleep(0)
        endpoint.released()
        await asyncio.wait_for(waiting, 5)

    with_endpoint(act)


def test_pauses_between_probes_double_whatever_failed_together() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(64):
            endpoint.failed(DOWN)
        pauses = [endpoint.paused_for]
        for _ in range(6):
            clock.now += endpoint.paused_for
            endpoint.failed(DOWN)
            pauses.append(endpoint.paused_for)
        assert pauses == [1, 2, 4, 8, 16, 30, 30]

    with_endpoint(act)


def test_an_outage_ends_the_run() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(3):
            endpoint.failed(DOWN)
        clock.now += 100.0
        endpoint.failed(DOWN)
        clock.now += 1.0
        with pytest.raises(Outage, match=r"down for 101 s\. Last: refused"):
            endpoint.failed(DOWN)

    with_endpoint(act)


def test_an_outage_begins_with_the_last_answer() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(5):
            for _ in range(5):
                endpoint.failed(DOWN)
            clock.now += 90.0
            endpoint.succeeded()

    with_endpoint(act)


def test_rate_limits_without_an_answer_are_an_outage() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        async def again() -> None:
            while True:
                await endpoint.ready()
                endpoint.limited(limited(None))

        with pytest.raises(Outage, match=r"turned every request away for 1\d\d s.*same command"):
            await again()
        assert clock.now <= 1000.0 + 100.0 + 30.0

    with_endpoint(act)


def test_rate_limits_between_answers_are_none() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(10):
            endpoint.limited(limited(90.0))
            await endpoint.ready()
            endpoint.succeeded()

    with_endpoint(act)


def test_replies_that_are_no_answers_end_the_silence() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        for _ in range(5):
            endpoint.limited(limited(60.0))
            await endpoint.ready()
            endpoint.heard()

    with_endpoint(act)


def test_a_longer_wait_than_is_left_ends_the_run_at_once() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        endpoint.limited(limited(60.0))
        await endpoint.ready()
        with pytest.raises(Outage, match=r"until \d\d:\d\d \(60 s\), longer than --max-outage"):
            endpoint.limited(limited(60.0))
        with pytest.raises(Outage, match=r"until \d{4}-\d\d-\d\d \d\d:\d\d \(86400 s\)"):
            endpoint.limited(limited(86400.0))
        assert clock.now < 1070.0

    with_endpoint(act)


def test_limits_and_failures_in_turn_are_one_outage() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        endpoint.limited(limited(None))
        clock.now += 60.0
        endpoint.failed(DOWN)
        clock.now += 60.0
        with pytest.raises(Outage, match="down for 120 s"):
            endpoint.failed(DOWN)

    with_endpoint(act)


def test_a_few_failures_over_a_long_time_are_an_outage_too() -> None:
    async def act(endpoint: Endpoint, clock: Clock) -> None:
        endpoint.failed(DOWN)
        clock.now += 101.0
        with pytest.raises(Outage):
            endpoint.failed(DOWN)  # the second, where the third would open the breaker

    with_endpoint(act)


def test_stopping_wakes_everybody() -> None:
    async def run() -> None:
        endpoint = Endpoint(Patience(outage=999.0))
        endpoint.limited(limited(999.0))
        paused = asyncio.ensure_future(endpoint.ready())
        asleep = asyncio.ensure_future(endpoint.sleep(999.0))
        down = Endpoint(Patience(failures=1, first_pause=0.0))
        down.failed(DOWN)
        await down.ready()
        behind_probe = asyncio.ensure_future(down.ready())
        await asyncio.sleep(0)
        endpoint.stop()
        down.stop()
        ended = await asyncio.wait_for(
            asyncio.gather(paused, asleep, behind_probe, return_exceptions=True), 5
        )
        assert [type(error) for error in ended] == [Stopping] * 3
        for late in (endpoint.ready(), endpoint.sleep(0.0)):
            with pytest.raises(Stopping):
                await late
        assert not endpoint.is_clear

    asyncio.run(run())
