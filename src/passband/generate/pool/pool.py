"""One model at several addresses, which share its requests.

A request goes to the least busy address. An address that fails rests, and its requests go to
another address at once. Which address answers changes nothing else: seeds, sampling and records
are those of the model. Addresses whose lists of models differ are refused.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from passband.errors import InvalidInput
from passband.generate.provider import (
    Completion,
    Crashed,
    InvalidReply,
    JsonMapping,
    JsonObject,
    Provider,
    ProviderFault,
    RateLimited,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
    Unfinished,
)
from passband.generate.servers.models_endpoint import ServedModel

Lists = Mapping[str, Sequence[ServedModel]]
"""Models by address, of the addresses that give a list."""

_SHOWN = 3  # models of a list in a message


def refuse_other_models(model: str, lists: Lists) -> None:
    """Raise `InvalidInput` if lists show that not every address serves the model.

    Servers of a single model often take any name. Where no list has the name, addresses that serve
    one model each are compared with each other; longer lists tell nothing.

    >>> policy, other = (ServedModel("policy"),), (ServedModel("other"),)
    >>> refuse_other_models(  # doctest: +NORMALIZE_WHITESPACE
    ...     "policy", {"http://a/v1": policy, "http://b/v1": other}
    ... )
    Traceback (most recent call last):
    passband.errors.InvalidInput: the addresses of --base-url serve different models: http://a/v1
    has policy; http://b/v1 has other. The trials of a run come from one model; name the addresses
    of 'policy' alone.
    """
    has = {address: _entry(model, served) is not None for address, served in lists.items()}
    single = {served[0].name for served in lists.values() if len(served) == 1}
    if len(set(has.values())) == 2 or (not any(has.values()) and len(single) > 1):
        listed = "; ".join(f"{address} has {_names(served)}" for address, served in lists.items())
        raise InvalidInput(
            f"the addresses of --base-url serve different models: {listed}. The trials of a run "
            f"come from one model; name the addresses of {model!r} alone."
        )


def differing_sources(model: str, lists: Lists) -> str | None:
    """Return a note if servers loaded the model from different places, which may be other weights.

    >>> from textwrap import fill
    >>> lists = {a: (ServedModel("policy", r),) for a, r in (("A", "/step100"), ("B", "/step200"))}
    >>> print(fill(differing_sources("policy", lists), 96))
    the addresses loaded 'policy' from different places: /step100 (A), /step200 (B). If these are
    not the same weights, the trials are a mixture of two models.
    """
    entries = {address: _entry(model, served) for address, served in lists.items()}
    roots = {a: entry.root for a, entry in entries.items() if entry and entry.root}
    if len(set(roots.values())) < 2:
        return None
    places = ", ".join(f"{root} ({address})" for address, root in roots.items())
    return (
        f"the addresses loaded {model!r} from different places: {places}. If these are not the "
        "same weights, the trials are a mixture of two models."
    )


def _entry(model: str, served: Sequence[ServedModel]) -> ServedModel | None:
    """Return the model's entry in a list; Ollama lists `name` as `name:latest`."""
    return next((one for one in served if one.name in (model, f"{model}:latest")), None)


def _names(served: Sequence[ServedModel]) -> str:
    names = [one.name for one in served]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


_FAILURES = 3  # in a row, each perhaps the fault of its request, that mean the address is down
_POWER = 2.5  # of an answer's seconds, in how busy an address is
_FIRST_REST, _LONGEST_REST = 0.5, 30.0  # seconds; a rest doubles each time
_WEIGHT = 0.02  # of the newest answer in the average time; more for the first ones


class Replica:
    """A provider at one address, inferred from its replies to be awake or at rest.

    An address that fails rests, longer each time. After its rest one request at a time goes there,
    until one is answered.
    """

    def __init__(self, provider: Provider, clock: Callable[[], float] = time.monotonic) -> None:
        self.provider = provider
        self.address = provider.address or "an address without a name"
        self.in_flight = 0
        self.answered = 0
        self.completions = 0
        self.unusable = 0  # completions that are empty, cut off or refused
        self.seconds: float | None = None  # that an answer takes, on average over the last ones
        self.served: Sequence[ServedModel] | None = None  # what it says that it serves
        self.is_listed = False  # whether it was asked for that since it last came up
        self.trouble = ""  # why it gives no answers
        self._clock = clock
        self._failures = 0  # in a row
        self._rests = 0  # in a row
        self._wakes = 0.0

    # -- choosing ----------------------------------------------------------------------------

    @property
    def rest_left(self) -> float:
        """Seconds until it may be asked again; 0 if it may now."""
        return max(0.0, self._wakes - self._clock())

    @property
    def is_awake(self) -> bool:
        """Return whether a request may go here: one at a time if the last ones failed."""
        if self._rests and self.in_flight:
            return False
        return self.rest_left == 0

    @property
    def burden(self) -> float:
        """How busy it is: requests in flight, times a power of the seconds of an answer.

        Equal counts (power 0) use too little of a fast server that could take more, and equal waits
        (a high power) use nothing of a slow one while the fast one queues. 2.5 comes within a tenth
        of the best division in both cases (benchmarks/pool.py). An idle address is always worth a
        request: what is known of its speed may be out of date.
        """
        return (self.in_flight + 1) * (self.seconds or 0.0) ** _POWER if self.in_flight else 0.0

    # -- asking ------------------------------------------------------------------------------

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt here; it is in flight already."""
        start = self._clock()
        completions = await self.provider.generate(request)
        self._answer(self._clock() - start)
        self.completions += len(completions)
        self.unusable += sum(not one.text or one.finish != "stop" for one in completions)
        return completions

    async def list_models(self) -> None:
        """Ask what is served here, where the provider can."""
        self.is_listed = True
        self.served = await self.provider.served()

    def _answer(self, seconds: float) -> None:
        self.answered += 1
        self._failures = self._rests = 0
        before = self.seconds or 0.0
        self.seconds = before + max(_WEIGHT, 1 / self.answered) * (seconds - before)

    def heard(self) -> None:
        """Note a reply that is no answer, such as a rejection: the address is up."""
        self._failures = self._rests = 0

    # -- failing -----------------------------------------------------------------------------

    def fail(self, fault: ProviderFault) -> None:
        """Note that there was no answer; rest if the request cannot be to blame."""
        self._failures += 1
        is_down = isinstance(fault, Unavailable) and fault.everyone
        if is_down or self._failures >= _FAILURES:
            self.is_listed = False  # it may come back as another model
            self.trouble = fault.detail.rstrip(".")
            self.rest()

    def rest(self, seconds: float | None = None) -> None:
        """Take no requests for `seconds`, by default for longer each time."""
        if self.rest_left:  # one of many that failed together
            self._wakes = max(self._wakes, self._clock() + (seconds or 0.0))
            return
        own = min(_LONGEST_REST, _FIRST_REST * 2.0 ** min(self._rests, 20))
        if seconds is not None:  # unless that did not help before
            own = max(seconds, min(5.0, own) if self._rests else 0.0)
        self._rests += 1
        self._wakes = self._clock() + own


_COMPARED = 20  # completions of an address and of the others, from which on they are compared
_COUNTS = ("completions", "unusable")
_FAILED = (Unavailable, TimedOut, InvalidReply, Crashed)  # another address may do better


class Pool(Provider):
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
        self.one_seed = providers[0].one_seed
        self._notes: list[str] = []
        self._odd: dict[str, str] = {}  # what was noted of the answers of an address
        self._failed_at: dict[object, Replica] = {}  # the last address, by request
        self._listing: asyncio.Task[None] | None = None
        _refuse_twice(replica.address for replica in self.replicas)

    # -- what a provider may say of itself ---------------------------------------------------

    @cached_property
    def spec(self) -> JsonMapping:
        """Return what answers depend on beyond the model's name."""
        return self.replicas[0].provider.spec

    @property
    def config(self) -> JsonObject:
        """Return how requests differ from the settings, at any address."""
        configs = [replica.provider.config for replica in self.replicas]
        return {name: value for config in configs for name, value in config.items()}

    @property
    def notes(self) -> list[str]:
        """Return what the user should know about the requests so far."""
        texts = [text for replica in self.replicas for text in replica.provider.notes]
        return list(dict.fromkeys([*self._notes, *texts]))

    def ignored(self, sampling: Sampling, *, seeds: bool) -> list[str]:
        """Return sentences on settings that are known to have no effect, at any address."""
        providers = [replica.provider for replica in self.replicas]
        return list(dict.fromkeys(t for p in providers for t in p.ignored(sampling, seeds=seeds)))

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
        """Note an address whose answers are mostly unusable while other addresses' are not."""
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
            await replica.provider.reset()

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
