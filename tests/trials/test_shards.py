"""Which shards a store holds: in its configuration, and in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.trials.shards import Shards, join_shards, with_shards, without_shards

PLAN = {"index": 2, "of": 4, "batch": 8}


def test_a_shard_and_those_that_were_merged() -> None:
    one = Shards.in_config({"metrics": [], "shard": PLAN})
    assert one == Shards(4, 8, frozenset([2]), is_one=True)
    assert one.missing == [1, 3, 4]
    config = with_shards({"metrics": [], "shard": PLAN}, one)
    assert config == {"metrics": [], "shards": {"of": 4, "batch": 8, "merged": [2]}}
    assert Shards.in_config(config) == Shards(4, 8, frozenset([2]))
    assert without_shards(config) == {"metrics": []}
    assert Shards.in_config({"metrics": []}) is None


@given(st.lists(st.sets(st.integers(1, 9)), min_size=1))
def test_the_order_does_not_matter(parts: list[set[int]]) -> None:
    forwards = backwards = Shards(9, 1, frozenset())
    for part in parts:
        forwards = forwards.plus(Shards(9, 1, frozenset(part)))
    for part in parts[::-1]:
        backwards = Shards(9, 1, frozenset(part)).plus(backwards)
    assert forwards == backwards
    assert {*forwards.missing} == {*range(1, 10)} - set().union(*parts)
    assert (forwards.remark() is None) == (not forwards.missing)
    assert ("shards" in with_shards({}, forwards)) == bool(forwards.missing)


def test_what_lacks_no_shard_lacks_none_with_one_more() -> None:
    one = Shards(4, 8, frozenset([2]))
    assert join_shards(None, one) is join_shards(one, None) is join_shards(None, None) is None
    assert with_shards({"shard": PLAN}, None) == {}


@pytest.mark.parametrize(
    ("other", "words"), [((5, 8), "4 shards.* 5"), ((4, 9), "8 trials per request.* 9")]
)
def test_another_plan_is_refused(other: tuple[int, int], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        join_shards(Shards(4, 8, frozenset([1])), Shards(*other, frozenset([2])))
