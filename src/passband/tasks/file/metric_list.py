"""metric_list and filter_list: the scorers of a task, and how their scores are reduced.

Every filter pipeline is combined with every metric. Filters that look at one completion belong to
the scorer; those that choose among the repeats of a problem (take_first, take_first_k,
majority_vote) say how its scores are reduced.

The metrics that `metric_list` names: one for each entry, or several where it gives several.

A function pass_at_k estimates pass@k from all repeats of a problem, for each k of its entry. Here
it scores one trial, with k = 1, and the statistics estimate pass@k from these scores. So it is
with a process_results or another function that returns pass@1 and pass@10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput, PassbandError, UnknownName, nearest
from passband.score import (
    CORPUS_METRICS,
    CROSS_TRIAL_FILTERS,
    MAJORITY_VOTE,
    TAKE_FIRST,
    FilterStep,
    Scorer,
    ScorerFunction,
    aggregations,
    assemble,
    check_options,
    make_step,
    read_files,
    scorers,
)
from passband.stats.metric import parse_name
from passband.tasks.file.rubric import with_rubric
from passband.tasks.file.schema import FilterLine, FilterPipeline, MetricLine, TaskKeys
from passband.tasks.file.task_code_scoring import (
    MetricFunction,
    ResultsFunction,
    class_step,
    custom_step,
)
from passband.tasks.file.yaml_file import FunctionReference, KeyPath, YamlFile, plain_json
from passband.tasks.task import MetricEntry

_PASS_AT_K = re.compile(r"pass_?at_?k", re.IGNORECASE)  # as in the stock humaneval and mbpp tasks
_PASS = re.compile(r"pass@([1-9][0-9]*)")


@dataclass(frozen=True)
class ListedMetric:
    """One metric of a task, with the entry of `metric_list` that it is made from."""

    name: str
    scorer: str
    line: MetricLine
    keys: KeyPath  # of the entry
    value: str | None = None  # which of the values that its function returns for one trial


def listed_metrics(
    file: YamlFile, lines: Sequence[MetricLine], *, of_results: bool = False
) -> Iterator[ListedMetric]:
    """Yield the metrics under their names: the same one again is name_1, name_2, ...

    `of_results`: a process_results gives the values, each by the name of a metric.
    """
    seen: dict[str, int] = {}

    def unique(name: str) -> str:
        seen[name] = seen.get(name, 0) + 1
        return name if seen[name] == 1 else f"{name}_{seen[name] - 1}"

    for index, line in enumerate(lines):
        keys = ("metric_list", index)
        if line.values is not None:
            yield from _of_values(file, line, keys, unique)
        elif _is_pass_at_k(line):
            scorer = unique(_function(line))
            for k in _ks(file, line, keys):
                yield ListedMetric(unique(f"pass@{k}"), scorer, _of_one_trial(line, k), keys)
        else:
            name, value = unique(_function(line)), str(line.metric) if of_results else None
            k = _estimated(value, line) or 1
            if k == 1:
                yield ListedMetric(name, name, line, keys, value)
            else:
                yield ListedMetric(name, "pass@1", _of_one_trial(line, k), keys, "pass@1")


def _function(line: MetricLine) -> str:
    return line.metric.name if isinstance(line.metric, FunctionReference) else str(line.metric)


def _of_values(
    file: YamlFile, line: MetricLine, keys: KeyPath, unique: Callable[[str], str]
) -> Iterator[ListedMetric]:
    """Yield a metric for each value that a function is said to return."""
    if not isinstance(line.metric, FunctionReference):
        message = "values: names what a metric that is a !function returns; leave it out."
        file.report(message, *keys, "values")
        return
    if not line.values:
        file.report("values is empty; name at least one, or leave it out.", *keys, "values")
    several = {value: _estimated(value, line) for value in line.values or ()}
    passes = unique(_function(line)) if any(several.values()) else ""
    for value, k in several.items():
        if k is None:
            yield ListedMetric(name := unique(value), name, line, keys, value)
        else:
            yield ListedMetric(unique(value), passes, _of_one_trial(line, k), keys, "pass@1")


# -- pass@k --------------------------------------------------------------------------------


def _is_pass_at_k(line: MetricLine) -> bool:
    is_named = isinstance(line.metric, FunctionReference) and _PASS_AT_K.fullmatch(line.metric.name)
    return bool(is_named) and "k" in line.options and line.repeat_aggregation is None


def _estimated(value: str | None, line: MetricLine) -> int | None:
    """Return the k of a value pass@k that the statistics are to estimate; None for any other."""
    found = None if line.repeat_aggregation is not None else _PASS.fullmatch(value or "")
    return int(found[1]) if found else None


def _ks(file: YamlFile, line: MetricLine, keys: KeyPath) -> list[int]:
    several = line.options["k"] if isinstance(line.options["k"], list) else [line.options["k"]]
    if not several or not all(type(k) is int and k > 0 for k in several):
        message = f"k must be a whole number of at least 1, or a list; got {line.options['k']!r}."
        file.report(message, *keys, "k")
        return []
    return list(dict.fromkeys(several))


def _of_one_trial(line: MetricLine, k: int) -> MetricLine:
    """Return the entry for the score of one trial, reduced by pass@k."""
    options = dict(line.options)
    if "k" in options:
        options["k"] = [1] if isinstance(options["k"], list) else 1
    own = line.model_dump(include=set(MetricLine.model_fields), exclude={"repeat_aggregation"})
    return MetricLine(**{**own, **options, "metric": line.metric}, repeat_aggregation=f"pass@{k}")


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
    from passband.stats.metric import families, parse_metric

    try:
        metric = parse_metric(name)
    except InvalidInput as error:
        if isinstance(error, UnknownName) or not _METRIC.fullmatch(name):
            known = [*aggregations, *(f"{key}8" if key[-1] in "@^" else key for key in families)]
            raise aggregations.unknown(name, known) from None
        raise
    return metric.k if parse_name(name).ks else 1
