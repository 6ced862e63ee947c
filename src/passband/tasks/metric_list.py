"""metric_list and filter_list: the scorers of a task, and how their scores are reduced.

Every filter pipeline is combined with every metric. Filters that look at one completion belong to
the scorer; those that choose among the repeats of a problem (take_first, take_first_k,
majority_vote) say how its scores are reduced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput, PassbandError, UnknownName, nearest
from passband.score.command_files import read_files
from passband.score.filtering import (
    CROSS_TRIAL_FILTERS,
    MAJORITY_VOTE,
    TAKE_FIRST,
    FilterStep,
    make_step,
)
from passband.score.pipeline import assemble
from passband.score.registry import ScorerFunction, check_options, scorers
from passband.score.repeats import aggregations
from passband.score.scorer import Scorer
from passband.score.translation import CORPUS_METRICS
from passband.stats.metric.names import parse_name
from passband.tasks.listed_metric import ListedMetric, listed_metrics
from passband.tasks.rubric_file import with_rubric
from passband.tasks.schema import FilterLine, FilterPipeline, MetricLine, TaskKeys
from passband.tasks.task import MetricEntry
from passband.tasks.trusted_scoring import (
    MetricFunction,
    ResultsFunction,
    class_step,
    custom_step,
)
from passband.tasks.yaml_file import FunctionReference, KeyPath, YamlFile, plain_json

__all__ = ["Metrics", "read_metrics"]

_AGGREGATIONS = ("mean", *CORPUS_METRICS)
_WRONG = (PassbandError, TypeError, ValueError)  # what options of a wrong kind may raise
_OF_SUCCESSES = ("any_correct", "all_correct")
_SAME_AS_MEAN = ("nanmean",)  # a trial without a score is never part of a mean here
_METRIC = re.compile(r"[^@^]+[@^].+")  # a metric at some k, though perhaps not a valid one


@dataclass(frozen=True)
class Metrics:
    """The scorers of a task, and the metrics that read them."""

    scorers: tuple[Scorer, ...]
    entries: tuple[MetricEntry, ...]


@dataclass(frozen=True)
class _Reduction:
    """The filters of a pipeline for one completion, and what it makes of the repeats."""

    name: str
    lines: tuple[FilterLine, ...] = ()
    steps: tuple[FilterStep, ...] = ()
    aggregation: str | None = None
    first: int | None = None
    keeps_all: bool = False  # no filter chooses among the repeats


def read_metrics(file: YamlFile, keys: TaskKeys) -> Metrics:
    """Make the scorers and metrics of a task; mistakes go to the file's diagnostics."""
    lines = keys.metric_list or [MetricLine(metric="exact_match")]
    metrics = list(listed_metrics(file, lines, of_results=keys.process_results is not None))
    reductions = _reductions(file, keys)
    reading = _Reading(file, keys, several=len(reductions) > 1)
    for reduction in reductions:
        for metric in metrics:
            reading.add(metric, reduction)
    return Metrics(tuple(reading.scorers.values()), tuple(reading.entries))


# -- filters -------------------------------------------------------------------------------


def _reductions(file: YamlFile, keys: TaskKeys) -> list[_Reduction]:
    if keys.filter_list is None:
        return [_Reduction("none")]
    names: set[str] = set()
    for position, pipeline in enumerate(keys.filter_list):
        if pipeline.name in names:
            message = f"two pipelines of filter_list are named {pipeline.name!r}."
            file.report(message, "filter_list", position, "name")
        names.add(pipeline.name)
    return [
        _reduction(file, pipeline, ("filter_list", position, "filter"))
        for position, pipeline in enumerate(keys.filter_list)
    ]


def _reduction(file: YamlFile, pipeline: FilterPipeline, keys: KeyPath) -> _Reduction:
    """Separate the filters of one completion from those that choose among repeats."""
    lines: list[FilterLine] = []
    steps: list[FilterStep] = []
    aggregation: str | None = None
    first: int | None = None
    for index, line in enumerate(pipeline.filter):
        if line.function in CROSS_TRIAL_FILTERS:
            # Once one repeat is chosen, there is nothing left to choose from.
            if aggregation is None and line.function == TAKE_FIRST:
                aggregation = "first"
            elif aggregation is None and line.function == MAJORITY_VOTE:
                aggregation = "majority"
            elif aggregation is None:
                first = _first_k(file, line, (*keys, index))
            continue
        if aggregation == "majority":
            message = f"{line.function} must come before majority_vote, which votes on answers."
            file.report(message, *keys, index)
        step = _step(file, line, (*keys, index))
        if step is not None:
            lines.append(line)
            steps.append(step)
    chooses = aggregation is not None
    return _Reduction(
        pipeline.name, tuple(lines), tuple(steps), aggregation, first, keeps_all=not chooses
    )


def _first_k(file: YamlFile, line: FilterLine, keys: KeyPath) -> int | None:
    k = line.options.get("k")
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        file.report(f"take_first_k needs k, a whole number of at least 1; got {k!r}.", *keys)
        return None
    return k


def _step(file: YamlFile, line: FilterLine, keys: KeyPath) -> FilterStep | None:
    try:
        if isinstance(line.function, FunctionReference):
            return class_step(line.function, line.options)
        if line.function == "custom":
            return custom_step(line.options)
        return make_step({"function": line.function, **line.options})
    except _WRONG as error:
        file.report(f"filter {str(line.function)!r}: {_message(error)}", *keys)
        return None


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, PassbandError) else f"its options are wrong: {error}."


# -- metrics -------------------------------------------------------------------------------


class _Reading:
    """Collects scorers, each once, and metrics."""

    def __init__(self, file: YamlFile, keys: TaskKeys, *, several: bool) -> None:
        self.file = file
        self.several = several
        self.repeats = keys.repeats
        self.results = (
            None if keys.process_results is None else ResultsFunction(keys.process_results)
        )
        self._functions: dict[FunctionReference, MetricFunction] = {}
        self.scorers: dict[str, Scorer] = {}  # by everything they depend on
        self.entries: list[MetricEntry] = []

    def add(self, metric: ListedMetric, reduction: _Reduction) -> None:
        """Add a metric with one pipeline, and its scorer unless there is one."""
        line = metric.line
        try:
            scorer = self._scorer(metric, reduction)
        except _WRONG as error:
            self.file.report(f"metric {metric.scorer!r}: {_message(error)}", *metric.keys)
            return
        repeats = self._repeat_aggregation(metric, reduction)
        self.entries.append(
            MetricEntry(
                name=metric.name,
                scorer=scorer.name,
                filter=reduction.name,
                repeat_aggregation=repeats,
                repeat_options=plain_json(line.repeat_options),
                aggregation=self._aggregation(metric, repeats),
                higher_is_better=self._higher_is_better(metric, scorer.name),
                first=reduction.first,
            )
        )

    # -- the scorer ------------------------------------------------------------------------

    def _scorer(self, metric: ListedMetric, reduction: _Reduction) -> Scorer:
        line = metric.line
        steps = [[step.function, step.options] for step in reduction.lines]
        own_code = self.results is not None or isinstance(line.metric, FunctionReference)
        scored = metric.value if self.results is not None else [line.metric, metric.value]
        depends = [scored, line.options, steps, own_code and reduction.keeps_all]
        identity = json.dumps(plain_json(depends), sort_keys=True)
        if identity not in self.scorers:
            function = self._function(metric, reduction)
            name = f"{metric.scorer},{reduction.name}" if self.several else metric.scorer
            options = {} if self.results is not None else self._options(line)
            self.scorers[identity] = assemble(name, function, options, reduction.steps)
        return self.scorers[identity]

    def _options(self, line: MetricLine) -> dict[str, Any]:
        """Return the options of a scorer; files beside the task file become their content."""
        options: dict[str, Any] = plain_json(line.options)
        if line.metric == "command" and "files" in options:
            options["files"] = read_files(options["files"], self.file.path.parent)
        if line.metric == "judge":
            options = with_rubric(options, self.file.path.parent)
        return options

    def _function(self, metric: ListedMetric, reduction: _Reduction) -> ScorerFunction:
        line = metric.line
        if line.hf_evaluate:
            raise UnknownName("metrics of the evaluate package (hf_evaluate) cannot be used.")
        falls, keeps_all = line.higher_is_better is False, reduction.keeps_all
        if self.results is not None:
            value = metric.value or str(line.metric)
            return self.results.metric(value, keeps_all=keeps_all, falls=falls)
        if isinstance(line.metric, FunctionReference):
            function = self._functions.setdefault(line.metric, MetricFunction(line.metric))
            return function.metric(metric.value, keeps_all=keeps_all, falls=falls)
        return scorers.get(line.metric)

    def _higher_is_better(self, metric: ListedMetric, scorer: str) -> bool | None:
        """Return the direction that a line states, which must be that of a registered scorer."""
        line = metric.line
        if self.results is not None or line.metric not in scorers:
            others = [one.higher_is_better for one in self.entries if one.scorer == scorer]
            if any({one, line.higher_is_better} == {True, False} for one in others):
                message = f"{scorer} is listed as higher_is_better true and false."
                self.file.report(message, *metric.keys, "higher_is_better")
            return line.higher_is_better
        own = not scorers.get(str(line.metric)).lower_is_better
        if line.higher_is_better not in (None, own):
            self.file.report(
                f"higher_is_better: {str(line.higher_is_better).lower()} contradicts the scorer "
                f"{line.metric}, of which {'higher' if own else 'lower'} scores are better.",
                *metric.keys,
                "higher_is_better",
            )
        return own

    # -- the reduction of scores -----------------------------------------------------------

    def _aggregation(self, metric: ListedMetric, repeats: str) -> str:
        line, name = metric.line, metric.line.aggregation
        if name is None:
            # As in lm-eval: BLEU is that of the whole corpus, unless repeats are reduced first.
            whole = line.metric in CORPUS_METRICS and line.repeat_aggregation is None
            return str(line.metric) if whole else "mean"
        if name in _SAME_AS_MEAN:
            return "mean"
        if name not in _AGGREGATIONS or (name in CORPUS_METRICS and name != line.metric):
            hint = nearest(str(name), _AGGREGATIONS) or f" Known: {', '.join(_AGGREGATIONS)}."
            message = f"aggregation {str(name)!r} cannot be used for {str(line.metric)!r}.{hint}"
            self.file.report(message, *metric.keys, "aggregation")
        elif name in CORPUS_METRICS and repeats != "first":
            message = (
                f"aggregation {name} takes one answer to each problem, and repeat_aggregation "
                f"{repeats} scores of several; use aggregation mean."
            )
            self.file.report(message, *metric.keys, "aggregation")
        return str(name)

    def _repeat_aggregation(self, metric: ListedMetric, reduction: _Reduction) -> str:
        line, keys = metric.line, (*metric.keys, "repeat_aggregation")
        name = line.repeat_aggregation or reduction.aggregation or "first"
        try:
            wanted = max(_trials_of(name, line.repeat_options), reduction.first or 0)
        except PassbandError as error:
            self.file.report(f"repeat_aggregation: {error}", *keys)
            return name
        is_registered = self.results is None and line.metric in scorers
        best = scorers.get(str(line.metric)).best if is_registered else 1.0
        if name in _OF_SUCCESSES and (best != 1 or line.higher_is_better is False):
            shown = f"the best {line.metric} is {best:g}" if best != 1 else "here lower is better"
            self.file.report(f"{name} counts scores of 1 as correct; {shown}.", *keys)
        if wanted > self.repeats:
            message = f"{name} looks at {wanted} repeats of a problem; repeats is {self.repeats}."
            self.file.warn(message, *keys)
        return name


def _trials_of(name: str, options: Mapping[str, Any]) -> int:
    """Return how many trials of a problem an aggregation needs; raise `UnknownName` if none is."""
    if name in aggregations:
        check_options(f"{name!r}", aggregations.get(name), options, skipped=1)
        return 1
    if options:
        raise InvalidInput(f"{name!r} has no repeat_options.")
    from passband.stats.metric.registry import families, parse_metric  # brings numpy

    try:
        metric = parse_metric(name)
    except InvalidInput as error:
        if isinstance(error, UnknownName) or not _METRIC.fullmatch(name):
            known = [*aggregations, *(f"{key}8" if key[-1] in "@^" else key for key in families)]
            raise aggregations.unknown(name, known) from None
        raise
    return metric.k if parse_name(name).ks else 1
