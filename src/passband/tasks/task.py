"""A task that is loaded: problems to ask, and scorers and metrics of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from passband.generate import Problem, Sampling, SubjectFactory
from passband.score import Scorer

if TYPE_CHECKING:
    from passband.tasks.entry import TaskGroup


NO_FILTER = "none"  # the name of the pipeline that leaves answers as they are


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """One line of `metric_list`: a scorer, how its repeats are reduced, how problems are."""

    name: str  # "exact_match"; the same metric again is "exact_match_1"
    scorer: str  # the name of the task's scorer whose trial scores it reads
    filter: str = NO_FILTER  # name of the filter pipeline, the part after the comma in results
    repeat_aggregation: str = "first"  # or mean, majority, pass@8, ...
    repeat_options: Mapping[str, Any] = field(default_factory=dict)
    aggregation: str = "mean"
    higher_is_better: bool | None = None  # None: not stated
    first: int | None = None  # only this many repeats are looked at (take_first_k)


@dataclass(frozen=True)
class Task:
    """Problems, sampling, scorers and metrics under one name.

    `load` may have a method `digest`: a limit in, a hash of all that the problems are made of out.
    Where it has not changed, a run that lacks nothing does without the problems.
    """

    name: str
    path: Path | None  # the file that defines it
    sampling: Sampling
    repeats: int
    scorers: tuple[Scorer, ...]
    metrics: tuple[MetricEntry, ...]
    load: Callable[[int | None], Sequence[Problem]]  # the first N problems, or all
    truncated: Literal["leave", "score"] = "leave"  # whether truncated completions are scored
    version: str = "1"
    num_fewshot: int = 0
    config: Mapping[str, Any] = field(default_factory=dict)  # the YAML, includes resolved
    spec: Mapping[str, Any] = field(default_factory=dict)  # what its trials depend on, beyond that
    subject: SubjectFactory | None = None  # how it is asked, if not by its prompts alone
    groups: tuple[TaskGroup, ...] = ()  # that it was chosen by
    notes: tuple[str, ...] = ()  # for the user, before it is asked: how its data were understood
    warnings: tuple[str, ...] = ()  # the same, also where notes are not wanted
