"""The scorers of an lm-eval task, rebuilt from the settings in a file of results.

lm-eval reduces the responses to a problem before it scores them, so a log of samples has one number
per problem and filter. With the task's own filters and metrics, every response can be scored.
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
from passband.score.scorer import Reference, Score, Scorer

__all__ = ["References", "Rescoring", "rescorings", "targets_in"]

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

    from passband.tasks.metric_list import read_metrics
    from passband.tasks.schema import TaskKeys
    from passband.tasks.yaml_file import YamlFile

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
        from passband.tasks.field import Answers, ProblemField

        choice = settings.get("doc_to_choice")
        place = Place(path, 1)
        field = None if choice is None else ProblemField("doc_to_choice", choice, place)
        self._answers = Answers(None, field)

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
