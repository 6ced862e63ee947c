"""Progress of a run, in numbers."""

import pickle
from typing import Any

import pytest

from passband.run.progress import Waiting
from passband.run.task_run import Counters, Price
from support.runs.watched import Watched


def test_what_is_read_off_a_run() -> None:
    found = Watched(price=Price(1.0, 10.0), failed=["refused", "gave_up", "gave_up"]).progress()
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


def test_progress_can_be_sent_to_another_process() -> None:
    found = Watched(price=Price(1.0, 10.0), is_down=True, paused_for=3.0).progress()
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_rate_is_that_of_the_last_seconds() -> None:
    run = Watched(planned=100)
    run.progress()
    run.clock.now += 2
    run.more(4)
    found = run.progress()
    assert found.rate == 2.0
    assert found.seconds_left == 45.0
    run.clock.now += 1_000
    assert run.progress().rate is None
    run.clock.now += 1
    run.more(5)
    assert run.progress().rate == 5.0


def test_there_is_no_forecast_before_the_first_wave() -> None:
    run = Watched(planned=6_406)
    run.progress(64)
    run.clock.now += 61.0
    run.more(1)
    assert run.progress(64).seconds_left is None  # not 4 days
    run.clock.now += 3.0
    run.more(63)
    assert run.progress(64).seconds_left == pytest.approx(6_336.0)


def test_a_part_of_a_large_wave_is_enough() -> None:
    run = Watched(planned=12_800)
    run.progress(4_096)
    run.clock.now += 4.0
    run.more(400)
    assert run.progress(4_096).seconds_left == pytest.approx(123.94)


def test_answers_that_come_in_waves_are_forecast_from_whole_waves() -> None:
    run = Watched(planned=10_006)
    forecasts = []
    for _ in range(600):  # 64 answers a minute, all at once
        run.clock.now += 1.0
        if run.clock.now % 60 == 40:
            run.more(64)
        found = run.progress(64)
        if found.seconds_left is not None:
            left = 10_006 - found.tasks[0].done
            forecasts.append(found.seconds_left / left * 64 / 60)
    assert len(forecasts) > 400
    assert min(forecasts) > 0.5
    assert max(forecasts) < 2.1


def test_a_forecast_has_the_wait_in_it() -> None:
    run = Watched(planned=100)
    run.progress()
    run.clock.now += 2
    run.more(4)
    run.endpoint.paused_for = 30.0
    assert run.progress().seconds_left == 75.0


def test_what_is_repeated_is_counted() -> None:
    found = Watched(retries={"rate_limited": 2}, backing_off=1).progress()
    assert (found.retries, found.backing_off) == ({"rate_limited": 2}, 1)


def test_what_is_left_is_never_less_than_nothing() -> None:
    run = Watched(planned=1)
    run.progress()
    run.clock.now += 1
    run.more(1)
    assert run.progress().seconds_left == 0.0


@pytest.mark.parametrize(
    ("state", "waiting"),
    [
        ({"is_stopping": True, "is_down": True}, Waiting("stopping", 0.0)),
        ({"is_down": True, "paused_for": 75.0}, Waiting("server-down", 75.0)),
        ({"paused_for": 30.0}, Waiting("rate-limited", 30.0)),
        ({"paused_for": 0.5}, None),
    ],
)
def test_why_nothing_is_asked(state: dict[str, Any], waiting: Waiting | None) -> None:
    assert Watched(**state).progress().waiting == waiting


def test_an_estimate_is_made_again_only_for_new_trials_and_takes_a_fiftieth_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, made, estimate = Watched(planned=100), [], Counters.estimate

    def slow(self: Counters) -> Any:
        made.append(self.done)
        run.clock.now += 0.2
        return estimate(self)

    monkeypatch.setattr(Counters, "estimate", slow)
    run.progress()
    run.clock.now += 60
    run.progress()  # no new trial
    assert made == [6]
    run.more(1)
    assert run.progress().tasks[0].estimate is not None
    run.more(1)
    run.clock.now += 9  # of ten seconds
    assert run.progress().tasks[0].done == 8
    assert made == [6, 7]
    run.clock.now += 1
    run.progress()
    assert made == [6, 7, 8]


def test_no_estimate_while_the_statistics_are_not_there() -> None:
    run = Watched()
    run.meter.can_estimate = False
    assert run.progress().tasks[0].estimate is None
    assert Watched(rows=[[1.0]]).progress().tasks[0].estimate is None


def test_graded_scores_have_an_estimate_too() -> None:
    found = Watched(rows=[[0.5, 0.25], [1.0, 0.5], [0.0, None]]).progress().tasks[0].estimate
    assert found is not None
    assert found.value == pytest.approx((0.375 + 0.75 + 0.0) / 3)
