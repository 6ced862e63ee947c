"""The seam between the shards of a run and the processes that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from passband.errors import InvalidInput
from passband.run.shards.shard import MOST_SHARDS

if TYPE_CHECKING:
    from passband.run.shards.job import ShardJob
    from passband.run.shards.wire import Event, Order


@dataclass(frozen=True)
class Launch:
    """How many shards a run is asked in, and where: processes of this machine, or Ray."""

    shards: int
    on: str | None = None  # address of a cluster; None is this machine

    def __post_init__(self) -> None:
        if not 1 <= self.shards <= MOST_SHARDS:
            raise InvalidInput(f"--shards must be 1 to {MOST_SHARDS}; got {self.shards}.")


class Running(Protocol):
    """A process that asks for a shard."""

    def events(self) -> Sequence[Event]:
        """Return what it has reported since the last call; the last event of all is its end.

        A process that is gone without one is reported as `Lost`.
        """
        ...

    def send(self, order: Order) -> None:
        """Send it an order; nothing happens if it is gone."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class Launcher(Protocol):
    """Starts processes that ask for shards; one seam for this machine and for clusters."""

    def start(self, job: ShardJob) -> Running:
        """Start a process for a shard, whose directory it resumes."""
        ...

    def wait(self, seconds: float) -> None:
        """Return when a process has reported something, or after so many seconds."""
        ...

    def close(self) -> None:
        """End everything that is still running."""
        ...
