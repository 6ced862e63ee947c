"""Calls to judges travel with their scorer; two replies that contradict each other are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from passband.trials.file.schema import STORE_FILE
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from passband.trials.repair.audit import audit_store
from passband.trials.rows import CallRow, ScoreRow, TrialRow
from passband.trials.settings import SettingsChanged
from support.samples.stores import begin, call, entries, problem, writing


def shard(directory: Path, calls: Sequence[CallRow], positions: Sequence[int] = (0, 1, 2)) -> Path:
    """A directory whose third scorer is the judge; problems may be numbered in another order."""
    with writing(directory) as store:
        run, scorers = begin(store, [problem(at) for at in positions], [("x", "1"), ("judge", "1")])
        judge = scorers[1]
        store.append(run, [TrialRow(at, 0, "ok", f"text {positions[at]}",
                                    scores=[ScoreRow(judge, 1.0)]) for at in range(3)])  # fmt: skip
        assert judge == 2
        store.add_calls(calls)
    return directory


def calls_in(directory: Path) -> list[CallRow]:
    assert audit_store(directory).damage == []
    with Trials(directory) as trials:
        judge = trials.run().scorer("judge").number
        rows = list(trials.calls(judge))
        assert trials.call_totals(judge).calls == len(rows)
        assert trials.call_totals(judge).cost == sum(row.cost or 0 for row in rows)
    return rows


def test_calls_travel_with_their_scorer_and_their_problem(tmp_path: Path) -> None:
    one = shard(tmp_path / "one", [call(2, 0, 0), call(2, 1, 0)])
    two = shard(tmp_path / "two", [call(2, 0, 0, 1, reply="of p2")], positions=(2, 1, 0))
    report = merge_directories([one, two], tmp_path / "whole")
    assert report.calls == 3
    rows = calls_in(tmp_path / "whole")
    assert [(row.problem, row.call) for row in rows] == [(0, 0), (1, 0), (2, 1)]
    assert rows[2].reply == "of p2"
    assert merge_directories([one, two], tmp_path / "whole").calls == 0
    assert calls_in(tmp_path / "whole") == rows


def test_a_scorer_that_is_no_longer_used_keeps_its_calls(tmp_path: Path) -> None:
    one = shard(tmp_path / "one", [call(2, 0, 0)])
    with writing(one) as store:
        store.set_scorers(1, entries([("judge", "2")]))
    assert merge_directories([one], tmp_path / "whole").calls == 1
    with Trials(tmp_path / "whole") as trials:
        (number,) = (s.number for _, at, s in trials.all_scorers() if at is None)
        assert [row.reply for row in trials.calls(number)] == [call(2, 0, 0).reply]


def test_what_took_longer_or_cost_more_is_the_same_call(tmp_path: Path) -> None:
    one = shard(tmp_path / "one", [call(2, 0, 0)])
    two = shard(tmp_path / "two", [call(2, 0, 0, latency_ms=9, cost=0.5, at_ms=7, attempt=3)])
    assert merge_directories([one, two], tmp_path / "whole").calls == 1
    assert calls_in(tmp_path / "whole") == [call(2, 0, 0)]


@pytest.mark.parametrize(
    "other", [{"reply": "No."}, {"value": 0.0}, {"key": b"another"}, {"status": "no_verdict"}]
)
@pytest.mark.parametrize("attempt", [1, 2])
def test_two_replies_that_contradict_are_refused(tmp_path: Path, other, attempt: int) -> None:
    one = shard(tmp_path / "one", [call(2, 1, 0)])
    two = shard(tmp_path / "two", [call(2, 1, 0, attempt=attempt, **other)])
    before = (one / STORE_FILE).read_bytes()
    if attempt == 2 and "status" in other:  # asked again, and then there was a verdict
        assert merge_directories([two], one).calls == 1
        return
    message = "trial 0 of problem 'p1' of sums is recorded twice, and a judge's reply differs"
    with pytest.raises(SettingsChanged, match=message):
        merge_directories([two], one)
    assert (one / STORE_FILE).read_bytes() == before


def test_failures_are_kept_under_numbers_of_their_own(tmp_path: Path) -> None:
    failed: dict[str, Any] = {
        "status": "failed",
        "value": None,
        "reply": None,
        "cost": None,
        "outcome": "late",
    }
    one = shard(tmp_path / "one", [call(2, 0, 0, **failed), call(2, 0, 0, attempt=2)])
    two = shard(tmp_path / "two", [call(2, 0, 0), call(2, 1, 0, **failed)])
    three = shard(tmp_path / "three", [call(2, 0, 0, **failed, at_ms=5)])
    assert merge_directories([one, two, three], tmp_path / "whole").calls == 4
    rows = calls_in(tmp_path / "whole")
    assert [(row.problem, row.attempt, row.status) for row in rows] == [
        (0, 1, "failed"), (0, 2, "ok"), (0, 3, "failed"), (1, 1, "failed"),
    ]  # fmt: skip
    assert merge_directories([one, two, three], tmp_path / "whole").calls == 0
