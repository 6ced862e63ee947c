"""The metrics that `metric_list` names: one for each entry, or several where it gives several.

A function pass_at_k estimates pass@k from all repeats of a problem, for each k of its entry. Here
it scores one trial, with k = 1, and the statistics estimate pass@k from these scores. So it is
with a process_results or another function that returns pass@1 and pass@10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from passband.tasks.schema import MetricLine
from passband.tasks.yaml_file import FunctionReference, KeyPath, YamlFile

__all__ = ["ListedMetric", "listed_metrics"]

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
