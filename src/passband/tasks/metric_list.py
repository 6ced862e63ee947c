"""metric_list and filter_list: which scorers a task needs, and what is made of their scores.

Every pipeline of filters goes with every metric. Filters that look at one completion belong to
the scorer; those that choose among the repeats of a problem (take_first, take_first_k,
majority_vote) say how its scores are reduced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput, PassbandError, UnknownName, nearest
from passband.score.corpus import CORPUS_METRICS
from passband.score.filters import (
    CROSS_TRIAL_FILTERS,
    MAJORITY_VOTE,
    TAKE_FIRST,
    FilterStep,
    make_step,
)
from passband.score.pipeline import Pipeline
from passband.score.registry import ScorerFunction, check_options, scorers
from passband.score.repeats import aggregations
from passband.score.scorer import Scorer
from passband.stats.metric.names import parse_name
from passband.tasks.schema import FilterLine, FilterPipeline, MetricLine, TaskKeys
from passband.tasks.task import MetricEntry
from passband.tasks.trusted_scoring import (
    ResultsFunction,
    class_step,
    custom_step,
    metric_function,
)
from passband.tasks.yaml_file import FunctionReference, KeyPath, YamlFile, plain_json

__all__ = ["Metrics", "read_metrics"]

_AGGREGATIONS = ("mean", *CORPUS_METRICS)
_WRONG = (PassbandError, TypeError, ValueError)  # what options of a wrong kind may raise
_OF_SUCCESSES = ("any_correct", "all_correct")
_SAME_AS_MEAN = ("nanmean",)  # a trial without a score is never part of a mean here


@dataclass(frozen=True)
class Metrics:
    """The scorers of a task, and the metrics that read them."""

    scorers: tuple[Scorer, ...]
    entries: tuple[MetricEntry, ...]


@dataclass(frozen=True)
class _Reduction:
    """What the filters of a pipeline say about one completion, and about the repeats."""

    name: str
    lines: tuple[FilterLine, ...] = ()
    steps: tuple[FilterStep, ...] = ()
    aggregation: str | None = None
    first: int | None = None
    keeps_all: bool = False  # no filter chooses among the repeats


def read_metrics(file: YamlFile, keys: TaskKeys) -> Metrics:
    """Make the scorers and metrics of a task; what is wrong goes into the file's problems."""
    lines = keys.metric_list or [MetricLine(metric="exact_match")]
    reductions = _reductions(file, keys)
    reading = _Reading(file, keys, several=len(reductions) > 1)
    for reduction in reductions:
        for index, (name, line) in enumerate(zip(_names(lines), lines, strict=True)):
            reading.add(name, line, ("metric_list", index), reduction)
    return Metrics(tuple(reading.scorers.values()), tuple(reading.entries))


def _names(lines: Sequence[MetricLine]) -> list[str]:
    """Name every metric: the same one again is name_1, name_2, ..."""
    seen: dict[str, int] = {}
    names = []
    for line in lines:
        name = line.metric.name if isinstance(line.metric, FunctionReference) else line.metric
        names.append(f"{name}_{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return names


# -- filters -------------------------------------------------------------------------------


def _reductions(file: YamlFile, keys: TaskKeys) -> list[_Reduction]:
    if keys.filter_list is None:
        return [_Reduction("none")]
    names: set[str] = set()
    for position, pipeline in enumerate(keys.filter_list):
        if pipeline.name in names:
            told = f"two pipelines of filter_list are named {pipeline.name!r}."
            file.report(told, "filter_list", position, "name")
        names.add(pipeline.name)
    return [
        _reduction(file, pipeline, ("filter_list", position, "filter"))
        for position, pipeline in enumerate(keys.filter_list)
    ]


def _reduction(file: YamlFile, pipeline: FilterPipeline, at: KeyPath) -> _Reduction:
    """Part the filters of one completion from those that choose among repeats."""
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
                first = _first_k(file, line, (*at, index))
            continue
        if aggregation == "majority":
            told = f"{line.function} must stand before majority_vote: the vote is over answers."
            file.report(told, *at, index)
        step = _step(file, line, (*at, index))
        if step is not None:
            lines.append(line)
            steps.append(step)
    chooses = aggregation is not None
    return _Reduction(
        pipeline.name, tuple(lines), tuple(steps), aggregation, first, keeps_all=not chooses
    )


def _first_k(file: YamlFile, line: FilterLine, at: KeyPath) -> int | None:
    k = line.options.get("k")
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        file.report(f"take_first_k needs k, a whole number of at least 1; got {k!r}.", *at)
        return None
    return k


def _step(file: YamlFile, line: FilterLine, at: KeyPath) -> FilterStep | None:
    try:
        if isinstance(line.function, FunctionReference):
            return class_step(line.function, line.options)
        if line.function == "custom":
            return custom_step(line.options)
        return make_step({"function": line.function, **line.options})
    except _WRONG as error:
        file.report(f"filter {str(line.function)!r}: {_told(error)}", *at)
        return None


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, PassbandError) else f"its options are wrong: {error}."


# -- metrics -------------------------------------------------------------------------------


class _Reading:
    """Gathers scorers, each once, and metrics."""

    def __init__(self, file: YamlFile, keys: TaskKeys, *, several: bool) -> None:
        self.file = file
        self.several = several
        self.repeats = keys.repeats
        self.results = (
            None if keys.process_results is None else ResultsFunction(keys.process_results)
        )
        self.scorers: dict[str, Scorer] = {}  # by what they depend on
        self.entries: list[MetricEntry] = []

    def add(self, name: str, line: MetricLine, at: KeyPath, reduction: _Reduction) -> None:
        """Make the metric of one entry and one pipeline, and its scorer unless there is one."""
        try:
            scorer = self._scorer(name, line, reduction)
        except _WRONG as error:
            self.file.report(f"metric {name!r}: {_told(error)}", *at)
            return
        repeats = self._repeat_aggregation(line, reduction, at)
        self.entries.append(
            MetricEntry(
                name=name,
                scorer=scorer.name,
                filter=reduction.name,
                repeat_aggregation=repeats,
                repeat_options=plain_json(line.repeat_options),
                aggregation=self._aggregation(line, repeats, at),
                higher_is_better=self._higher_is_better(line),
                first=reduction.first,
            )
        )

    # -- the scorer ------------------------------------------------------------------------

    def _scorer(self, name: str, line: MetricLine, reduction: _Reduction) -> Scorer:
        steps = [[step.function, step.options] for step in reduction.lines]
        own_code = self.results is not None or isinstance(line.metric, FunctionReference)
        depends = [line.metric, line.options, steps, own_code and reduction.keeps_all]
        identity = json.dumps(plain_json(depends), sort_keys=True)
        if identity not in self.scorers:
            function = self._function(line, reduction)
            full = f"{name},{reduction.name}" if self.several else name
            options = {} if self.results is not None else plain_json(line.options)
            self.scorers[identity] = Pipeline(full, function, options, reduction.steps)
        return self.scorers[identity]

    def _function(self, line: MetricLine, reduction: _Reduction) -> ScorerFunction:
        if line.hf_evaluate:
            raise UnknownName("metrics of the evaluate package (hf_evaluate) cannot be used.")
        if self.results is not None:
            return self.results.metric(str(line.metric), keeps_all=reduction.keeps_all)
        if isinstance(line.metric, FunctionReference):
            return metric_function(line.metric, keeps_all=reduction.keeps_all)
        return scorers.get(line.metric)

    def _higher_is_better(self, line: MetricLine) -> bool:
        if line.higher_is_better is not None:
            return line.higher_is_better
        if self.results is not None or line.metric not in scorers:
            return True
        function = scorers.get(line.metric)
        return function.best > function.worst

    # -- what is made of the scores --------------------------------------------------------

    def _aggregation(self, line: MetricLine, repeats: str, at: KeyPath) -> str:
        given = line.aggregation
        if given is None:
            # As in lm-eval: BLEU is that of the whole corpus, unless repeats are reduced first.
            whole = line.metric in CORPUS_METRICS and line.repeat_aggregation is None
            return str(line.metric) if whole else "mean"
        if given in _SAME_AS_MEAN:
            return "mean"
        if given not in _AGGREGATIONS or (given in CORPUS_METRICS and given != line.metric):
            hint = nearest(str(given), _AGGREGATIONS) or f" Known: {', '.join(_AGGREGATIONS)}."
            told = f"aggregation {str(given)!r} cannot be used for {str(line.metric)!r}.{hint}"
            self.file.report(told, *at, "aggregation")
        elif given in CORPUS_METRICS and repeats != "first":
            told = (
                f"aggregation {given} takes one answer to each problem, and repeat_aggregation "
                f"{repeats} scores of several; use aggregation mean."
            )
            self.file.report(told, *at, "aggregation")
        return str(given)

    def _repeat_aggregation(self, line: MetricLine, reduction: _Reduction, at: KeyPath) -> str:
        name = line.repeat_aggregation or reduction.aggregation or "first"
        try:
            wanted = max(_trials_of(name, line.repeat_options), reduction.first or 0)
        except PassbandError as error:
            self.file.report(f"repeat_aggregation: {error}", *at, "repeat_aggregation")
            return name
        if name in _OF_SUCCESSES and self.results is None and line.metric in scorers:
            best = scorers.get(str(line.metric)).best
            if best != 1:
                told = f"{name} counts scores of 1 as correct; the best {line.metric} is {best:g}."
                self.file.report(told, *at, "repeat_aggregation")
        if wanted > self.repeats:
            told = f"{name} looks at {wanted} repeats of a problem; repeats is {self.repeats}."
            self.file.warn(told, *at, "repeat_aggregation")
        return name


def _trials_of(name: str, options: Mapping[str, Any]) -> int:
    """Return how many trials of a problem an aggregation needs; raise if there is none so named."""
    if name in aggregations:
        check_options(f"{name!r}", aggregations.get(name), options, given=1)
        return 1
    if options:
        raise InvalidInput(f"{name!r} has no repeat_options.")
    from passband.stats.metric.registry import families, parse_metric  # brings numpy

    try:
        metric = parse_metric(name)
    except UnknownName:
        known = [*aggregations, *(f"{key}8" if key[-1] in "@^" else key for key in families)]
        hint = nearest(name, known) or f" Known: {', '.join(known)}."
        raise UnknownName(f"there is no repeat aggregation {name!r}.{hint}") from None
    return metric.k if parse_name(name).ks else 1
