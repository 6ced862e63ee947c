"""One model at several addresses, which share its requests.

A request goes to the least busy address. An address that fails rests, and what
failed there goes to another address at once. Which address answers changes nothing else: seeds,
sampling and records are those of the model.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from passband.errors import InvalidInput
from passband.generate.pool.replica import Replica
from passband.generate.pool.same_model import differing_sources, refuse_other_models
from passband.generate.provider import (
    Completion,
    Crashed,
    InvalidReply,
    Provider,
    ProviderFault,
    RateLimited,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
    Unfinished,
)

_COMPARED = 20  # completions of an address and of the others, from which on they are compared
_COUNTS = ("completions", "unusable")
_FAILED = (Unavailable, TimedOut, InvalidReply, Crashed)  # another address may do better


class Pool:
    """A provider that spreads requests over the addresses of one model."""

    def __init__(
        self,
        model: str,
        providers: Sequence[Provider],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self.replicas = [Replica(provider, clock) for provider in providers]
        self.address = ", ".join(replica.address for replica in self.replicas)
        self.batch = min(provider.batch for provider in providers)
        self.one_seed: bool = getattr(providers[0], "one_seed", False)
        self._notes: list[str] = []
        self._odd: dict[str, str] = {}  # what was noted of the answers of an address
        self._failed_at: dict[object, Replica] = {}  # the last address, by request
        self._listing: asyncio.Task[None] | None = None
        _refuse_twice(replica.address for replica in self.replicas)

    # -- what a provider may say of itself ---------------------------------------------------

    @property
    def spec(self) -> Mapping[str, Any]:
        """What answers depend on beyond the model's name."""
        return getattr(self.replicas[0].provider, "spec", {})

    @property
    def config(self) -> dict[str, Any]:
        """How requests differ from what the settings say, at any address."""
        configs = [getattr(replica.provider, "config", {}) for replica in self.replicas]
        return {name: value for config in configs for name, value in config.items()}

    @property
    def notes(self) -> list[str]:
        """What the user should know about the requests so far."""
        of_addresses = [getattr(replica.provider, "notes", []) for replica in self.replicas]
        return list(
            dict.fromkeys([*self._notes, *(text for notes in of_addresses for text in notes)])
        )

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        """Return what is known to have no effect of the settings of a request, at any address."""
        several = [getattr(replica.provider, "ignored", None) for replica in self.replicas]
        texts = [text for one in several if one for text in one(sampling, seeds=seeds)]
        return list(dict.fromkeys(texts))

    # -- requests ----------------------------------------------------------------------------

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt at one address; a fault says whether another may be asked at once."""
        replica = self._choose(request)
        replica.in_flight += 1
        try:
            if not replica.is_listed:
                await self._compare()
            completions = await replica.generate(request)
        except ProviderFault as fault:
            self._judge(replica, request, fault)
            raise
        finally:
            replica.in_flight -= 1
        self._compare_answers(replica)
        if replica.trouble:
            replica.trouble = ""
            self._note(f"{replica.address} answers again.")
        return completions

    def _choose(self, request: Request) -> Replica:
        """Return the least busy address; not the one that just failed this request."""
        awake = [replica for replica in self.replicas if replica.is_awake]
        if not awake:  # the caller has waited already
            return min(self.replicas, key=lambda replica: replica.rest_left)
        if self._failed_at:
            failed = self._failed_at.pop(_key(request), None)
            awake = [replica for replica in awake if replica is not failed] or awake
        if all(replica.seconds is not None for replica in awake):
            return min(awake, key=lambda replica: replica.burden)
        return min(awake, key=lambda replica: replica.in_flight)

    def _judge(self, replica: Replica, request: Request, fault: ProviderFault) -> None:
        """Let an address rest that failed, and say whether another can be asked at once."""
        fault.detail = f"{replica.address}: {fault.detail}"
        others, before = [one for one in self.replicas if one is not replica], replica.trouble
        if isinstance(fault, RateLimited):
            replica.rest(fault.retry_after)
            if fault.retry_after is not None:  # the next request goes where the rest ends first
                fault.retry_after = min(one.rest_left for one in self.replicas)
        elif isinstance(fault, _FAILED) and not isinstance(fault, Unfinished):
            replica.fail(fault)
            self._failed_at[_key(request)] = replica
        else:
            replica.heard()
            return
        fault.elsewhere = any(one.is_awake for one in others)
        if fault.elsewhere and replica.trouble and not before:
            self._note(f"{replica.trouble}. Its requests go to the other addresses meanwhile.")

    # -- one model ---------------------------------------------------------------------------

    async def _compare(self) -> None:
        """Compare what addresses serve that have not been asked since they came up."""
        if self._listing is None or self._listing.done():
            self._listing = asyncio.ensure_future(self._list())
        await asyncio.wait({self._listing})
        self._listing.result()

    async def _list(self) -> None:
        new = [one for one in self.replicas if not one.is_listed and not one.rest_left]
        await asyncio.gather(*(replica.list_models() for replica in new))
        lists = {one.address: one.served for one in self.replicas if one.served is not None}
        refuse_other_models(self._model, lists)
        if (text := differing_sources(self._model, lists)) is not None:
            self._note(text)

    def _compare_answers(self, replica: Replica) -> None:
        """Note an address whose answers are mostly unusable, where those of others are not."""
        others = [one for one in self.replicas if one is not replica]
        count, unusable = (sum(getattr(one, n) for one in others) for n in _COUNTS)
        is_enough = min(replica.completions, count) >= _COMPARED
        if is_enough and 2 * replica.unusable > replica.completions and 10 * unusable < count:
            self._odd.setdefault(
                replica.address,
                f"{replica.address}: most answers are empty, cut off or refused "
                f"({replica.unusable} of the first {replica.completions}), and those of the other "
                "addresses are not: it may serve another model, or with other limits. Which "
                "address gave a trial is not recorded; leave it out and start anew with --out.",
            )
            self._note(self._odd[replica.address])

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)

    # -- ending ------------------------------------------------------------------------------

    async def reset(self) -> None:
        """Drop every connection: a sleep of the machine has left them dead."""
        for replica in self.replicas:
            reset: Callable[[], Awaitable[None]] | None = getattr(replica.provider, "reset", None)
            if reset is not None:
                await reset()

    async def close(self) -> None:
        for replica in self.replicas:
            await replica.provider.close()


def _key(request: Request) -> object:
    """Return what tells a request from others under way; prompts are long, so by identity."""
    return id(request.messages), request.seeds


def _refuse_twice(addresses: Iterable[str]) -> None:
    for address, count in Counter(addresses).items():
        if count > 1:
            raise InvalidInput(f"--base-url names {address} {count} times; name each address once.")
