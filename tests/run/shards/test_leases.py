"""Leases: shards never have more than the run, and all of it can be spent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.run.shards.leases import Leases


def played(money: float, costs: list[list[float]]) -> tuple[list[float], list[bool]]:
    """Let shards spend the costs of their trials one by one; return what each spent, and if all."""
    leases = Leases(money, 8, len(costs))
    spent, position = [0.0] * len(costs), [0] * len(costs)
    limits = [leases[place].max_cost or 0.0 for place in range(len(costs))]
    has_ended, is_last = [False] * len(costs), [False] * len(costs)
    for _ in range(10_000):
        if all(has_ended):
            break
        for place, shard in enumerate(costs):
            if has_ended[place]:
                continue
            wanted = 0.0
            if position[place] < len(shard):
                cost = shard[position[place]]
                if spent[place] + cost <= limits[place]:
                    spent[place] += cost
                    position[place] += 1
                else:
                    wanted = spent[place] + cost - limits[place]
            leases.report(place, spent[place], wanted)
            if position[place] == len(shard) or (wanted and is_last[place]):
                has_ended[place] = True
                leases.end(place)
        for place, grant in leases.due().items():
            assert grant.max_cost is not None
            limits[place], is_last[place] = grant.max_cost, not grant.may_grow
        assert leases.rest >= -1e-9
        held = sum(spent[p] if has_ended[p] else limits[p] for p in range(len(costs)))
        assert held <= money + 1e-9
    assert all(has_ended)
    return spent, [position[place] == len(costs[place]) for place in range(len(costs))]


COSTS = st.lists(st.lists(st.floats(0.01, 2.0), max_size=12), min_size=1, max_size=6)


@given(st.floats(0.1, 60.0), COSTS)
def test_shards_never_spend_more_than_the_run_may(money: float, costs: list[list[float]]) -> None:
    spent, is_complete = played(money, costs)
    assert sum(spent) <= money + 1e-9
    if not all(is_complete):  # then what is left would not pay for a trial that is missing
        largest = max((cost for shard in costs for cost in shard), default=0.0)
        assert money - sum(spent) < len(costs) * largest + 1e-9


def test_a_shard_with_long_answers_gets_what_others_leave() -> None:
    spent, is_complete = played(10.0, [[3.0, 3.0, 3.0], [0.1], [0.1], [0.1]])
    assert is_complete == [True] * 4
    assert spent[0] == pytest.approx(9.0)


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
