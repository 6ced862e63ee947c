"""Make the groups of a summary: counts and notes from outcomes, lines from metrics.

Trials that were stopped by their own outcome get the lines of a design that allows for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passband.errors import InvalidInput, NotEnoughData, UnknownName
from passband.notes import Note
from passband.readers import Remark, RunTally
from passband.stats.data import SPENT_METRICS, Outcomes, Policy
from passband.stats.evidence import StoppedCounts, evidence_of, stopping_of
from passband.stats.interval import Estimate, estimate, no_certificate, on_scale
from passband.stats.metric import (
    bounds,
    expand_metrics,
    measure,
    not_enough_data,
    not_measurable,
    parse_metric,
    parse_name,
)
from passband.summary import notes
from passband.summary.default_metrics import default_metrics
from passband.summary.lines import certified_lines
from passband.summary.summary import (
    Combined,
    Group,
    Line,
    Request,
    ScorerCounts,
    Summary,
    spread_of,
)

if TYPE_CHECKING:
    from passband.stats.decision import Plan


def looks_stopped(outcomes: Outcomes, request: Request) -> StoppedCounts | None:
    """Return why the trials are taken as stopped by their own outcome, if they are.

    A request that says how trials were stopped, or that they were not, is believed.
    """
    if request.stopped_after is not None or outcomes.successes is None:
        return None
    if not outcomes.most_trials():
        return None
    stopping = stopping_of(outcomes.histogram)
    return stopping if stopping.is_alarm else None


def stopped_lines(
    outcomes: Outcomes,
    names: Sequence[str],
    request: Request,
    scorer: str | None,
    stopping: StoppedCounts | None = None,
) -> list[Line]:
    """Estimate pass@k of trials that were stopped by their outcome, as given or as they look."""
    from passband.stats.sequential import StoppingRule, estimate_stopped

    if request.population is not None:
        raise InvalidInput(
            "population is for numbers of trials fixed beforehand, and these were stopped by their "
            "own outcome; leave it out, or say stopped_after=0 (in the shell, --stopped-after 0) "
            "if they were not."
        )
    counted = outcomes.counted(request.policy)
    cap = counted.most_trials() if request.cap is None else request.cap
    rule = StoppingRule(request.stopped_after or 1, cap)
    lines: list[Line] = []
    wanted = names if request.metrics else default_metrics(Outcomes.from_counts([0], cap))[:1]
    for name in dict.fromkeys(one for several in wanted for one in _single(several, cap)):
        try:
            result = estimate_stopped(counted, name, rule, level=request.level, over=request.over)
        except UnknownName:
            raise
        except InvalidInput as error:
            lines.append(Line(name, scorer, None, _reason(str(error), stopping)))
        else:
            result = on_scale(result, parse_metric(name), outcomes)
            found = _notes(result, request, stopping)
            lines.append(Line(name, scorer, replace(result, notes=found)))
    return lines


def _notes(result: Estimate, request: Request, stopping: StoppedCounts | None) -> tuple[Note, ...]:
    noted = result.notes if stopping is None else (_taken(stopping), *result.notes)
    if request.certify or request.calibrate:
        noted += (no_certificate("the trials were stopped by their own outcome"),)
    return noted


def _reason(message: str, stopping: StoppedCounts | None) -> Note:
    reason = message if stopping is None else f"{message} {_taken(stopping)}."
    return not_measurable(reason)


def _taken(stopping: StoppedCounts) -> Note:
    return notes.taken_as_stopped(stopping.p_value, stopping.problems, stopping.cap)


def _single(name: str, cap: int) -> list[str]:
    """Return a name with several k, or every k up to the cap, as one name for each.

    >>> _single("pass@1,4", 8), _single("pass@*", 3)
    (['pass@1', 'pass@4'], ['pass@1', 'pass@2', 'pass@3'])
    """
    parsed = parse_name(name)
    ks = range(1, cap + 1) if parsed.ks is None else parsed.ks
    return [parsed.at(k) for k in ks] or [name]


def group_of(
    outcomes: Outcomes,
    request: Request,
    by: Mapping[str, str],
    *,
    task: str | None = None,
    model: str | None = None,
    plan: Plan | None = None,
) -> Group:
    """Return a group with its counts and notes, and no lines yet."""
    clusters = outcomes.clusters
    planned = () if plan is None else (notes.planned(plan.check(outcomes)),)
    return Group(
        task=by.get("task") if task is None else task,
        model=by.get("model") if model is None else model,
        by=dict(by),
        n_problems=outcomes.n_problems,
        n_trials=outcomes.n_trials,
        statuses=outcomes.status_counts,
        is_binary=outcomes.is_binary,
        trials_per_problem=(int(outcomes.trials.min()), outcomes.most_trials()),
        n_clusters=None if clusters is None else len(set(clusters)),
        notes=(*unscored_notes(outcomes, request.policy), *planned),
        evidence=evidence_of(outcomes.counted(request.policy)).if_any(),
        spread=spread_of(outcomes.counted(request.policy)),
    )


def with_tally(group: Group, tally: RunTally) -> Group:
    """Return the group with what the rows of its run say beyond outcomes."""
    return replace(
        group,
        retried=tally.retried,
        incomplete={str(status): count for status, count in tally.incomplete.items()},
        scorers=tuple(
            ScorerCounts(name, **{"ok": 0} | dict(statuses))
            for name, statuses in tally.scores.items()
        ),
        notes=(*group.notes, *_tally_notes(tally, sum(group.statuses.values()))),
    )


def _tally_notes(tally: RunTally, n_trials: int) -> Iterator[Note]:
    """Yield notes on errors, retries, and trials that were scored though cut short."""
    if errors := tally.scores[tally.scorer].get("error", 0):
        yield notes.scorer_errors(tally.scorer, errors, tally.first_error)
    if tally.errored and tally.first_failure:
        yield notes.task_errors(tally.errored, tally.first_failure)
    if tally.incomplete:
        yield notes.scored_incomplete({str(s): count for s, count in tally.incomplete.items()})
    if tally.retried:
        yield notes.retried(tally.retried, n_trials)


def metric_lines(
    outcomes: Outcomes, names: Sequence[str], request: Request, scorer: str | None = None
) -> list[Line]:
    """Estimate metrics by name; one that these outcomes do not allow has a reason instead.

    A name that no metric has is an error. Trials that look stopped by their own outcome are
    estimated as such, with a note, unless the request says how they were stopped.
    """
    counted = outcomes.counted(request.policy)
    stopping = looks_stopped(counted, request)
    if request.stopped_after or stopping is not None:
        spent = [name for name in names if name in SPENT_METRICS]
        others = [name for name in names if name not in spent]
        lines = [_line(outcomes, name, request, scorer) for name in spent]
        if spent and not others:
            return lines
        return [*stopped_lines(outcomes, others, request, scorer, stopping), *lines]
    lines = []
    for name in dict.fromkeys(names):
        try:
            counted.require(1)
            metrics = [metric.name for metric in expand_metrics(name, counted.most_trials())]
        except UnknownName:
            raise
        except InvalidInput as error:
            metrics = _single_names(name)
            if len(metrics) == 1:
                lines.append(Line(name, scorer, None, _no_estimate(error)))
                continue
        lines += [_line(outcomes, metric, request, scorer) for metric in metrics]
    return certified_lines(lines, outcomes, request)


def _unbiased_first(outcomes: Outcomes, request: Request) -> int | None:
    """Return how many first trials of each problem to use, where all of them would mislead."""
    if request.policy != "drop" and outcomes.unscored:
        return None  # failed trials have no place in the order
    finding = evidence_of(outcomes.counted(request.policy)).against(request.over, 1)
    first = None if finding is None else finding.numbers.get("first")
    return first if isinstance(first, int) else None


def with_first_lines(
    lines: list[Line], outcomes: Outcomes, request: Request, of_first: Callable[[int], Outcomes]
) -> list[Line]:
    """Return lines, each followed by the same metric of the first trials of each problem.

    Only where all trials would mislead: the first ones were asked whatever the results.
    """
    trials = _unbiased_first(outcomes, request)
    if trials is None:
        return lines
    try:
        first = of_first(trials)
    except InvalidInput:  # their order is not known, as a note says
        return lines
    request = replace(request, certify=False)
    shown = []
    for line in lines:
        shown.append(line)
        biased = line.estimate
        if biased is None or biased.low is not None:
            continue
        if max(parse_name(biased.metric).ks or (1,)) <= trials:
            (again,) = metric_lines(first, [biased.metric], request, line.scorer)
            shown.append(replace(again, metric=f"{line.metric} (first {trials})"))
    return shown


def _single_names(name: str) -> list[str]:
    """Return a name with several values of k as one name for each.

    >>> _single_names("pass@1,20"), _single_names("avg")
    (['pass@1', 'pass@20'], ['avg'])
    """
    parsed = parse_name(name)
    return [parsed.at(k) for k in parsed.ks] if parsed.ks else [name]


def _line(outcomes: Outcomes, metric: str, request: Request, scorer: str | None) -> Line:
    try:
        result = estimate(outcomes, metric, **request.options())
    except UnknownName:
        raise
    except InvalidInput as error:
        return Line(metric, scorer, None, _no_estimate(error))
    return Line(result.metric, scorer, result)


def _no_estimate(error: InvalidInput) -> Note:
    make = not_enough_data if isinstance(error, NotEnoughData) else not_measurable
    return make(str(error))


def unscored_notes(outcomes: Outcomes, policy: Policy) -> tuple[Note, ...]:
    """Return notes on the trials without a score: how many, why, and their effect at most."""
    if not outcomes.n_unscored:
        return ()
    counts = {
        status: count
        for status, count in outcomes.status_counts.items()
        if count and status != "ok"
    }
    extremes = bounds(outcomes, "pass@1") if outcomes.n_trials else None
    total = outcomes.n_trials + outcomes.n_unscored
    note = notes.unscored(
        counts,
        total,
        policy,
        extremes,
        None if extremes is None else measure(outcomes, "pass@1", policy=policy).value,
    )
    is_hinted = "truncated" in counts and policy == "drop"
    return (note, notes.TRUNCATED) if is_hinted else (note,)


_USUAL = ("task", "model")
_RUN = "run"  # the column of sources, where task and model do not tell groups apart


def join_summaries(summaries: Mapping[str, Summary], *, by_model: bool = False) -> Summary:
    """Return one summary of several, which are given by the short name of their source.

    Groups are set apart by task and model where these differ, by what their own source splits
    them by, and by their source where that is not enough. They come task by task, and within a
    task in the order of the sources. With `by_model`, groups have their model in any case.
    """
    first = next(iter(summaries.values()))
    if len(summaries) == 1 and not by_model:
        return first
    groups = [(name, group) for name, summary in summaries.items() for group in summary.groups]
    keys = _keys(groups, by_model)
    members = [replace(group, by=key) for (_, group), key in zip(groups, keys, strict=True)]
    tasks = list(dict.fromkeys(group.task for group in members))
    members.sort(key=lambda group: tasks.index(group.task))
    return Summary(
        ", ".join(summary.source for summary in summaries.values()),
        first.request,
        tuple(members),
        tuple(_remarks(summaries)),
        first.columns if len({str(summary.columns) for summary in summaries.values()}) == 1 else {},
        tuple(_combined(summaries, keys)),
    )


def _keys(groups: Sequence[tuple[str, Group]], by_model: bool) -> list[dict[str, str]]:
    """Return what sets each group apart from all others."""
    names = [{"task": group.task or "-", "model": group.model or source, **group.by}
             for source, group in groups]  # fmt: skip
    split = dict.fromkeys(name for _, group in groups for name in group.by if name not in _USUAL)
    apart = [
        name
        for name in _USUAL
        if len({one[name] for one in names}) > 1 or (by_model and name == "model")
    ]
    keys = [{name: one.get(name, "-") for name in (*apart, *split)} for one in names]
    if len({tuple(key.items()) for key in keys}) < len(keys):
        return [{_RUN: source, **key} for (source, _), key in zip(groups, keys, strict=True)]
    return keys


def _remarks(summaries: Mapping[str, Summary]) -> list[Remark]:
    """Return the remarks on all sources once, then those on some with the name of their source."""
    lists = [summary.remarks for summary in summaries.values()]
    common = [remark for remark in lists[0] if all(remark in others for others in lists)]
    rest = [
        remark._replace(text=f"{name}: {remark}")
        for name, summary in summaries.items()
        for remark in summary.remarks
        if remark not in common
    ]
    return [*common, *rest]


def _combined(
    summaries: Mapping[str, Summary], keys: Sequence[Mapping[str, str]]
) -> list[Combined]:
    """Return the means over the groups of each source, with what sets that source apart."""
    combined: list[Combined] = []
    first = 0
    for summary in summaries.values():
        own_keys = keys[first : first + len(summary.groups)]
        first += len(summary.groups)
        shared = {
            name: own_keys[0][name]
            for name in ("model", _RUN)
            if own_keys and name in own_keys[0] and len({key[name] for key in own_keys}) == 1
        }
        combined += [replace(mean, by={**shared, **mean.by}) for mean in summary.combined]
    return combined
