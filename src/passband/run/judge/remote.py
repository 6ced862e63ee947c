"""A judge on the nodes of a cluster: one attempt at a time is made there, and the rest here.

A node gets names, from which it makes a client with the key of its own environment. What is asked,
what a reply costs, whether there is another attempt and what is recorded stays with the process
that leads: an actor or a node that is lost is a server that is down, for the requests in flight.
"""

from __future__ import annotations

import itertools
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from passband import plugins
from passband.cluster import ClusterFailed, Node, UnequalNodes, ray_module, unwrapped, working_nodes
from passband.errors import InvalidInput, PassbandError, describe
from passband.generate import (
    Completion,
    Connection,
    Crashed,
    Hopeless,
    Provider,
    ProviderFault,
    ProviderSubject,
    Request,
    Unavailable,
    is_local,
    make_provider,
    redacted,
)

_PATIENCE = 120.0  # seconds for all nodes to make their clients


@dataclass(frozen=True)
class NamedModel:
    """A model as it is sent to a node: names, and nothing secret."""

    model: str
    connection: Connection
    modules: tuple[str, ...] = ()  # plug-ins that the user named


class Facts(NamedTuple):
    """What a node knows of a model: the address of its server, and what replies depend on."""

    address: str | None
    spec: Mapping[str, Any]


class JudgeActor:
    """Makes attempts on its node; many may be under way."""

    def __init__(self, named: NamedModel) -> None:
        self._named = named
        self._made: Provider | None = None

    async def facts(self) -> Facts:
        """Return what is known of the model here; raise `InvalidInput` if there is none."""
        try:
            provider = self._provider()
        except PassbandError as error:
            raise InvalidInput(redacted(f"node {platform.node()}: {error}")) from None
        return Facts(provider.address, provider.spec)

    async def generate(
        self, request: Request, spec: Mapping[str, Any]
    ) -> Sequence[Completion] | ProviderFault:
        """Return the completions of one attempt, or its fault, without what could be secret."""
        try:
            if (await self.facts()).spec != spec:
                raise Hopeless(f"the model on the node {platform.node()} is another one.")
            return list(await self._provider().generate(request))
        except ProviderFault as error:
            fault = error
        except InvalidInput as error:
            fault = Hopeless(str(error))
        except Exception as error:
            fault = Crashed(describe(error))
        fault.detail = redacted(fault.detail)  # the leading process does not know these keys
        fault.args = (fault.detail,)
        return fault

    def _provider(self) -> Provider:
        if self._made is None:
            plugins.import_modules(list(self._named.modules))
            self._made = make_provider(self._named.model, self._named.connection)
        return self._made


@dataclass(eq=False)
class _Seat:
    """A place for an actor, and how many requests it has."""

    actor: Any
    node: str
    in_flight: int = 0


@dataclass(eq=False)
class RemoteModel(Provider):
    """A provider whose attempts are made by actors; the one with the fewest gets the next.

    A model with a server has an actor on each node, as it only waits there. One that runs in the
    actor itself has as many as there are processors.
    """

    named: NamedModel
    workers: int | None = None  # actors, at most
    batch: int = 1
    address: str | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ray = ray_module()
        self._seats = [_Seat(self._start(node), node.name) for node in self._places()]
        if not self._seats:
            raise ClusterFailed("no node of the cluster has a processor to work with (ray status).")
        try:
            facts = [self._facts(seat) for seat in self._seats]
        except BaseException:
            self._kill_all()
            raise
        self.spec = facts[0].spec
        addresses = dict.fromkeys(each.address for each in facts if each.address)
        self.address = ", ".join(addresses) or None
        if any(each.spec != self.spec for each in facts):
            self._kill_all()
            raise UnequalNodes(
                f"the model {self.named.model} is not the same on all nodes: they have other code, "
                "or other settings."
            )

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Make one attempt on a node; one that is lost is `Unavailable`."""
        seat = min(self._seats, key=lambda each: each.in_flight)
        actor = seat.actor
        seat.in_flight += 1
        try:
            reply = await actor.generate.remote(request, self.spec)
        except self._ray.exceptions.RayError as error:
            raise self._lost(seat, actor, error) from None
        finally:
            seat.in_flight -= 1
        if isinstance(reply, ProviderFault):
            raise reply
        completions: Sequence[Completion] = reply
        return completions

    async def close(self) -> None:
        """End the actors."""
        self._kill_all()

    def _lost(self, seat: _Seat, actor: Any, error: Exception) -> Unavailable:
        """Start another actor, wherever there is room; return the fault of this attempt."""
        if seat.actor is actor:
            self._kill(seat)
            seat.actor = self._start()
        fault = Unavailable(f"the process on the node {seat.node}, or the node, was lost")
        fault.elsewhere = True
        return fault

    def _places(self) -> list[Node]:
        """Return the nodes that actors start on, in turn."""
        nodes = working_nodes()
        each = [max(1, int(n.cpus)) if is_local(self.named.model) else 1 for n in nodes]
        turns = itertools.chain.from_iterable(
            [node for node, most in zip(nodes, each, strict=True) if turn < most]
            for turn in range(max(each, default=0))
        )
        most = self.named.connection.concurrency
        return list(itertools.islice(turns, min(most, self.workers or most)))

    def _start(self, node: Node | None = None) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place: Any = "SPREAD"
        if node is not None:
            place = NodeAffinitySchedulingStrategy(node.number, soft=True)
        # No processors of its own: other scorers may have them all, and it mostly waits.
        options = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": place}
        return self._ray.remote(**options)(JudgeActor).remote(self.named)

    def _facts(self, seat: _Seat) -> Facts:
        try:
            facts: Facts = self._ray.get(seat.actor.facts.remote(), timeout=_PATIENCE)
        except self._ray.exceptions.RayError as error:
            raise unwrapped(error, f"node {seat.node}: ") from None
        return facts

    def _kill(self, seat: _Seat) -> None:
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(seat.actor)

    def _kill_all(self) -> None:
        for seat in self._seats:
            self._kill(seat)


def remote_subject(
    model: str, connection: Connection, *, workers: int | None = None
) -> ProviderSubject:
    """Return a model by name that is asked from the nodes of the connected cluster."""
    if connection.has_secrets:
        raise InvalidInput(
            "a password in --base-url would be sent to the cluster. Put keys into the environment "
            "of the nodes instead."
        )
    named = NamedModel(model, connection, tuple(plugins.named_modules()))
    return ProviderSubject(RemoteModel(named, workers), model)
