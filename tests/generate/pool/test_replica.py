"""One address of several: how long it takes, and when it may be asked."""

import asyncio
from collections.abc import Sequence

import pytest

from passband.generate.pool.pool import Replica
from passband.generate.provider import Completion, Message, Provider, Request, Sampling, Unavailable

ASKED = Request((Message("user", "2 + 2?"),), Sampling())


class Server(Provider):
    """A provider that takes its time, by a clock of its own."""

    batch, address = 1, "http://a/v1"

    def __init__(self) -> None:
        self.now, self.seconds = 0.0, 1.0

    def clock(self) -> float:
        return self.now

    async def generate(self, request: Request) -> Sequence[Completion]:
        self.now += self.seconds
        return [Completion("4")]

    async def close(self) -> None:
        """Nothing is open."""


def answered(server: Server, replica: Replica, *seconds: float) -> float:
    for server.seconds in seconds:
        asyncio.run(_ask(replica))
    assert replica.seconds is not None
    return replica.seconds


async def _ask(replica: Replica) -> None:
    await replica.generate(ASKED)


def test_first_answers_are_averaged_and_later_ones_change_the_average_slowly() -> None:
    server = Server()
    replica = Replica(server, server.clock)
    assert answered(server, replica, 1.0, 2.0, 3.0) == pytest.approx(2.0)
    assert answered(server, replica, *[2.0] * 97) == pytest.approx(2.0)
    assert answered(server, replica, 12.0) == pytest.approx(2.2)


def test_an_idle_address_is_the_least_busy() -> None:
    server = Server()
    replica = Replica(server, server.clock)
    answered(server, replica, 60.0)
    assert replica.burden == 0.0
    replica.in_flight = 1
    assert replica.burden > 60.0


def test_failures_that_come_together_make_one_rest() -> None:
    server = Server()
    replica = Replica(server, server.clock)
    for _ in range(20):
        replica.fail(Unavailable("connection refused", everyone=True))
    assert replica.rest_left == 0.5
    server.now += 0.5
    assert replica.is_awake


def test_an_answer_ends_the_growth_of_rests() -> None:
    server = Server()
    replica = Replica(server, server.clock)
    for _ in range(5):
        replica.fail(Unavailable("connection refused", everyone=True))
        server.now += replica.rest_left
    answered(server, replica, 1.0)
    replica.fail(Unavailable("connection refused", everyone=True))
    assert replica.rest_left == 0.5


def test_a_wait_of_nothing_that_did_not_help_is_lengthened() -> None:
    server = Server()
    replica = Replica(server, server.clock)
    replica.rest(0.0)
    assert replica.rest_left == 0.0
    replica.rest(0.0)
    assert replica.rest_left == 1.0
