"""Counts of what is recorded."""

import pytest

from passband.run.task_run import Counters, Price
from passband.trials.rows import ScoreRow, TrialRow
from support.runs.runs import Bench, Notes, sums


def row(
    problem: int, text: str | None = "a", value: float | None = 1.0, **more: object
) -> TrialRow:
    scores = [ScoreRow(1, value), ScoreRow(2, 0.5)]
    return TrialRow(problem, 0, more.pop("status", "ok"), text, scores=scores, **more)  # type: ignore[arg-type]


def test_a_price_is_per_million() -> None:
    assert Price(2.0, 8.0).of(1_000_000, 500_000) == 6.0


def test_rows_are_counted() -> None:
    counters = Counters(2, 10, 1)
    counters.committed([row(0, prompt_tokens=3, completion_tokens=4), row(1, status="truncated")])
    assert (counters.done, counters.fresh) == (2, 2)
    assert (counters.prompt_tokens, counters.completion_tokens) == (3, 4)
    assert counters.statuses["ok"] == counters.statuses["truncated"] == 1


def test_what_was_there_before_is_not_fresh() -> None:
    counters = Counters(2, 10, 1)
    counters.start_from({"ok": 3, "refused": 1}, (30, 40))
    counters.committed([row(0, prompt_tokens=1, completion_tokens=1)])
    assert (counters.done, counters.fresh) == (5, 1)
    assert (counters.prompt_tokens, counters.completion_tokens) == (31, 41)


def test_an_estimate_needs_two_problems_with_scores() -> None:
    counters = Counters(3, 10, 1)
    counters.committed([row(0)])
    assert counters.estimate() is None
    counters.committed([row(1, value=0.0), row(2, value=None)])
    found = counters.estimate()
    assert found is not None
    assert found.value == 0.5
    assert found.n_problems == 2


@pytest.mark.parametrize("values", [[0.25, 0.5], [-3.0, 70.0], [1.0, 2.0]])
def test_any_score_can_be_estimated_from(values: list[float]) -> None:
    counters = Counters(2, 10, 1)
    counters.committed([row(at, value=value) for at, value in enumerate(values)])
    found = counters.estimate()
    assert found is not None
    assert found.value == pytest.approx(sum(values) / 2)


def test_a_resumed_tally_is_that_of_one_run(bench: Bench, another: Bench) -> None:
    tallies = []
    for where, steps in ((bench, [2, 5]), (another, [5])):
        where.notes = Notes()
        for n in steps:
            seen: list[Counters] = []
            where.notes.on_tick = lambda runner, seen=seen: seen.append(
                runner.task_runs[0].counters
            )
            where.play(task=sums(4), n=n)
        tallies.append(seen[-1])
    one, other = tallies
    assert (one.done, one.planned, one.statuses) == (other.done, other.planned, other.statuses)
    assert (one.prompt_tokens, one.completion_tokens) == (20 * 4, other.completion_tokens)
    assert one.estimate() == other.estimate()
