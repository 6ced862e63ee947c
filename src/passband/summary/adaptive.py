"""The summary of an adaptive test: ability, the accuracy of the bank, and how it got there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passband import notes
from passband.adaptive.recorded import RecordedTest, read_recorded
from passband.stats.interval.estimate import Estimate
from passband.summary.summary import AdaptiveResult, Group, Line, Request
from passband.trials.reader import RunRecord, ScorerRecord, Trials

__all__ = ["adaptive_group"]


def adaptive_group(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, request: Request, by: Mapping[str, str]
) -> Group:
    """Return the counts of an adaptive test, its ability and the accuracy of its bank.

    Metrics by name have a reason instead of a value: they would average over chosen items.
    """
    recorded = read_recorded(trials, run, scorer, request.level)
    test = recorded.test
    named = [Line(name, scorer.name, None, notes.ADAPTIVE_ITEMS) for name in request.metrics]
    counts = [step.trials for step in test.history] or [0]
    return Group(
        task=run.task,
        model=run.model,
        by=dict(by),
        n_problems=len(test.history),
        n_trials=recorded.n_trials,
        statuses=_statuses(trials, run, recorded),
        is_binary=False,
        trials_per_problem=(min(counts), max(counts)),
        retried=trials.retried(run.number),
        notes=tuple(_notes(recorded)),
        lines=tuple(named or _lines(recorded, request, scorer.name)),
        adaptive=_result(recorded),
    )


def _lines(recorded: RecordedTest, request: Request, scorer: str) -> Iterator[Line]:
    """Yield ability, and the accuracy of the whole bank by each road that there is."""
    ability = recorded.test.ability()
    template: dict[str, Any] = {
        "level": request.level,
        "over": "problems",
        "n_problems": len(recorded.test.history),
        "n_trials": recorded.n_trials,
        "left_out": 0,
        "n_unscored": recorded.n_unscored,
        "policy": request.policy,
        "seed": None,
    }
    theta = Estimate(
        **template,
        metric="theta",
        value=ability.theta,
        low=ability.low,
        high=ability.high,
        se=ability.se,
        method=ability.method,
        notes=ability.notes,
    )
    yield Line("theta", scorer, theta)


def _statuses(trials: Trials, run: RunRecord, recorded: RecordedTest) -> dict[str, int]:
    """Return trials by status; "ok" are those with a score."""
    statuses = {"ok": 0, **trials.statuses(run.number)}
    unscored = statuses["ok"] - recorded.n_trials
    return {**statuses, "ok": recorded.n_trials, **({"no score": unscored} if unscored else {})}


def _result(recorded: RecordedTest) -> AdaptiveResult:
    test = recorded.test
    return AdaptiveResult(
        bank=test.bank.name,
        hash=test.bank.hash,
        split=test.bank.splits[0],
        model=test.bank.model,
        n_bank=len(test.bank.items),
        stop=test.stop if recorded.is_path else None,
        path=tuple(test.history),
    )


def _notes(recorded: RecordedTest) -> Iterator[notes.Note]:
    test = recorded.test
    yield notes.adaptive_test(
        len(test.history), len(test.bank.items), test.bank.name, test.bank.splits[0]
    )
    if not recorded.is_path:
        yield notes.ADAPTIVE_RESCORED
    elif test.stop is None:
        yield notes.ADAPTIVE_UNFINISHED
    else:
        yield notes.adaptive_stop(test.stop, test.se)
    if recorded.n_unscored:
        yield notes.adaptive_unscored(recorded.n_unscored)
