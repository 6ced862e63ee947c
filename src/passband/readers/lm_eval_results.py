"""A file of results of lm-eval: the settings of its tasks, and the samples that belong to it.

    results_2026-01-31T12-00-00.123456.json
    samples_gsm8k_2026-01-31T12-00-00.123456.jsonl

Files are recognized by their content; which samples belong to which results is in their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.file_name import plain_name
from passband.readers.groups import Remark
from passband.readers.head import head_of
from passband.records import read_json
from passband.stats.data.scale import UNSTATED, Scale

__all__ = ["Results", "is_results", "results_beside"]

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
    """What is used of a file of results."""

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
