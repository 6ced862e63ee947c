"""Leases: shards never have more than the run, and all of it can be spent."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.run.shards.leases import Leases
from passband.run.shards.wire import Grant


def played(money: float, costs: list[list[float]]) -> tuple[list[float], list[bool]]:
    """Let shards spend the costs of their trials one by one; return what each spent, and if all."""
    shards = [Spending(costs=shard) for shard in costs]
    leases = Leases(money, 8, len(costs))
    for place, shard in enumerate(shards):
        shard.take(leases.grant(place))
    for _ in range(10_000):
        active = [place for place, shard in enumerate(shards) if not shard.has_ended]
        if not active:
            break
        for place in active:
            shard = shards[place]
            wanted = shard.spend()
            leases.report(place, shard.spent, wanted, shard.known)
            if shard.is_done or (wanted and shard.is_last):
                shard.has_ended = True
                leases.end(place)
        for place, grant in leases.due().items():
            shards[place].take(grant)
        most = max(money, costs[0][0] if costs[0] else 0.0, sum(s.spent for s in shards))
        assert sum(s.spent if s.has_ended else max(s.spent, s.limit) for s in shards) <= most + 1e-9
    assert all(shard.has_ended for shard in shards)
    return [shard.spent for shard in shards], [shard.is_done for shard in shards]


@dataclass
class Spending:
    """A shard that asks for one trial after the other, whose costs it knows from the second on."""

    costs: list[float]
    spent: float = 0.0
    position: int = 0
    limit: float = 0.0
    known: float = 0.0
    is_last: bool = False
    has_ended: bool = False

    @property
    def is_done(self) -> bool:
        return self.position == len(self.costs)

    def take(self, grant: Grant) -> None:
        assert grant.max_cost is not None
        self.limit, self.is_last = grant.max_cost, not grant.may_grow
        self.known = max(self.known, grant.trial)

    def spend(self) -> float:
        """Ask for the next trial if there is money for it; return what is missing."""
        if self.is_done:
            return 0.0
        cost = self.costs[self.position]
        if not self.known and not self.limit:
            return 1e-12
        if self.known and self.spent + cost > self.limit:
            return self.spent + cost - self.limit
        self.spent, self.position = self.spent + cost, self.position + 1
        self.known = max(self.known, cost)
        return 0.0


COSTS = st.lists(st.lists(st.floats(0.01, 2.0), max_size=12), min_size=1, max_size=6)


@given(st.floats(0.1, 60.0), COSTS)
def test_shards_never_spend_more_than_the_run_may(money: float, costs: list[list[float]]) -> None:
    spent, is_complete = played(money, costs)
    first = next((shard[0] for shard in costs if shard), 0.0)  # it goes before any cost is known
    assert sum(spent) <= max(money, first) + 1e-9
    if not all(is_complete):  # then what is left would not pay for a trial that is missing
        largest = max((cost for shard in costs for cost in shard), default=0.0)
        assert money - sum(spent) < len(costs) * largest + 1e-9


def test_a_shard_with_long_answers_gets_what_others_leave() -> None:
    spent, is_complete = played(10.0, [[3.0, 3.0, 3.0], [0.1], [0.1], [0.1]])
    assert is_complete == [True] * 4
    assert spent[0] == pytest.approx(9.0)


def test_before_a_cost_is_known_one_shard_alone_has_money() -> None:
    leases = Leases(8.0, 4, 4)
    assert [leases[place].max_cost for place in range(4)] == [1.0, 0.0, 0.0, 0.0]
    for place in (1, 2, 3):
        leases.report(place, 0.0, 1e-12)
    assert leases.due() == {}
    leases.end(0)  # it had nothing to ask
    assert {place: grant.max_cost for place, grant in leases.due().items()} == {1: 8.0 / 6}
    leases.report(1, 0.5, 0.0, 0.5)
    assert {place: grant.trial for place, grant in leases.due().items()} == {2: 0.5, 3: 0.5}


def test_where_the_cost_is_known_all_have_money_from_the_start() -> None:
    leases = Leases(8.0, 4, 4, trial=0.1)
    assert [leases.grant(place) for place in range(4)] == [Grant(1.0, 1, True, 0.1)] * 4


def test_where_no_lease_can_grow_one_shard_ends_for_the_others() -> None:
    leases = Leases(8.0, 2, 2, trial=3.0)
    for place in (0, 1):
        leases.report(place, 0.0, 3.0)
    assert {place: grant.max_cost for place, grant in leases.due().items()} == {0: 5.0}
    leases.report(0, 3.0, 1.0)
    leases.report(1, 0.0, 3.0)
    assert [(p, grant.may_grow) for p, grant in leases.due().items()] == [(0, True)]
    leases.report(0, 4.0, 3.0)
    leases.report(1, 0.0, 1.5)
    assert [(p, grant.may_grow) for p, grant in leases.due().items()] == [(0, False)]
    leases.end(0)
    assert [(p, grant.max_cost) for p, grant in leases.due().items()] == [(1, 3.5)]  # what 0 left


def test_requests_of_shards_that_ended_go_to_the_others() -> None:
    leases = Leases(None, 64, 3)
    assert [leases[place].concurrency for place in range(3)] == [22, 21, 21]
    leases.end(1)
    assert {p: grant.concurrency for p, grant in leases.due().items()} == {0: 32, 2: 32}
    assert leases.due() == {}
    leases.end(0)
    assert leases.due()[2].concurrency == 64


def test_each_shard_has_one_request_at_least() -> None:
    leases = Leases(None, 2, 3)
    assert [leases[place].concurrency for place in range(3)] == [1, 1, 1]
    assert leases.due() == {}
