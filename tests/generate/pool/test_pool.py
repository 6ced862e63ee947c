"""One model at several addresses: who is asked, who rests, and what is said of it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.pool.pool import Pool
from passband.generate.provider import (
    Completion,
    Finish,
    Hopeless,
    InvalidReply,
    Message,
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
from passband.generate.registry import Connection, make_provider
from passband.generate.servers.models_endpoint import ServedModel


def refused() -> Unavailable:
    return Unavailable("connection refused", everyone=True)


def asked(prompt: str = "2 + 2?", seed: int = 1) -> Request:
    return Request((Message("user", prompt),), Sampling(), (seed,))


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Server(Provider):
    """A provider that fails as a test says."""

    batch = 4
    finish: Finish = "stop"

    def __init__(self, name: str) -> None:
        self.address = f"http://{name}/v1"
        self.faults: list[ProviderFault] = []  # of the next requests
        self.asked = 0
        self.lists: Sequence[ServedModel] | None = None
        self.notes: list[str] = []
        self.held = asyncio.Event()
        self.held.set()

    async def generate(self, request: Request) -> Sequence[Completion]:
        self.asked += 1
        await self.held.wait()
        if self.faults:
            raise self.faults.pop(0)
        return [Completion(self.address, self.finish)]

    async def served(self) -> Sequence[ServedModel] | None:
        return self.lists

    async def close(self) -> None:
        self.faults.clear()


class Site:
    """A pool of two addresses, a and b."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.a, self.b = Server("a"), Server("b")
        self.pool = Pool("policy", [self.a, self.b], clock=self.clock)

    def ask(self, request: Request | None = None) -> str | None:
        """Return who answered."""
        (completion,) = asyncio.run(self._ask(request or asked()))
        return completion.text

    async def _ask(self, request: Request) -> Sequence[Completion]:
        return await self.pool.generate(request)

    def fault(self, request: Request | None = None) -> ProviderFault:
        with pytest.raises(ProviderFault) as caught:
            self.ask(request)
        return caught.value


# --- who is asked ----------------------------------------------------------------------------


def test_requests_in_flight_are_shared() -> None:
    async def play() -> tuple[int, int]:
        site = Site()
        site.a.held.clear()
        site.b.held.clear()
        under_way = [asyncio.ensure_future(site.pool.generate(asked())) for _ in range(10)]
        while site.a.asked + site.b.asked < 10:
            await asyncio.sleep(0)
        counts = site.a.asked, site.b.asked
        site.a.held.set()
        site.b.held.set()
        await asyncio.gather(*under_way)
        return counts

    assert asyncio.run(play()) == (5, 5)


def test_a_faster_address_gets_more() -> None:
    async def play() -> tuple[int, int]:
        site = Site()
        for replica, seconds in zip(site.pool.replicas, (1.0, 2.0), strict=True):
            replica.seconds = seconds
        site.a.held.clear()
        site.b.held.clear()
        under_way = [asyncio.ensure_future(site.pool.generate(asked())) for _ in range(20)]
        while site.a.asked + site.b.asked < 20:
            await asyncio.sleep(0)
        counts = site.a.asked, site.b.asked
        site.a.held.set()
        site.b.held.set()
        await asyncio.gather(*under_way)
        return counts

    fast, slow = asyncio.run(play())
    assert fast > 2 * slow > 0


# --- who rests -------------------------------------------------------------------------------


def test_an_address_that_is_down_rests_and_the_other_is_asked_at_once() -> None:
    site = Site()
    site.a.faults = [refused()]
    fault = site.fault()
    assert fault.elsewhere
    assert "http://a/v1: connection refused" in fault.detail
    assert {site.ask() for _ in range(5)} == {"http://b/v1"}
    assert site.pool.notes == [
        "http://a/v1: connection refused. Its requests go to the other addresses meanwhile."
    ]


def test_after_its_rest_an_address_is_tried_again() -> None:
    site = Site()
    site.a.faults = [refused()]
    site.fault()
    site.ask()
    site.clock.now += 1.0
    assert site.ask() == "http://a/v1"
    assert site.pool.notes[-1] == "http://a/v1 answers again."


def test_rests_grow_while_it_stays_down() -> None:
    site = Site()
    rests = []
    for _ in range(8):
        site.a.faults = [refused()]
        site.fault()
        rests.append(site.pool.replicas[0].rest_left)
        site.clock.now += rests[-1]
    assert rests[:3] == [0.5, 1.0, 2.0]
    assert rests[-1] == 30.0


def test_one_request_alone_tries_an_address_that_was_down() -> None:
    async def play() -> int:
        site = Site()
        site.a.faults = [refused()]
        with pytest.raises(Unavailable):
            await site.pool.generate(asked())
        site.clock.now += 1.0
        site.a.held.clear()
        under_way = [asyncio.ensure_future(site.pool.generate(asked())) for _ in range(6)]
        while site.a.asked + site.b.asked < 7:
            await asyncio.sleep(0)
        probes = site.a.asked - 1
        site.a.held.set()
        await asyncio.gather(*under_way)
        return probes

    assert asyncio.run(play()) == 1


def test_a_rate_limit_rests_one_address() -> None:
    site = Site()
    site.a.faults = [RateLimited("slow down", retry_after=7.0)]
    assert site.fault().elsewhere
    assert {site.ask() for _ in range(3)} == {"http://b/v1"}
    site.clock.now += 6.9
    assert site.ask() == "http://b/v1"
    site.clock.now += 0.2
    assert site.ask() == "http://a/v1"
    assert site.pool.notes == []  # as the server asked


def test_where_all_are_limited_the_first_to_end_counts() -> None:
    site = Site()
    site.a.faults = [RateLimited("slow down", retry_after=7.0)]
    site.b.faults = [RateLimited("slow down", retry_after=60.0)]
    site.fault()
    site.clock.now += 2.0
    fault = site.fault()
    assert isinstance(fault, RateLimited)
    assert not fault.elsewhere
    assert fault.retry_after == 5.0
    assert site.ask() == "http://a/v1"  # the caller has waited


def test_where_all_are_down_the_fault_is_of_the_model() -> None:
    site = Site()
    site.a.faults = [refused()]
    site.b.faults = [refused()]
    assert site.fault().elsewhere
    assert not site.fault().elsewhere


@pytest.mark.parametrize("kind", [Unavailable, TimedOut, InvalidReply])
def test_what_may_be_the_fault_of_a_request_is_tried_elsewhere(
    kind: Callable[[str], ProviderFault],
) -> None:
    site, request = Site(), asked()
    site.a.faults = [kind("odd")]
    assert site.fault(request).elsewhere
    assert site.ask(request) == "http://b/v1"
    assert site.ask(asked("another")) == "http://a/v1"  # it does not rest for one failure


def test_three_failures_in_a_row_are_the_fault_of_the_address() -> None:
    site = Site()
    for number in range(3):
        site.a.faults = [Unavailable("HTTP 500")]
        site.fault(asked(str(number)))
    assert {site.ask() for _ in range(4)} == {"http://b/v1"}


@pytest.mark.parametrize("fault", [Hopeless("wrong key"), Rejected("no"), Unfinished("cut", [])])
def test_what_every_address_would_say_is_final(fault: ProviderFault) -> None:
    site = Site()
    site.a.faults = [fault]
    assert not site.fault().elsewhere
    assert site.ask() == "http://a/v1"


# --- one model -------------------------------------------------------------------------------


def test_addresses_of_different_models_are_refused_before_anything_is_asked() -> None:
    site = Site()
    site.a.lists, site.b.lists = (ServedModel("policy"),), (ServedModel("critic"),)
    with pytest.raises(InvalidInput, match="serve different models") as error:
        site.ask()
    assert "http://b/v1 has critic" in str(error.value)
    assert site.a.asked == site.b.asked == 0


def test_an_address_that_comes_back_as_another_model_is_refused() -> None:
    site = Site()
    site.a.lists = site.b.lists = (ServedModel("policy"),)
    site.ask()
    site.a.faults = [refused()]
    site.fault()
    site.a.lists = (ServedModel("critic"),)
    site.clock.now += 1.0
    with pytest.raises(InvalidInput, match="serve different models"):
        site.ask()


def test_other_weights_under_the_same_name_are_noted() -> None:
    site = Site()
    site.a.lists = (ServedModel("policy", "/step100"),)
    site.b.lists = (ServedModel("policy", "/step200"),)
    site.ask()
    (note,) = site.pool.notes
    assert "/step100 (http://a/v1), /step200 (http://b/v1)" in note


# --- what it says of itself ------------------------------------------------------------------


def test_a_pool_speaks_for_its_addresses() -> None:
    site = Site()
    site.a.notes = site.b.notes = ["max_tokens is sent as max_completion_tokens"]
    assert site.pool.address == "http://a/v1, http://b/v1"
    assert site.pool.batch == 4
    assert site.pool.notes == ["max_tokens is sent as max_completion_tokens"]
    assert site.pool.config == {}


def options(*urls: str) -> dict[str, Any]:
    return {"connection": Connection(base_url=urls)}


def test_several_addresses_make_a_pool() -> None:
    made = make_provider("openai:policy", **options("http://a/v1", "http://b/v1"))
    assert isinstance(made, Pool)
    assert made.address == "http://a/v1, http://b/v1"
    assert made.ignored(Sampling(), seeds=False) == []
    asyncio.run(made.close())


def test_one_address_in_a_list_is_one_address() -> None:
    made = make_provider("policy", **options("http://a/v1"))
    assert getattr(made, "address", None) == "http://a/v1"
    assert not isinstance(made, Pool)


def test_an_address_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="names http://a/v1 2 times"):
        make_provider("openai:policy", **options("http://a/v1", "http://A:80/v1/"))


def test_a_model_without_an_address_takes_none() -> None:
    with pytest.raises(InvalidInput, match="tiny has no address"):
        make_provider("tiny", **options("http://a/v1", "http://b/v1"))


# --- what they answer ------------------------------------------------------------------------


@pytest.mark.parametrize(("at_b", "count"), [("length", 1), ("stop", 0)])
def test_an_address_whose_answers_are_unusable_is_named(at_b: Finish, count: int) -> None:
    async def play() -> list[str]:
        site = Site()
        site.b.finish = at_b
        await asyncio.gather(*(site.pool.generate(asked(seed=n)) for n in range(60)))
        return site.pool.notes

    told = [note for note in asyncio.run(play()) if "cut off" in note]
    assert len(told) == count
    assert all(note.startswith("http://b/v1: most answers are") for note in told)
