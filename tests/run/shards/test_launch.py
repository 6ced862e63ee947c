"""How a run is split: a number of shards that there can be."""

import pytest

from passband.errors import InvalidInput
from passband.run.shards.launch import Launch
from passband.run.shards.shard import MOST_SHARDS


@pytest.mark.parametrize("shards", [0, -1, MOST_SHARDS + 1])
def test_numbers_of_shards_that_are_refused(shards: int) -> None:
    with pytest.raises(InvalidInput, match=f"--shards must be 1 to {MOST_SHARDS}; got {shards}"):
        Launch(shards)
