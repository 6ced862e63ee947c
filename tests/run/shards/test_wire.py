"""Messages between the leading process and a shard: what is sent is what arrives."""

import pytest

from passband.errors import ExitCode, InvalidInput
from passband.run.progress import RunProgress, TaskProgress, Waiting
from passband.run.shards.wire import (
    Ended,
    Event,
    Failed,
    Grant,
    Lost,
    Order,
    ShardNote,
    ShardWarning,
    StopOrder,
    Tick,
    decode_event,
    decode_order,
    encode,
)

PROGRESS = RunProgress(
    [TaskProgress("sums", 3, 8, (10, 20), 0.5, {"refused": 1}, None)],
    rate=2.5,
    seconds_left=None,
    under_way=2,
    waiting=Waiting("rate-limited", 3.0),
    retries={"rate_limited": 2},
)


@pytest.mark.parametrize(
    "event",
    [
        Tick(PROGRESS, 0.5, 0.25, 0.125),
        ShardNote("50 % — done"),
        ShardWarning("two\nlines"),
        Ended("max_cost"),
        Failed("no", 2),
        Lost("signal 9"),
    ],
)
def test_events(event: Event) -> None:
    line = encode(event)
    assert line.count(b"\n") == 1
    assert decode_event(line) == event


@pytest.mark.parametrize(
    "order", [Grant(None, 4, False), Grant(0.25, 4, True, 0.5), StopOrder(5.0)]
)
def test_orders(order: Order) -> None:
    assert decode_order(encode(order)) == order


def test_errors_keep_their_exit_codes() -> None:
    assert isinstance(Failed("no such column.", int(ExitCode.USAGE)).error("1/2"), InvalidInput)
    error = Failed("disk full", int(ExitCode.DISK_FULL)).error("1/2")
    assert (str(error), error.exit_code) == ("shard 1/2: disk full", ExitCode.DISK_FULL)
