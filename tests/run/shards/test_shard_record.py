"""What a store says about its shard: another part of the run is refused."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.run.shards.shard import Shard, check_shard, shard_entry

HERE = Path("runs/x")


def test_the_same_part_goes_on() -> None:
    check_shard(HERE, {}, Shard(1, 3), 4)
    check_shard(HERE, {}, None, 4)
    check_shard(HERE, shard_entry(Shard(1, 3), 4), Shard(1, 3), 4)
    check_shard(HERE, {"n": 3}, None, 4)
    check_shard(HERE, {"shards": {"of": 3, "batch": 4, "merged": [1]}}, None, 8)


@pytest.mark.parametrize(
    ("earlier", "shard", "batch", "message"),
    [
        ({"n": 3}, Shard(1, 3), 4, "holds a whole run, not shard 1/3"),
        (shard_entry(Shard(1, 3), 4), None, 4, "go on with --shard 1/3"),
        (shard_entry(Shard(1, 3), 4), Shard(2, 3), 4, "holds shard 1/3 of the run, not 2/3"),
        (shard_entry(Shard(1, 3), 4), Shard(1, 4), 4, "holds shard 1/3 of the run, not 1/4"),
        (shard_entry(Shard(1, 3), 4), Shard(1, 3), 8, "Give --batch 4"),
    ],
)
def test_another_part_is_refused(
    earlier: dict[str, object], shard: Shard | None, batch: int, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_shard(HERE, earlier, shard, batch)
