"""The summary of an adaptive test on a server: what the server has computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passband import notes
from passband.errors import InvalidInput
from passband.stats.interval import Estimate
from passband.summary.summary import AdaptiveResult, Group, Line, Request
from passband.trials import RunRecord, ScorerRecord, Trials


def remote_group(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, request: Request, by: Mapping[str, str]
) -> Group:
    """Return the counts of a test on a server, and the ability that it ended with."""
    test: Mapping[str, Any] = run.adaptive or {}
    if "theta" not in test:
        raise InvalidInput(
            f"{run.task}: the test on {test.get('server')} broke off, and the server alone knows "
            "its ability. Evaluate again."
        )
    statuses = trials.statuses(run.number)
    count = len(test["responses"])
    named = [Line(name, scorer.name, None, notes.ADAPTIVE_ITEMS) for name in request.metrics]
    return Group(
        task=run.task,
        model=run.model,
        by=dict(by),
        n_problems=count,
        n_trials=count,
        statuses=statuses,
        is_binary=False,
        trials_per_problem=(1, 1),
        retried=trials.retried(run.number),
        notes=(notes.adaptive_remote(count, test["server"]),),
        lines=tuple(named) or (Line("theta", scorer.name, _theta(test, request, count)),),
        adaptive=_result(test, count),
    )


def _theta(test: Mapping[str, Any], request: Request, count: int) -> Estimate:
    from scipy.special import ndtri

    reach = float(ndtri(0.5 + request.level / 2)) * test["std_error"]
    return Estimate(
        metric="theta",
        value=test["theta"],
        low=test["theta"] - reach,
        high=test["theta"] + reach,
        se=test["std_error"],
        method="server",
        level=request.level,
        over="problems",
        n_problems=count,
        n_trials=count,
        left_out=0,
        n_unscored=0,
        policy=request.policy,
        seed=None,
        notes=(),
    )


def _result(test: Mapping[str, Any], count: int) -> AdaptiveResult:
    """Return what is known of the test; its path is in the reasons of its trials."""
    return AdaptiveResult(
        bank=test["dataset"],
        hash="",
        split=test["split"],
        model="server",
        n_bank=count,
        stop="ended by the server",
    )
