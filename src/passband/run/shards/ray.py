"""Shards in actors of a Ray cluster: each supervises a process on its node.

Ray starts actors and says when one is gone, and nothing more. An actor gets a job, which is names
and settings, starts the process that asks for the shard, and passes events up and orders down. What
is recorded is in the shard's store, so an actor or a node that is lost takes nothing with it: the
leading process starts the shard again, on another node, and it goes on from its store. Actors end
with the process that leads; none is detached.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from passband.cluster import (
    connect,
    on_each_node,
    parse_address,
    ray_module,
    unwrapped,
    working_nodes,
)
from passband.errors import InvalidInput, PassbandError
from passband.run.shards.job import ShardJob
from passband.run.shards.local import ShardProcess
from passband.run.shards.wire import Ended, Event, Failed, Lost, Order

_POLL = 1.0  # seconds that an actor waits for an event before it answers
_KILL = 5.0  # for the process of an actor to be ended


class ShardActor:
    """The actor of a shard; its methods run in threads, so that orders pass polls."""

    def __init__(self, job: ShardJob, cpus: int, marker: Path) -> None:
        self._news = threading.Event()
        self._process: ShardProcess | None = None
        if marker.is_file():
            self._process = ShardProcess(job, cpus, self._news.set)

    def events(self) -> list[Event]:
        """Return what the process has reported, as soon as there is something."""
        if self._process is None:
            return [Failed("its node does not see the storage of the run.")]
        self._news.wait(_POLL)
        self._news.clear()
        return list(self._process.events())

    def send(self, order: Order) -> None:
        """Send the process an order."""
        if self._process is not None:
            self._process.send(order)

    def kill(self) -> None:
        """End the process at once; without this it would wait for its requests in flight."""
        if self._process is not None:
            self._process.kill()


class RayActors:
    """Starts an actor for each shard, spread over the nodes."""

    def __init__(self, on: str, shards: int, folder: Path) -> None:
        self._exit = ExitStack()
        self._shards: list[RayShard] = []
        try:
            self._exit.enter_context(connect(parse_address(on)))
            self._ray = ray_module()
            self._marker = folder / f"marker-{uuid.uuid4().hex}"
            self._marker.touch()
            self._exit.callback(self._marker.unlink, missing_ok=True)
            check_storage(self._marker)
            self._share = _share(shards)
        except BaseException:
            self._exit.close()
            raise

    def start(self, job: ShardJob) -> RayShard:
        """Start an actor for a shard."""
        if job.has_secrets:
            raise InvalidInput(
                "--header, or a password in --base-url, would be sent to the cluster. Put keys "
                "into the environment of the nodes instead."
            )
        shard = RayShard(self._ray, job, self._share, self._marker)
        self._shards.append(shard)
        return shard

    def wait(self, seconds: float) -> None:
        """Return when an actor has reported something, or after so many seconds."""
        polls = [shard.poll for shard in self._shards if shard.poll is not None]
        if polls:
            self._ray.wait(polls, num_returns=1, timeout=seconds)

    def close(self) -> None:
        """End every actor, and leave the cluster."""
        for shard in self._shards:
            shard.kill()
        self._exit.close()


class RayShard:
    """A shard whose process runs on a node; there is always one poll under way."""

    def __init__(self, ray: Any, job: ShardJob, share: float, marker: Path) -> None:
        self._ray = ray
        options = {
            "num_cpus": share,
            "max_restarts": 0,  # the leading process starts it again, wherever there is room
            "max_concurrency": 2,
            "scheduling_strategy": "SPREAD",
        }
        actor = ray.remote(**options)(ShardActor)
        self._actor = actor.remote(job, max(1, int(share)), marker)
        self.poll: Any = self._actor.events.remote()

    def events(self) -> Sequence[Event]:
        """Return what it has reported since the last call."""
        if self.poll is None or not self._ray.wait([self.poll], timeout=0)[0]:
            return []
        try:
            events: Sequence[Event] = self._ray.get(self.poll)
        except self._ray.exceptions.RayActorError as error:
            self.poll = None
            return [Lost(_reason(error))]
        except self._ray.exceptions.RayError as error:
            self.poll = None
            return [Failed(str(unwrapped(error, "its actor failed: ")))]
        is_over = bool(events) and isinstance(events[-1], (Ended, Failed, Lost))
        self.poll = None if is_over else self._actor.events.remote()
        if is_over:
            self.kill()  # its share of the node is free for others
        return events

    def send(self, order: Order) -> None:
        """Send it an order."""
        with suppress(self._ray.exceptions.RayError):
            self._actor.send.remote(order)

    def kill(self) -> None:
        """End the process, if it runs, and the actor."""
        with suppress(self._ray.exceptions.RayError, ValueError):
            if self.poll is not None:
                self._ray.wait([self._actor.kill.remote()], timeout=_KILL)
            self._ray.kill(self._actor)


def _share(shards: int) -> float:
    """Return the processors of an actor, such that all fit at once even if they pack badly."""
    cpus = [node.cpus for node in working_nodes()]
    each = sum(cpus) / shards
    return float(min(int(each), int(min(cpus)))) if each >= 1 else round(each / 2, 4)


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"its actor or node is gone: {lines[0][:200]}" if lines else "its actor is gone"


def check_storage(marker: Path) -> None:
    """Refuse a cluster with a node that does not see the folder of the marker."""
    for node, name in on_each_node(_leaves_mark, marker):
        mark = marker.with_name(name) if name else None
        if mark is None or not mark.is_file():
            raise PassbandError(
                f"the node {node.name} does not see {marker.parent}. Shards on Ray need storage "
                "that all nodes share, and that outlives them: give it with --out."
            )
        mark.unlink()


def _leaves_mark(marker: Path) -> str | None:
    """Return the name of a file written beside the marker, on a node that sees it."""
    if not marker.is_file():
        return None
    name = f"{marker.name}-{uuid.uuid4().hex}"
    marker.with_name(name).touch()
    return name
