"""The progress of shards, added up."""

from dataclasses import replace

from passband.run.progress import RunProgress, ShardCounts, TaskProgress, Waiting
from passband.run.shards.lead import total_progress

SUMS = TaskProgress("sums", 10, 100, (1, 2), None, {"gave_up": 1}, None)
OTHER = replace(SUMS, task="other", done=0, failed={})
COUNTS = ShardCounts(2, 1)


def part(done: int, **changes: object) -> RunProgress:
    task = TaskProgress("sums", done, 50, (10, 20), 0.5, {"gave_up": 2}, None)
    progress = RunProgress([task], 4.0, 30.0, 3, None, retries={"timeout": 1}, backing_off=1)
    return replace(progress, **changes)  # type: ignore[arg-type]


def test_what_was_there_before_and_every_shard_counts() -> None:
    ended, asking = part(50), part(20, seconds_left=40.0)
    total = total_progress([SUMS, OTHER], [ended, asking], [asking], 9.0, COUNTS)
    sums, other = total.tasks
    assert (sums.done, sums.planned, sums.tokens, sums.cost) == (80, 100, (21, 42), 1.0)
    assert sums.failed == {"gave_up": 5}
    assert (other.done, other.cost) == (0, None)
    assert (total.rate, total.seconds_left, total.under_way) == (4.0, 40.0, 3)
    assert (total.retries, total.backing_off, total.shards) == ({"timeout": 2}, 1, COUNTS)


def test_the_time_left_is_known_when_every_shard_knows_its_own() -> None:
    parts = [part(1), part(2, seconds_left=None)]
    assert total_progress([SUMS], parts, parts, 1.0, COUNTS).seconds_left is None


def test_a_run_waits_when_all_its_shards_do() -> None:
    waiting = part(1, waiting=Waiting("server-down", 3.0))
    assert total_progress([SUMS], [waiting], [waiting], 1.0, COUNTS).waiting == waiting.waiting
    both = [waiting, part(1)]
    assert total_progress([SUMS], both, both, 1.0, COUNTS).waiting is None
    assert total_progress([SUMS], [], [], 1.0, COUNTS).rate is None
