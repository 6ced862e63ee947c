"""`summarize`: any source of trials in, a `Summary` out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from passband import readers
from passband.errors import InvalidInput
from passband.readers import Groups
from passband.stats.checks import as_level, as_whole, check_over, check_text
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.plan.plan import Plan
from passband.stats.interval.estimate import Over
from passband.stats.interval.strata.weights import Weights
from passband.stats.metric.registry import needs_answers
from passband.summary.bracket import with_bracket
from passband.summary.certified import for_groups
from passband.summary.combined import Sample, Stratum, check_population, combine_groups
from passband.summary.default_metrics import default_metrics
from passband.summary.group import group_of, metric_lines, with_tally
from passband.summary.name_notes import name_notes
from passband.summary.recorded_scorer import clipped
from passband.summary.run_summary import summarize_run
from passband.summary.scale import is_share
from passband.summary.summary import Group, Request, Summary
from passband.trials.reader import is_run_directory

__all__ = ["summarize"]


def summarize(
    source: Any,
    metrics: str | Sequence[str] = (),
    *,
    over: Over = "problems",
    method: str = "auto",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
    task: str | Sequence[str] = (),
    model: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    problem: str | None = None,
    trial: str | None = None,
    score: str | None = None,
    status: str | None = None,
    cluster: str | None = None,
    answer: str | None = None,
    threshold: float | None = None,
    plan: Plan | str | Path | None = None,
    skip_bad: bool = False,
    stopped_after: int | None = None,
    cap: int | None = None,
    certify: bool | None = None,
    calibrate: bool = False,
    weights: Weights | None = None,
    population: int | None = None,
) -> Summary:
    """Return every metric of recorded trials with its interval.

    `source` is a run directory, a file of trials, a matrix, a data frame or `Outcomes`. A source
    that holds several models or tasks is summarized group by group. Without `metrics`, a run
    directory gives what ``passband run`` printed, and other sources pass@k and pass^k. With a
    `plan`, each group has a note on what was planned and what was done. With `skip_bad`, records
    that cannot be read are left out and counted.

    Where each problem was tried until it had succeeded some number of times, give that as
    `stopped_after`, and the most trials of a problem as `cap`. Trials that look stopped at the
    first success are taken so, with a note, as the mean of c/n is far too large for them;
    ``stopped_after=0`` says that their numbers were fixed beforehand.

    With `certify` every default interval has the coverage to expect, by simulation; without, only
    a few of unusual designs are tried, and a note says where coverage falls short. With `calibrate`
    such intervals are widened (docs/certify.md).

    With `weights` ("equal", "size", or a share for each group) the groups of each model are
    strata, and their weighted mean is added; see docs/strata.md. With `population`, the problems
    are a random part of that many, and intervals are for the mean over all of those.

    >>> summary = summarize([[1, 0, 1, 1], [0, 0, 0, 1]], "pass@2")
    >>> print(summary.groups[0].lines[0].estimate)
    pass@2 0.75 [0.16, 1.00]
    """
    request = Request(
        _names(metrics),
        over,
        method,
        level,
        policy,
        seed,
        stopped_after,
        cap,
        certify,
        calibrate,
        weights,
        population,
    )
    _check(request)
    columns = {
        "problem": problem, "trial": trial, "score": score, "status": status, "cluster": cluster,
        "answer": answer,
    }  # fmt: skip
    tasks, models, split = _names(task), _names(model), _names(by)
    if _is_run(source) and not (split or threshold is not None or _others(columns)):
        return summarize_run(
            source, request, tasks=tasks, models=models, scorer=score, plan=_plan(plan)
        )
    groups = readers.read(
        source,
        columns=columns,
        by=split,
        threshold=threshold,
        tasks=tasks,
        models=models,
        skip_bad=skip_bad,
        answers=needs_answers(request.metrics),
    )
    return _summarized(groups, request, _plan(plan))


def _summarized(groups: Groups, request: Request, plan: Plan | None) -> Summary:
    members: list[Group] = []
    asked = for_groups(request, len(groups.groups))
    for group in groups.groups:
        by = dict(zip(groups.by, group.key, strict=True))
        scorer = None if group.tally is None else group.tally.scorer
        member = _group(group.outcomes, by, asked, plan, scorer)
        if group.tally is not None:
            member = with_tally(member, group.tally)
        share = is_share(group.outcomes, group.bounds)
        lines = tuple(replace(x, is_share=share) for x in clipped(member.lines, group.bounds))
        members.append(replace(member, task=group.task, model=group.model, lines=lines))
    columns = {} if groups.columns is None else asdict(groups.columns)
    strata = [
        Stratum(member, _samples(member, group))
        for member, group in zip(members, groups.groups, strict=True)
    ]
    check_population(members, request)
    combined = combine_groups(strata, request)
    return Summary(groups.source, request, tuple(members), groups.remarks, columns, combined)


def _samples(member: Group, group: readers.Group) -> dict[str, Sample]:
    return {line.metric: Sample(group.outcomes, line.metric, group.bounds) for line in member.lines}


def _plan(plan: Plan | str | Path | None) -> Plan | None:
    return Plan.load(plan) if isinstance(plan, (str, Path)) else plan


def _group(
    outcomes: Outcomes,
    by: dict[str, str],
    request: Request,
    plan: Plan | None,
    scorer: str | None,
) -> Group:
    group = group_of(outcomes, request, by, plan=plan)
    counted = outcomes.under(request.policy)
    names = request.metrics or default_metrics(counted)
    group = replace(
        group,
        lines=tuple(metric_lines(outcomes, names, request, scorer)),
        notes=(*group.notes, *name_notes(names, counted)),
    )
    return with_bracket(group, outcomes, scorer)


def _check(request: Request) -> None:
    check_over(request.over)
    as_level(request.level)
    check_text("method", request.method, "auto")
    if (request.certify or request.calibrate) and request.method != "auto":
        raise InvalidInput(
            "certify and calibrate simulate the default interval, method 'auto'; "
            f"got {request.method!r}."
        )
    if request.cap is not None and not request.stopped_after:
        raise InvalidInput("cap goes with stopped_after: the successes that ended a problem.")
    if request.stopped_after is not None and request.stopped_after != 0:
        as_whole("stopped_after", request.stopped_after)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _is_run(source: Any) -> bool:
    return isinstance(source, (str, Path)) and is_run_directory(Path(source))


def _others(columns: dict[str, str | None]) -> bool:
    return any(name is not None for role, name in columns.items() if role != "score")
