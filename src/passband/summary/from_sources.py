"""Summarise any source of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband import readers
from passband.errors import InvalidInput
from passband.readers import (
    Groups,
    JudgeScores,
    Remark,
    chosen_sources,
    expand_sources,
    is_several,
    short_names,
)
from passband.stats import Over, as_level, as_whole, check_over, check_text
from passband.stats.data import NOTHING, Outcomes, Policy, Roles, Scale
from passband.stats.interval import Weights
from passband.stats.metric import needs_answers
from passband.summary.default_metrics import default_metrics, name_notes
from passband.summary.group import (
    group_of,
    join_summaries,
    metric_lines,
    with_first_lines,
    with_tally,
)
from passband.summary.judged.prices import read_prices
from passband.summary.judged.result import rests_on_labels
from passband.summary.lines import for_groups, on_line_scale
from passband.summary.means import Sample, Stratum, check_population, combine_groups
from passband.summary.summary import Group, Request, Summary
from passband.summary.unscored_range import with_unscored_range
from passband.trials import is_run_directory

if TYPE_CHECKING:
    from passband.stats.decision import Plan
    from passband.stats.judged import Prices


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
    judge: str | None = None,
    label: str | None = None,
    prices: Prices | Mapping[str, float] | None = None,
    scales: Mapping[str, Scale] | None = None,
    first: int | None = None,
    accept: str | Sequence[str] = (),
) -> Summary:
    """Return every metric of recorded trials with its interval.

    `source` is a run directory, a file of trials, a matrix, a data frame or `Outcomes`; or several
    paths, or a folder of run directories (docs/run.md). A source that holds several models or
    tasks is summarized group by group. Without `metrics`, a run
    directory gives what ``passband run`` printed, and other sources pass@k and pass^k. With a
    `plan`, each group has a note on what was planned and what was done. With `skip_bad`, records
    that cannot be read are left out and counted.

    Where each problem was tried until it had succeeded some number of times, give that as
    `stopped_after`, and the most trials of a problem as `cap`. Trials that look stopped at the
    first success are taken so, with a note, as the mean of c/n is far too large for them;
    ``stopped_after=0`` says that their numbers were fixed beforehand.

    With `certify` every default interval has the coverage to expect, by simulation; without, only
    a few of unusual designs are tried, and a note says where coverage falls short. With `calibrate`
    such intervals are widened (docs/which-interval.md).

    With `weights` ("equal", "size", or a share for each group) the groups of each model are
    strata, and their weighted mean is added; see docs/paper.md. With `population`, the problems
    are a random part of that many, and intervals are for the mean over all of those.

    With `judge`, a scorer or column is taken as a judge, and with `label` another one as what
    people say of some of its trials: estimates are corrected by the labels, and without labels
    they are called the judge's. With `prices` (of a label, vote, trial, problem), what would help
    is put in order of what it brings for its price; see docs/judges.md.

    `scales` says by name of a column or scorer what range its scores have, and whether lower ones
    are better; see docs/metrics.md. With `first`, only so many first trials of each problem are
    used. `accept` takes codes of findings about the data that are known to do no harm, such as
    "trials-related": intervals are given all the same.

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
        judge,
        label,
        read_prices(prices),
        _names(accept),
        None if first is None else as_whole("first", first),
    )
    _check(request)
    columns = {
        "problem": problem, "trial": trial, "score": score, "status": status, "cluster": cluster,
        "answer": answer, "judge": judge, "label": label,
    }  # fmt: skip
    reading = _Reading(
        columns, _names(by), _names(task), _names(model), threshold, skip_bad, _plan(plan),
        scales or {},
    )  # fmt: skip
    if is_several(source):
        return _summarize_several(source, request, reading)
    return _summarize_one(source, request, reading)


@dataclass(frozen=True)
class _Reading:
    """How a source is to be read."""

    columns: Mapping[str, str | None]
    by: tuple[str, ...]
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    threshold: float | None
    skip_bad: bool
    plan: Plan | None
    scales: Mapping[str, Scale]

    @property
    def takes_runs(self) -> bool:
        """Whether a run directory can be summarized as it was asked, by its metric lists."""
        taken = ("score", "judge", "label")
        others = [name for role, name in self.columns.items() if role not in taken]
        return not self.by and self.threshold is None and not any(map(_is_given, others))


def _summarize_one(source: Any, request: Request, reading: _Reading) -> Summary:
    if _is_run(source) and reading.takes_runs:
        from passband.summary.from_run import summarize_run

        return summarize_run(
            source,
            request,
            tasks=reading.tasks,
            models=reading.models,
            scorer=reading.columns["judge"] or reading.columns["score"],
            plan=reading.plan,
            scales=reading.scales,
        )
    groups = readers.read(
        source,
        columns=reading.columns,
        by=reading.by,
        threshold=reading.threshold,
        tasks=reading.tasks,
        models=reading.models,
        skip_bad=reading.skip_bad,
        answers=needs_answers(request.metrics),
        scales=reading.scales,
        first=request.first,
    )
    return _summarized(groups, request, reading.plan)


def _summarize_several(source: Any, request: Request, reading: _Reading) -> Summary:
    """Summarize each of several sources, and join them; those without such trials are named."""
    paths = expand_sources(source if isinstance(source, (list, tuple)) else [source])
    path_request = for_groups(request, len(paths))
    names = dict(zip(paths, short_names(paths), strict=True))
    summaries: dict[str, Summary] = {}
    left_out: list[Remark] = []
    for path, chosen in chosen_sources(paths, reading.tasks, reading.models).items():
        if isinstance(chosen, str):
            left_out.append(Remark(chosen))
            continue
        tasks, models = chosen
        path_reading = replace(reading, tasks=tuple(tasks), models=tuple(models))
        summaries[names[path]] = _summarize_one(path, path_request, path_reading)
    if not summaries:
        raise InvalidInput(" ".join(f"{remark}." for remark in left_out))
    joined = join_summaries(summaries)
    return replace(joined, request=request, remarks=(*joined.remarks, *left_out))


def _summarized(groups: Groups, request: Request, plan: Plan | None) -> Summary:
    members: list[Group] = []
    group_request = for_groups(request, len(groups.groups))
    for group in (_accepting(group, request) for group in groups.groups):
        by = dict(zip(groups.by, group.key, strict=True))
        scorer = None if group.tally is None else group.tally.scorer
        member = _group(group.outcomes, by, group_request, plan, scorer)
        if group.tally is not None:
            member = with_tally(member, group.tally)
        share, scale = group.outcomes.is_share, group.outcomes.scale
        lines = tuple(on_line_scale(line, scale, share) for line in member.lines)
        member = replace(member, task=group.task, model=group.model, lines=lines)
        members.append(_judged(member, group.judged, group_request))
    columns = {} if groups.columns is None else _columns(groups.columns)
    strata = [
        Stratum(member, _samples(member, group))
        for member, group in zip(members, groups.groups, strict=True)
    ]
    check_population(members, request)
    combined = combine_groups(strata, request)
    return Summary(groups.source, request, tuple(members), groups.remarks, columns, combined)


def _accepting(group: readers.Group, request: Request) -> readers.Group:
    return replace(group, outcomes=group.outcomes.accepting(request.accepted))


def _judged(member: Group, scores: JudgeScores | None, request: Request) -> Group:
    """Return a group whose scores are a judge's with its lines corrected, or named as such."""
    if scores is None:
        return member
    from passband.summary.from_run import with_judge
    from passband.summary.judged.correction import Correction  # all that is known of judges

    correction = Correction(scores, request)
    lines = tuple(map(correction.line, member.lines))
    return with_judge(replace(member, lines=lines), correction, member.model)


def _columns(roles: Roles) -> dict[str, str | None]:
    """Return the columns by role; those of judge and labels only where there are some."""
    own = ("judge", "label")
    return {role: name for role, name in asdict(roles).items() if name or role not in own}


def _samples(member: Group, group: readers.Group) -> dict[str, Sample]:
    return {
        line.metric: Sample(group.outcomes, line.estimate.metric if line.estimate else line.metric)
        for line in member.lines
        if line.estimate is None or not rests_on_labels(line.estimate)
    }


def _plan(plan: Plan | str | Path | None) -> Plan | None:
    if not isinstance(plan, (str, Path)):
        return plan
    from passband.stats.decision import Plan

    return Plan.load(plan)


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
    lines = metric_lines(outcomes, names, request, scorer)
    group = replace(
        group,
        lines=tuple(with_first_lines(lines, outcomes, request, outcomes.first)),
        notes=(*group.notes, *name_notes(names, counted)),
    )
    return with_unscored_range(group, outcomes, scorer)


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
    NOTHING.accepting(request.accept)  # refuses unknown codes
    if request.stopped_after is not None and request.stopped_after != 0:
        as_whole("stopped_after", request.stopped_after)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _is_run(source: Any) -> bool:
    return isinstance(source, (str, Path)) and is_run_directory(Path(source))


def _is_given(name: str | None) -> bool:
    return name is not None
