"""Votes of a judge, from its calls."""

from __future__ import annotations

from pathlib import Path

from passband.trials.file.judge_calls import votes_of
from passband.trials.reader import Trials
from passband.trials.rows import CallRow
from support.samples.stores import call, judged

NONE = {"status": "no_verdict", "value": None}


def values(*calls: CallRow) -> list[tuple[float, ...]]:
    return [votes.values for votes in votes_of(calls)]


def test_each_vote_counts_once() -> None:
    """Whatever it took: failed calls, replies without a verdict, copies."""
    calls = [
        call(1, 0, 0, 0, status="failed", value=None),
        call(1, 0, 0, 0, attempt=2, **NONE),
        call(1, 0, 0, 0, attempt=3, value=0.0),
        call(1, 0, 0, 2),
        call(1, 0, 0, 2, attempt=2, is_cached=True),
        call(1, 0, 0, 4, **NONE),
        call(1, 0, 1, 0, **NONE),
        call(1, 1, 0, 0, value=0.25),
    ]
    assert values(*calls) == [(0.0, 1.0), (0.25,)]


def test_a_pair_is_one_vote() -> None:
    """In the first order the trial is A, in the second it is B."""
    assert values(call(1, 0, 0, 0, value=1.0), call(1, 0, 0, 1, value=0.0)) == [(1.0,)]
    assert values(call(1, 0, 0, 0, value=1.0), call(1, 0, 0, 1, value=1.0)) == [(0.5,)]
    assert values(call(1, 0, 0, 0, value=0.5), call(1, 0, 0, 1, value=0.0)) == [(0.75,)]
    assert values(call(1, 0, 0, 0, value=1.0), call(1, 0, 0, 1, **NONE)) == []
    second = call(1, 0, 0, 2, value=0.0), call(1, 0, 0, 3, value=1.0)
    assert values(call(1, 0, 0, 0), call(1, 0, 0, 1, **NONE), *second) == [(0.0,)]


def test_votes_of_a_run(tmp_path: Path) -> None:
    with Trials(judged(tmp_path)) as trials:
        found = list(trials.votes(1))
    assert [(votes.problem, votes.trial, votes.values) for votes in found] == [
        (0, 0, (0.875,)), (1, 0, (1.0,)),
    ]  # fmt: skip
