"""EVA's aggregation as functions: names and values are those of ``eva.metrics.aggregation``.

The metrics of a trial are what its metrics.json holds: a mapping with an entry `metrics`, or EVA's
own `RecordMetrics`. Composites are computed from them, whatever `aggregate_metrics` says.
`metrics_summary` follows other rules unless it is asked for these (docs/from-others.md).

>>> trials = {
...     f"s1/trial_{trial}": {"metrics": {"task_completion": {"score": score}}}
...     for trial, score in enumerate([1.0, 0.0])
... }
>>> scenario_means_for_metric(trials, "task_completion")
array([0.5])
>>> compute_record_aggregates(trials["s1/trial_0"])["EVA-A_mean"]
1.0
>>> compute_run_level_aggregates(trials, 2, seed=1)["EVA-A_mean"]["mean"]
0.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from passband.errors import WrongType
from passband.readers import Record, metric_score, trial_of
from passband.summary.eva.composed import composite_columns, displayed
from passband.summary.eva.composites import BUILT_IN, Composites, read_composites
from passband.summary.eva.eva_rules import EvaRules
from passband.summary.eva.run import Run
from passband.types import Floats


def scenario_means_for_metric(all_metrics: Mapping[str, object], metric_name: str) -> Floats:
    """Return the mean score of each scenario; one without any score is left out."""
    rules = _rules(all_metrics, Composites())
    scores = [displayed(record.score(metric_name)) for record in rules.records]
    return np.array(rules.scenario_means(scores), dtype=np.float64)


def compute_record_aggregates(
    record_metrics: object, composites: Composites | None = None
) -> dict[str, float | None]:
    """Return the composites of one trial; None for one that lacks a component."""
    columns = composite_columns([_record("", record_metrics)], _of_eva(composites), as_eva=True)
    return {name: column[0].number for name, column in columns.items()}


def compute_run_level_aggregates(
    all_metrics: Mapping[str, object],
    num_draws: int = 1,
    composites: Composites | None = None,
    *,
    seed: int,
) -> dict[str, Any]:
    """Return the composites of a run with their intervals, and pass@k of several draws."""
    if not all_metrics:
        return {}
    entries = _rules(all_metrics, _of_eva(composites), num_draws, seed).overall_scores()
    blocks = entries.pop("pass_k", None)
    fields = {name: _plain(entry) for name, entry in entries.items()}
    if isinstance(blocks, dict):
        fields["pass_k"] = {name: _plain(block) for name, block in blocks.items()}
    return fields


def _of_eva(composites: Composites | None) -> Composites:
    return read_composites(BUILT_IN["eva"]) if composites is None else composites


def _plain(entry: Any) -> dict[str, Any]:
    """Return the fields of an EVA document that are set."""
    fields: dict[str, Any] = entry.model_dump(exclude_unset=True)
    return fields


def _rules(
    all_metrics: Mapping[str, object], composites: Composites, k: int = 1, seed: int = 0
) -> EvaRules:
    records = [_record(name, metrics) for name, metrics in all_metrics.items()]
    names = tuple(sorted({name for record in records for name in record.scores}))
    scenarios = tuple(dict.fromkeys(record.scenario for record in records))
    run = Run("", None, None, "eva", "", records, names, scenarios)
    return EvaRules(run, composites, k, seed)


def _record(name: str, metrics: object) -> Record:
    """Return a trial by its name, which says the scenario and the number."""
    fields = metrics.model_dump() if hasattr(metrics, "model_dump") else metrics
    if not isinstance(fields, Mapping) or not isinstance(fields.get("metrics"), Mapping):
        raise WrongType(
            f"the metrics of a trial are what its metrics.json holds, with an entry metrics; got "
            f"{metrics!r:.60}."
        )
    scores = {metric: metric_score(metric, score) for metric, score in fields["metrics"].items()}
    return Record(*trial_of(name), scores)
