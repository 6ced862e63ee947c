"""Leases: the limits of a run, shared by its shards while they ask.

Each shard has a lease of money and of requests in flight, and asks nobody for anything as long as
it lasts. Half of what is left is always kept back, so that a shard with long answers gets more than
one with short ones. As long as nobody knows what a trial costs, one shard alone has money. What a
shard leaves unused goes back when it ends; where no lease can grow, one shard ends for the others.
A shard that is lost keeps its lease: its store says what it has spent, so that no more is overspent
than what was in flight.
"""

from __future__ import annotations

from dataclasses import dataclass

from passband.run.shards.wire import Grant


@dataclass
class Lease:
    """What one shard may use, and what it has."""

    max_cost: float | None
    concurrency: int
    spent: float = 0.0
    wanted: float = 0.0  # more than the lease, for which it waits
    is_final: bool = False
    has_ended: bool = False

    @property
    def taken(self) -> float:
        """Money that no other shard may have; an answer may cost more than anyone expected."""
        return self.spent if self.has_ended else max(self.spent, self.max_cost or 0.0)


class Leases:
    """The leases of all shards; together they never exceed the limits of the run.

    Only where there are fewer requests than shards, each shard has one all the same. `trial` is
    what one more trial may cost; 0 as long as nobody knows.
    """

    def __init__(
        self, max_cost: float | None, concurrency: int, shards: int, *, trial: float = 0.0
    ) -> None:
        self._money, self._requests, self._trial = max_cost, concurrency, trial
        self._leases = [
            Lease(
                None if max_cost is None else 0.0,
                max(1, concurrency // shards + (place < concurrency % shards)),
            )
            for place in range(shards)
        ]
        if max_cost is not None:
            for lease in self._leases if trial else self._leases[:1]:
                lease.max_cost = max(0.0, max_cost) / (2 * shards)

    def __getitem__(self, place: int) -> Lease:
        return self._leases[place]

    def grant(self, place: int) -> Grant:
        """Return the lease of a shard as an order."""
        lease = self._leases[place]
        return Grant(lease.max_cost, lease.concurrency, not lease.is_final, self._trial)

    @property
    def rest(self) -> float:
        """Money that no shard has."""
        return (self._money or 0.0) - sum(lease.taken for lease in self._leases)

    def report(self, place: int, spent: float, wanted: float, trial: float = 0.0) -> None:
        """Note what a shard has spent, what it waits for, and what a trial may cost."""
        self._leases[place].spent, self._leases[place].wanted = spent, wanted
        self._trial = max(self._trial, trial)

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
        return {place: self.grant(place) for place in sorted(changed)}

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
        short = [place for place in active if self._leases[place].wanted > 0]
        short = [place for place in short if not self._leases[place].is_final]
        short.sort(key=lambda place: self._leases[place].wanted)
        if not self._trial and any(self._leases[place].max_cost for place in active):
            return []  # until that shard has found out
        given = []
        for place in short if self._trial else short[:1]:
            lease = self._leases[place]
            slice_ = max(lease.wanted, self.rest / (2 * len(active)))
            if slice_ <= self.rest:
                lease.max_cost = (lease.max_cost or 0.0) + slice_
                lease.wanted = 0.0
                given.append(place)
        if not given and short and len(short) == len(active):  # nobody will give anything back
            self._leases[short[-1]].is_final = True
            return short[-1:]
        return given
