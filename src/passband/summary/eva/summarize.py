"""`metrics_summary`: summarize a run in the fields of EVA's metrics_summary.json.

Notes on the oddities of EVA's rules that affect the numbers of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.notes import Note
from passband.readers import MOST_TRIALS, MetricScore, Options, Remark
from passband.stats import Over, as_level, check_over, check_text
from passband.stats.data import Policy, Scale
from passband.stats.interval import EVA_ZERO_WIDTH, methods, seed_of
from passband.summary.eva import notes
from passband.summary.eva.composed import displayed
from passband.summary.eva.composites import (
    BUILT_IN,
    DEFAULT_THRESHOLD,
    NO_COMPOSITES,
    Composites,
    read_composites,
)
from passband.summary.eva.document import (
    METRICS_VERSION,
    MetricsSummary,
    PassKConfig,
    Provenance,
)
from passband.summary.eva.estimates import Estimates, entries_of
from passband.summary.eva.eva_rules import EvaRules
from passband.summary.eva.quality import metric_errors
from passband.summary.eva.run import Run, runs_of
from passband.summary.summary import Request, choice_lines
from passband.version import __version__


def oddities(rules: EvaRules) -> list[Note]:
    """Return a note on each odd rule that affects the numbers of this run."""
    return list(dict.fromkeys([*_on_means(rules), *_on_pass_k(rules), *_on_records(rules)]))


def _on_means(rules: EvaRules) -> Iterator[Note]:
    yield notes.EVA_SAME_SEED
    if rules.run.reader == "eva":
        yield notes.EVA_FOLDER_ORDER
    columns = [[displayed(score) for score in column] for column in rules.columns.values()]
    columns += [[score.number for score in one] for one in rules.composite_columns.values()]
    for numbers in columns:
        means = rules.scenario_means(numbers)
        if _differs(numbers, means):
            yield notes.EVA_POOLED
        if len(means) > 0 and len(set(means)) == 1:
            yield EVA_ZERO_WIDTH


def _differs(numbers: Sequence[float | None], means: Sequence[float]) -> bool:
    values = [number for number in numbers if number is not None]
    if not values:
        return False
    return round(sum(values) / len(values), 4) != round(sum(means) / len(means), 4)


def _on_pass_k(rules: EvaRules) -> Iterator[Note]:
    by_metric = [rules.metric_draws(name) for name in rules.columns]
    if any(composite.k < rules.k for draws in by_metric for composite in draws):
        yield notes.EVA_MIXED_K
    scenarios = len({record.scenario for record in rules.records if record.trial is not None})
    composites = [composite for composite in rules.composites.composites if composite.is_binary]
    by_composite = (
        [rules.composite_draws(composite) for composite in composites] if rules.k > 1 else []
    )
    if scenarios and any(len(draws) < scenarios for draws in by_composite):
        yield notes.EVA_DROPPED_SCENARIOS
    if rules.k > 1 and (any(by_metric) or any(by_composite)):
        yield notes.THEORETICAL_BIASED


def _on_records(rules: EvaRules) -> Iterator[Note]:
    scores = [score for column in rules.columns.values() for score in column]
    if any(score.is_skipped for score in scores):
        yield notes.EVA_SKIPPED
    if any(score.error == "" and score.number is not None for score in scores):
        yield notes.EVA_EMPTY_ERRORS
    means = {
        name
        for composite in rules.composites.composites
        if composite.aggregation == "mean"
        for name in composite.components
    }
    if any(_is_gap(record.score(name)) for record in rules.records for name in means):
        yield notes.EVA_PARTIAL_MEANS
    unseen = rules.run.n_records - rules.total
    if unseen:
        yield notes.eva_unseen(unseen)


def _is_gap(score: MetricScore) -> bool:
    return displayed(score) is None and not score.is_skipped


EVA = "eva"


def metrics_summary(source: Any, **options: Any) -> MetricsSummary:
    """Return the metrics of one run in the fields of EVA's metrics_summary.json.

    `source` is a run directory of passband or of EVA, the log of another tool, or a table of
    trials; it must hold one task and one model, or `task` and `model` choose them. See
    `metrics_summaries` for the options.

    >>> summary = metrics_summary([[1, 1, 0], [1, None, 1], [0, 0]])
    >>> entry = summary.per_metric["score"]
    >>> round(entry.mean, 4), entry.count, entry.missing_count, entry.mean_ci_n_scenarios
    (0.5556, 7, 1, 3)
    """
    summaries = metrics_summaries(source, **options)
    if len(summaries) > 1:
        names = ", ".join(summary.run for summary in summaries[:5])
        raise InvalidInput(
            f"{source} holds {len(summaries)} runs ({names}); choose one with task= and model=, "
            "or call metrics_summaries."
        )
    return summaries[0]


def metrics_summaries(
    source: Any,
    *,
    composites: str | Path | None = None,
    k: int | None = None,
    method: str = "auto",
    over: Over = "problems",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
    task: str | Sequence[str] = (),
    model: str | Sequence[str] = (),
    columns: Mapping[str, str | None] | None = None,
    skip_bad: bool = False,
    scales: Mapping[str, Scale] | None = None,
    first: int | None = None,
    accept: str | Sequence[str] = (),
) -> list[MetricsSummary]:
    """Return the metrics summary of each run of a source.

    `composites` is a YAML file of composites and thresholds, or "eva", or "none"; by default a run
    of EVA has those of EVA, and other runs have none. `k` is that of pass@k, by default the number
    of trials that were planned for a problem, or else that every problem has. `method` names the
    interval method, as in `estimate`; "eva" follows EVA's rules throughout. `seed` defaults to the
    name of the run. `policy` decides what becomes of trials without a score; skipped ones are left
    out whatever the policy, since there was nothing to score. `scales` says by name of a metric
    what range its scores have, and whether lower ones are better. With `first`, only so many first
    trials of each problem are used; `accept` takes codes of findings that are known to do no harm.
    """
    _check(method, over, level, policy, k)
    options = Options.of(
        columns, (), _names(task), _names(model), skip_bad=skip_bad, scales=scales, first=first
    )
    request = Request((), over, method, level, policy, seed)
    chosen = tuple(Remark(line, True) for line in choice_lines(first, _names(accept)))
    runs = (
        replace(run, found=run.found.accepting(_names(accept)), remarks=(*run.remarks, *chosen))
        for run in runs_of(source, options)
    )
    return [_summary(run, request, composites, k) for run in runs]


def _summary(
    run: Run, request: Request, composites: str | Path | None, k: int | None
) -> MetricsSummary:
    rules, remarks = _composites(run, composites, is_eva=request.method == EVA)
    seed = seed_of(run.name if request.seed is None else request.seed)
    assert seed is not None
    draws = k or run.draws
    made: EvaRules | Estimates
    if request.method == EVA:
        made = EvaRules(run, rules, draws, seed)
        remarks += oddities(made)
    else:
        chosen = Request((), request.over, request.method, request.level, request.policy, seed)
        made = Estimates(run, rules, draws, chosen)
        remarks += _on_run(run, made)
    fields: dict[str, Any] = {
        "metrics_version": METRICS_VERSION,
        "run": run.name,
        "task": run.task,
        "model": run.model,
        "method": request.method,
        "over": request.over,
        "level": request.level,
        "policy": request.policy,
        "seed": seed,
        "total_records": made.total,
        "data_quality": made.data_quality(),
        "overall_scores": made.overall_scores(),
        "per_metric": made.entries,
    }
    if errors := metric_errors(made.records, made.columns, made.total):
        fields["metric_errors"] = errors
    if config := _pass_k_config(made, draws):
        fields["pass_at_k_config"] = config
    fields["provenance"] = _provenance(run, rules)
    fields["notes"] = entries_of(remarks)
    fields["remarks"] = [remark.text for remark in run.remarks]
    return MetricsSummary(**fields)


def _composites(
    run: Run, source: str | Path | None, *, is_eva: bool
) -> tuple[Composites, list[Note]]:
    """Return the composites of a run; those that are there by default may lack a metric."""
    if str(source) == "none" or (source is None and run.reader != EVA):
        return NO_COMPOSITES, []
    rules = read_composites(EVA if source is None else source)
    unused = [] if str(source) in (*BUILT_IN, "None") else rules.unused(run.metrics)
    remarks = [notes.unused_rule(name, nearest(name, run.metrics)) for name in unused]
    if absent := rules.absent(run.metrics):
        remarks.append(notes.absent_components(absent))
        if source is not None and not is_eva:
            rules.require(run.metrics)
    return rules if is_eva else rules.within(run.metrics), remarks


def _on_run(run: Run, made: Estimates) -> list[Note]:
    unscaled = [
        name
        for name in run.metrics
        if made.k > 1
        and made.thresholds[name] is None
        and not made.composites.rule(name).is_excluded
        and not made.scales[name].lower_is_better
    ]
    return [notes.no_threshold(unscaled)] if unscaled else []


def _pass_k_config(made: EvaRules | Estimates, k: int) -> PassKConfig | None:
    is_repeated = made.is_repeated if isinstance(made, EvaRules) else k > 1
    if not is_repeated:
        return None
    rules = made.composites
    if isinstance(made, EvaRules):
        thresholds = {
            name: DEFAULT_THRESHOLD
            if rules.rule(name).threshold is None
            else rules.rule(name).threshold
            for name in made.columns
            if not rules.rule(name).is_excluded
        }
    else:
        thresholds = made.thresholds
    thresholds_known = {name: number for name, number in thresholds.items() if number is not None}
    excluded = sorted(name for name in made.columns if name not in thresholds_known)
    return PassKConfig(
        num_draws=k, per_metric_thresholds=thresholds_known, exclude_metrics=excluded
    )


def _provenance(run: Run, composites: Composites) -> Provenance:
    recorded = run.config.get("provenance")
    versions = {}
    for name in ("eva_version", "metrics_version", "simulation_version"):
        version = recorded.get(name) if isinstance(recorded, Mapping) else None
        if isinstance(version, str):
            versions[name] = version
    return Provenance(
        passband_version=__version__,
        source=Path(os.path.abspath(run.file)).name if run.file else run.name,
        reader=run.reader,
        sha256=run.sha256,
        metrics_computed=sorted(run.metrics),
        composites=None if composites.source is None else Path(composites.source).name,
        composites_sha256=composites.sha256,
        **versions,
    )


def _check(method: str, over: Over, level: float, policy: Policy, k: int | None) -> None:
    check_text("method", method, "auto")
    check_over(over)
    targets = methods.get(method).over
    if method != EVA and over not in targets:
        raise InvalidInput(f"method {method!r} is for over={targets[0]!r}; got over={over!r}.")
    as_level(level)
    if policy not in ("drop", "fail", "error"):
        raise InvalidInput(f"policy must be 'drop', 'fail' or 'error'; got {policy!r}.")
    if k is not None and (type(k) is not int or not 1 <= k <= MOST_TRIALS):
        raise InvalidInput(f"k must be a whole number from 1 to {MOST_TRIALS:,}; got {k!r}.")
    usual = {"over": (over, "problems"), "level": (level, 0.95), "policy": (policy, "drop")}
    for name, (value, only) in usual.items():
        if method == EVA and value != only:
            raise InvalidInput(f"method 'eva' works with {name} {only!r} only; got {value!r}.")


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
