"""How far a run is, in numbers."""

from collections.abc import Callable
from typing import Any

import pytest

from passband.report.progress import Meter, duration, money, pace
from passband.run.counters import Price
from passband.trials.rows import TrialRow


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_is_read_off_a_run(runner: Callable[..., Any]) -> None:
    found = Meter().read(runner(price=Price(1.0, 10.0), failed=["refused", "gave_up", "gave_up"]))
    (task,) = found.tasks
    assert (task.task, task.done, task.planned) == ("sums", 9, 12)
    assert task.tokens == (6_000, 12_000)
    assert task.cost == pytest.approx(0.126)
    assert task.failed == {"refused": 1, "gave_up": 2}
    assert task.estimate is not None
    assert task.estimate.value == 0.5
    assert found.under_way == 3
    assert found.waiting is None
    assert found.rate is None  # one look is no rate
    assert found.seconds_left is None


def test_the_rate_is_that_of_the_last_seconds(runner: Callable[..., Any]) -> None:
    clock, run = Clock(), runner(planned=100)
    meter = Meter(clock)
    meter.read(run)
    counters = run.parts[0].counters
    clock.now += 2
    counters.committed([TrialRow(0, 10 + n, "ok") for n in range(4)])
    found = meter.read(run)
    assert found.rate == 2.0
    assert found.seconds_left == 45.0
    clock.now += 1_000
    assert meter.read(run).rate is None
    clock.now += 1
    counters.committed([TrialRow(0, 20 + n, "ok") for n in range(5)])
    assert meter.read(run).rate == 5.0


def test_what_is_left_is_never_less_than_nothing(runner: Callable[..., Any]) -> None:
    clock, run = Clock(), runner(planned=1)
    meter = Meter(clock)
    meter.read(run)
    clock.now += 1
    run.parts[0].counters.committed([TrialRow(0, 9, "ok")])
    assert meter.read(run).seconds_left == 0.0


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"is_stopping": True, "is_down": True}, "stopping"),
        ({"is_down": True, "paused_for": 75.0}, "the server is down; next try in 1 min 15 s"),
        ({"paused_for": 30.0}, "the server asks to wait until "),
        ({"paused_for": 0.5}, None),
    ],
)
def test_why_nothing_is_asked(
    runner: Callable[..., Any], state: dict[str, Any], words: str | None
) -> None:
    found = Meter().read(runner(**state)).waiting
    assert found == words if words is None else str(found).startswith(words)


def test_no_estimate_while_the_statistics_are_not_there(runner: Callable[..., Any]) -> None:
    run = runner()
    run.can_estimate = False
    assert Meter().read(run).tasks[0].estimate is None
    assert Meter().read(runner(rows=[[1.0]])).tasks[0].estimate is None


def test_graded_scores_have_an_estimate_too(runner: Callable[..., Any]) -> None:
    found = Meter().read(runner(rows=[[0.5, 0.25], [1.0, 0.5], [0.0, None]])).tasks[0].estimate
    assert found is not None
    assert found.value == pytest.approx((0.375 + 0.75 + 0.0) / 3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.6, "1 h 0 min"),
     (90_061, "25 h 1 min")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (1e-6, "0.000001"), (0.00004567, "0.000046"), (0.5, "0.5"), (0.99, "0.99"),
     (0.999, "1.00"), (1, "1.00"), (1234.567, "1234.57")],
)  # fmt: skip
def test_money(amount: float, text: str) -> None:
    assert money(amount) == text


def test_paces() -> None:
    assert [pace(rate) for rate in (0.01234, 9.999, 99.99, 1234.5)] == [
        "0.0123/s", "10/s", "100/s", "1234/s",
    ]  # fmt: skip
