"""A file of results of lm-eval: the settings of its tasks, and the samples that belong to it.

    results_2026-01-31T12-00-00.123456.json
    samples_gsm8k_2026-01-31T12-00-00.123456.jsonl

Files are recognized by their content; which samples belong to which results is in their names.
The settings rebuild the scorers of a task: lm-eval reduces the responses to a problem before it
scores them, so a log of samples has one number per problem and filter. With the task's own filters
and metrics, every response can be scored.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import read_json
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.names import plain_name
from passband.score import Reference, Score, Scorer
from passband.stats.data import UNSTATED, Scale

_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?")


def is_results(head: Any) -> bool:
    """Return whether the beginning of a document is that of a file of results."""
    if not isinstance(head, dict) or not {"results", "configs"} <= head.keys():
        return False
    return isinstance(head["results"], dict) and isinstance(head["configs"], dict)


def results_beside(samples: Path) -> tuple[Results | None, str]:
    """Return the results that belong to a file of samples, if they are there, and its task."""
    date = _DATE.search(samples.name)
    task = plain_name(samples).removeprefix("samples_")
    if date is not None:
        task = task.partition(f"_{date.group()}")[0]
    files = sorted(samples.parent.glob("*.json")) if samples.parent.is_dir() else []
    known = [file for file in files if _belongs(file, date) and is_results(head_of(file))]
    if len(known) != 1:
        return None, task
    try:
        return Results.read(known[0]), task
    except InvalidInput:  # it is not what is read; its settings are missing, which is remarked on
        return None, task


def _belongs(file: Path, date: re.Match[str] | None) -> bool:
    return date is None or date.group() in file.name


@dataclass(frozen=True)
class Results:
    """The fields of a file of results that are used."""

    path: Path
    content: Mapping[str, Any]

    @staticmethod
    def read(path: Path) -> Results:
        content = read_json(path)
        if not is_results(content):
            raise InvalidInput(f"{path}: has no results and configs, as results of lm-eval do.")
        return Results(path, content)

    @property
    def model(self) -> str:
        """The name of the model."""
        general = self.content.get("config")
        known = general if isinstance(general, dict) else {}
        for value in (self.content.get("model_name"), known.get("model")):
            if isinstance(value, str) and value:
                return value
        return self.path.parent.name or "model"

    def settings(self, task: str) -> Mapping[str, Any] | None:
        """Return the settings of a task."""
        settings = self.content["configs"].get(task)
        return settings if isinstance(settings, dict) else None

    def scale(self, task: str, metric: str) -> Scale:
        """Return the scale of a metric, whose direction the results and the settings may state."""
        results = self.content.get("higher_is_better")
        by_metric = results.get(task) if isinstance(results, dict) else None
        listed = (self.settings(task) or {}).get("metric_list")
        in_settings = [
            one.get("higher_is_better")
            for one in (listed if isinstance(listed, list) else ())
            if isinstance(one, dict) and one.get("metric") == metric
        ]
        stated = by_metric.get(metric) if isinstance(by_metric, dict) else None
        scale, name = UNSTATED, f"{self.path}: {task}, {metric}"
        for higher in (stated, *in_settings):
            if isinstance(higher, bool):
                scale = scale.joined(Scale(lower_is_better=not higher), name, "its metric_list")
        return scale

    def sampling(self, task: str) -> Mapping[str, Any]:
        """Return how the answers of a task were sampled."""
        sampling = (self.settings(task) or {}).get("generation_kwargs")
        return sampling if isinstance(sampling, dict) else {}

    def samples_within(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield the samples of each task that are in the document itself."""
        samples = self.content.get("samples")
        for task, values in samples.items() if isinstance(samples, dict) else ():
            if isinstance(values, list) and values:
                yield task, values

    def samples_beside(self) -> Iterator[tuple[str, Path]]:
        """Yield the file of samples of each task."""
        date = _DATE.search(self.path.name)
        files = sorted(self.path.parent.glob("samples_*.jsonl"))
        for task in self.content["configs"]:
            known = [file for file in files if _is_of(file, task) and _belongs(file, date)]
            if len(known) > 1:
                raise InvalidInput(
                    f"{self.path}: there are several samples of {task} beside it "
                    f"({', '.join(file.name for file in known)}); read them one by one."
                )
            if known:
                yield task, known[0]

    def remarks(self, task: str, problems: int) -> Iterator[Remark]:
        """Yield a remark if not all problems of a task are in its samples."""
        counts = self.content.get("n-samples")
        count = counts.get(task) if isinstance(counts, dict) else None
        asked = count.get("effective") if isinstance(count, dict) else None
        if type(asked) is int and asked != problems:
            yield Remark(
                f"{self.path.name} counts {asked} problems of {task}, and the samples are of "
                f"{problems}: they are not all of them, or of another run",
                important=True,
            )


def _is_of(file: Path, task: str) -> bool:
    name = plain_name(file).removeprefix("samples_")
    return name == task or _DATE.fullmatch(name.removeprefix(f"{task}_")) is not None


Settings = Mapping[str, Any]

_CODE = re.compile(
    r"\s*(?:async )?(?:def |lambda\b|@|<|functools\.)"
)  # how lm-eval writes functions
_NOT_OF_A_TRIAL = ("aggregation", "higher_is_better")  # and may be code, which is not needed


@dataclass(frozen=True)
class Rescoring:
    """A metric under a filter: the scorer of one response, and how lm-eval reduces several."""

    metric: str
    filter: str
    scorer: Scorer
    reduction: str  # first or majority
    first: int | None  # only this many responses are looked at

    def reduced(self, scores: Sequence[Score]) -> float | None:
        """Return the number that lm-eval has for a problem with these scores.

        Majority is that of texts, and the first of several with as many votes wins, as there.
        """
        seen = scores[: self.first]
        if not seen:
            return None
        if self.reduction != "majority":
            return seen[0].value
        winner = Counter(score.answer for score in seen).most_common(1)[0][0]
        return next(score.value for score in seen if score.answer == winner)


def rescorings(path: Path, settings: Settings) -> Iterator[Rescoring]:
    """Yield what of a task's metrics can be rebuilt; what is Python code cannot."""
    if settings.get("process_results") is not None or _is_code(settings.get("doc_to_choice")):
        return
    pipelines = settings.get("filter_list")
    metrics = settings.get("metric_list") or [{"metric": "exact_match"}]
    for pipeline in pipelines if isinstance(pipelines, list) and pipelines else [None]:
        for metric in metrics if isinstance(metrics, list) else ():
            rescoring = _rescoring(path, pipeline, metric) if isinstance(metric, dict) else None
            if rescoring is not None:
                yield rescoring


def _is_code(value: Any) -> bool:
    return isinstance(value, str) and _CODE.match(value) is not None


def _rescoring(path: Path, pipeline: Any, metric: Settings) -> Rescoring | None:
    from pydantic import ValidationError

    from passband.tasks import TaskKeys, YamlFile, read_metrics

    of_trials = {key: value for key, value in metric.items() if key not in _NOT_OF_A_TRIAL}
    values = {"filter_list": [pipeline] if pipeline else None, "metric_list": [of_trials]}
    file = YamlFile(path, {}, {})
    try:
        metrics = read_metrics(file, TaskKeys.model_validate(values))
    except ValidationError:
        return None
    if any(one.level == "error" for one in file.diagnostics) or len(metrics.entries) != 1:
        return None
    entry, scorer = metrics.entries[0], metrics.scorers[0]
    if entry.repeat_aggregation not in ("first", "majority"):
        return None
    return Rescoring(entry.name, entry.filter, scorer, entry.repeat_aggregation, entry.first)


class References:
    """The targets and choices of a task's documents."""

    def __init__(self, path: Path, settings: Settings) -> None:
        from passband.tasks import ProblemField, RowTargets

        choice = settings.get("doc_to_choice")
        place = Place(path, 1)
        field = None if choice is None else ProblemField("doc_to_choice", choice, place)
        self._answers = RowTargets(None, field)

    def of(self, doc: Mapping[str, Any], target: Any, problem: str) -> Reference:
        """Return the reference of a document; `target` is its target as the log has it."""
        if self._answers.choice is not None:
            choices = self._answers.choices(doc, tuple(doc), problem)
            return Reference((_chosen(choices, target, problem),), choices, doc)
        listed = doc.get("choices")
        is_texts = isinstance(listed, list) and all(isinstance(one, str) for one in listed)
        return Reference(targets_in(target), tuple(listed or ()) if is_texts else (), doc)


def targets_in(target: Any) -> tuple[str, ...]:
    """Return the targets in what lm-eval wrote: a text, or a list of them written as text.

    >>> targets_in("42"), targets_in("['yes', 'y']"), targets_in("[0, 1)")
    (('42',), ('yes', 'y'), ('[0, 1)',))
    """
    if isinstance(target, str) and target.startswith("[") and target.endswith("]"):
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return (target,)
    if target is None:
        return ()
    return tuple(map(str, target)) if isinstance(target, list) else (str(target),)


def _chosen(choices: Sequence[str], target: Any, problem: str) -> str:
    text = str(target)
    if text in choices:
        return text
    if text.isdecimal() and int(text) < len(choices):
        return choices[int(text)]
    raise InvalidInput(f"problem {problem}: target {text!r:.60} is not among its choices.")
