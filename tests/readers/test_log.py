"""A log: what counts as scored, as failed and as missing, and what it says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from passband.readers import Log, Remark, Source, read
from passband.stats.data.scale import UNIT, UNSTATED
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow

PROBLEMS = [ProblemRow(0, "a", "{}"), ProblemRow(1, "b", "{}")]
TRIALS = [
    TrialRow(0, 1, "ok", scores=[ScoreRow(0, 0.0), ScoreRow(1, 0.5)]),
    TrialRow(0, 0, "ok", scores=[ScoreRow(0, 1.0), ScoreRow(1, 1.0)]),
    TrialRow(1, 0, "errored"),
    TrialRow(1, 2, "limit", scores=[ScoreRow(0, 1.0)]),
]
LOG = Log("t", "m", Source("some", "f", ""), PROBLEMS, TRIALS, ("exact", "graded"), planned=3)


def test_planned_trials_without_a_row_are_missing() -> None:
    outcomes = LOG.outcomes()
    assert outcomes.trials.tolist() == [2, 1]
    assert {name: counts.tolist() for name, counts in outcomes.unscored.items()} == {
        "errored": [0, 1],
        "missing": [1, 1],
    }


def test_nothing_is_missing_where_no_number_was_planned() -> None:
    assert set(replace(LOG, planned=None).outcomes().unscored) == {"errored"}


def test_more_trials_than_planned_are_not_less_than_none_missing() -> None:
    assert set(replace(LOG, planned=1).outcomes().unscored) == {"errored"}


def test_a_trial_that_was_stopped_and_scored_counts() -> None:
    assert LOG.outcomes().successes.tolist() == [1, 1]


def test_trials_may_come_in_any_order() -> None:
    assert LOG.outcomes("graded").graded.values.tolist() == [1.0, 0.5]


def test_the_scale_is_that_of_the_scorer() -> None:
    bounded = replace(LOG, scales={"graded": UNIT})
    assert bounded.scale() == UNSTATED
    assert bounded.scale("graded") == bounded.outcomes("graded").scale == UNIT


@pytest.mark.parametrize("important", [False, True])
def test_remarks_of_a_log_reach_the_reader(important: bool) -> None:
    remark = Remark("2 lines were left out", important)
    assert remark in read(replace(LOG, remarks=(remark,))).remarks
