"""Leases: the limits of a run, shared by its shards while they ask.

Each shard has a lease of money and of requests in flight, and asks nobody for anything as long as
it lasts. Half of what is left is always kept back, so that a shard with long answers gets more than
one with short ones. What a shard leaves unused goes back when it ends. A shard that is lost keeps
its lease: its store says what it has spent, so that no more is overspent than what was in flight.
"""

from __future__ import annotations

from dataclasses import dataclass

from passband.run.shards.wire import Grant

__all__ = ["Lease", "Leases"]


@dataclass
class Lease:
    """What one shard may use, and what it has."""

    max_cost: float | None
    concurrency: int
    spent: float = 0.0
    wanted: float = 0.0  # more than the lease, for which it waits
    is_final: bool = False
    has_ended: bool = False

    def grant(self) -> Grant:
        """Return the lease as an order."""
        return Grant(self.max_cost, self.concurrency, not self.is_final)


class Leases:
    """The leases of all shards; together they never exceed the limits of the run.

    Only where there are fewer requests than shards, each shard has one all the same.
    """

    def __init__(self, max_cost: float | None, concurrency: int, shards: int) -> None:
        self._money, self._requests = max_cost, concurrency
        slices = None if max_cost is None else max(0.0, max_cost) / (2 * shards)
        self._leases = [
            Lease(slices, max(1, concurrency // shards + (place < concurrency % shards)))
            for place in range(shards)
        ]

    def __getitem__(self, place: int) -> Lease:
        return self._leases[place]

    @property
    def rest(self) -> float:
        """Money that no shard has."""
        taken = sum(one.spent if one.has_ended else one.max_cost or 0.0 for one in self._leases)
        return (self._money or 0.0) - taken

    def report(self, place: int, spent: float, wanted: float) -> None:
        """Note what a shard has spent, and what it waits for."""
        self._leases[place].spent, self._leases[place].wanted = spent, wanted

    def end(self, place: int) -> None:
        """Note that a shard has come to an end; what it has not used is free."""
        self._leases[place].has_ended = True
        self._leases[place].wanted = 0.0

    def due(self) -> dict[int, Grant]:
        """Return the new leases of shards that get one."""
        active = [place for place, lease in enumerate(self._leases) if not lease.has_ended]
        changed = {*self._give_requests(active)}
        if self._money is not None:
            changed |= {*self._give_money(active)}
        return {place: self._leases[place].grant() for place in sorted(changed)}

    def _give_requests(self, active: list[int]) -> list[int]:
        """Share the requests of shards that have ended among the others; return which got more."""
        changed = []
        for rank, place in enumerate(active):
            each, more = divmod(self._requests, len(active))
            if (share := each + (rank < more)) > self._leases[place].concurrency:
                self._leases[place].concurrency = share
                changed.append(place)
        return changed

    def _give_money(self, active: list[int]) -> list[int]:
        """Give money to shards that wait for it; return which got more, or their last."""
        short = [self._leases[place] for place in active if self._leases[place].wanted > 0]
        short = [lease for lease in short if not lease.is_final]
        given = []
        for lease in sorted(short, key=lambda lease: lease.wanted):
            slice_ = max(lease.wanted, self.rest / (2 * len(active)))
            if slice_ <= self.rest:
                lease.max_cost = (lease.max_cost or 0.0) + slice_
                lease.wanted = 0.0
                given.append(lease)
        if not given and short and len(short) == len(active):  # nobody will give anything back
            for lease in short:
                lease.is_final = True
            given = short
        return [place for place in active if self._leases[place] in given]
