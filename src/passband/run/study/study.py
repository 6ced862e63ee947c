"""A study: several models asked the same tasks, one after another, and what came of it.

An error of one model does not keep the others from being asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import ExitCode, InvalidInput, PassbandError
from passband.generate import make_provider, providers
from passband.run.budget import Budget
from passband.run.dry_run import DryRun
from passband.run.progress import Watcher
from passband.run.request import RunRequest
from passband.run.session import RunResult
from passband.run.task_run import Price
from passband.trials import EmptyStore, Trials, is_run_directory

if TYPE_CHECKING:
    from passband.stats import Over
    from passband.stats.data import Policy
    from passband.summary import ComparisonSummary, Summary


OnModel = Callable[[str, int, int], None]
"""Called before each model, with its name, its number from 1 and the number of models."""

_FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class StudyEnd:
    """How a study came to its end, model by model."""

    finished: Mapping[str, RunResult]
    failed: Mapping[str, PassbandError | OSError]
    unasked: Sequence[str] = ()  # models that were not reached, or that there was no money for
    begun: Collection[str] = ()  # models whose recorded trials agree with the settings of now

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command: that of a signal, else of errors, else of early ends."""
        ends = [end.exit_code for end in self.finished.values()]
        for code in (ExitCode.INTERRUPTED, ExitCode.TERMINATED):
            if code in ends:
                return code
        codes = {getattr(error, "exit_code", ExitCode.FAILED) for error in self.failed.values()}
        if codes:
            return codes.pop() if len(codes) == 1 else ExitCode.FAILED
        return ExitCode.FAILED if self.unasked else max(ends, default=ExitCode.FAILED)


@dataclass(frozen=True)
class Study:
    """The runs of several models, which are checked together and asked one after another."""

    requests: Sequence[RunRequest]

    @cached_property
    def labels(self) -> list[str]:
        """What each model is called: its name, where it was given one, else the model."""
        return [request.settings.name or str(request.model) for request in self.requests]

    def check(self, metrics: Sequence[str], level: float, policy: Policy = "drop") -> None:
        """Refuse what could only fail once trials, or other models, are paid for."""
        if len(self.requests) == 1:
            self.requests[0].check_metrics(metrics, level, policy)
            return
        refuse_twice(self.labels)
        places: dict[Path, str] = {}
        for label, request in zip(self.labels, self.requests, strict=True):
            other = places.setdefault(request.directory.resolve(), label)
            if other != label:
                raise InvalidInput(
                    f"{other} and {label} would both be recorded in {request.directory}; a study "
                    "file gives each a name of its own."
                )
            request.check_metrics(metrics, level, policy)
            Budget(request.price, request.settings.max_cost)
            if all(task.subject is None for task in request.tasks):
                make_provider(str(request.model), request.connection)

    def dry_run(self) -> list[DryRun]:
        """Return what `run` would request of each model."""
        return [request.dry_run() for request in self.requests]

    def run(self, watcher: Watcher, on_model: OnModel) -> StudyEnd:
        """Ask the models one after another; after a signal, ask no further one."""
        finished: dict[str, RunResult] = {}
        failed: dict[str, PassbandError | OSError] = {}
        unasked: list[str] = []
        begun: set[str] = set()
        for place, (label, request) in enumerate(zip(self.labels, self.requests, strict=True)):
            left = self._left(place, finished)
            if left is not None and left <= 0:
                unasked.append(label)
                watcher.warn(f"{label} is not asked: --max-cost is spent.")
                continue
            on_model(label, place + 1, len(self.requests))
            settings = replace(request.settings, max_cost=left or request.settings.max_cost)
            try:
                finished[label] = replace(request, settings=settings).run(
                    _Further(watcher) if place else watcher,
                    on_start=partial(_add, begun, label),
                )
            except (PassbandError, OSError) as error:
                failed[label] = error
                watcher.warn(f"{label}: {' '.join(str(error).split())}")
                continue
            if finished[label].ending in ("interrupted", "terminated"):
                unasked += self.labels[place + 1 :]
                break
        return StudyEnd(finished, failed, unasked, frozenset(begun))

    def summarize(
        self,
        metrics: Sequence[str],
        level: float,
        end: StudyEnd,
        policy: Policy = "drop",
        over: Over = "problems",
    ) -> Summary | None:
        """Summarize what was asked, and what was recorded of it before; None if nothing was.

        The trials of a model that was refused or not reached may have other settings.
        """
        from passband.summary import Request, join_summaries, summarize_run

        summaries = {}
        wanted = Request(tuple(metrics), over, level=level, policy=policy)
        for label, request in self._begun(end).items():
            with suppress(*([PassbandError] if label in end.failed else [])):
                if tasks := _recorded(request):
                    summaries[label] = summarize_run(
                        request.directory, wanted, tasks=tasks, models=[str(request.model)]
                    )
        return join_summaries(summaries, by_model=True) if summaries else None

    def _begun(self, end: StudyEnd) -> dict[str, RunRequest]:
        labelled = zip(self.labels, self.requests, strict=True)
        return {label: one for label, one in labelled if label in (*end.finished, *end.begun)}

    def compare(
        self, metrics: Sequence[str], level: float, end: StudyEnd, policy: Policy = "drop"
    ) -> ComparisonSummary | None:
        """Compare the models task by task, by the first metric; None if they cannot be."""
        from passband.summary import ComparisonOptions, compare_sources

        with suppress(InvalidInput):  # other problems, adaptive tests, damage
            begun = self._begun(end).values()
            recorded = [(request.directory, _recorded(request)) for request in begun]
            held = [(directory, tasks) for directory, tasks in recorded if tasks]
            names = list(dict.fromkeys(name for _, tasks in held for name in tasks))
            if len(held) > 1:
                options = ComparisonOptions(tuple(metrics[:1]), level=level, policy=policy)
                return compare_sources([directory for directory, _ in held], options, tasks=names)
        return None

    def _left(self, place: int, finished: Mapping[str, RunResult]) -> float | None:
        """Return what may be spent on a model: the limit less what all the others have cost."""
        request = self.requests[place]
        limit = request.settings.max_cost
        if limit is None or request.price == _FREE:
            return None
        for label, other in zip(self.labels, self.requests, strict=True):
            if other is not request:
                end = finished.get(label)
                limit -= (_recorded_cost(other) if end is None else end.cost) or 0.0
        return limit


def _add(labels: set[str], label: str, stop: Callable[[], None]) -> None:
    labels.add(label)


class _Further:
    """The watcher of a further model: guesses about the tasks have been shown before."""

    shows_guesses = False

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.tick, self.note, self.warn = watcher.tick, watcher.note, watcher.warn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watcher, name)


def refuse_twice(labels: Sequence[str]) -> None:
    """Refuse a model that is named twice.

    >>> refuse_twice(["openai:a", "a"])
    Traceback (most recent call last):
    passband.errors.InvalidInput: the model a is named twice (openai:a is the same); ...
    """
    seen: dict[str, str] = {}
    for label in labels:
        whole = _whole_name(label)
        if whole in seen:
            same = "" if seen[whole] == label else f" ({seen[whole]} is the same)"
            raise InvalidInput(
                f"the model {label} is named twice{same}; checkpoints that share a name are told "
                "apart by --name, in a study file by name."
            )
        seen[whole] = label


def _whole_name(model: str) -> str:
    """Return the name of a model with its provider: one without is a model of a server."""
    return model if model.partition(":")[0] in providers else f"openai:{model}"


def _recorded(request: RunRequest) -> list[str]:
    """Return the tasks of a request of which trials are recorded."""
    names = [task.name for task in request.tasks]
    if is_run_directory(request.directory):
        with suppress(EmptyStore), Trials(request.directory) as trials:
            runs = [run for run in trials.runs() if run.model == str(request.model)]
            return [r.task for r in runs if r.task in names and trials.statuses(r.number)]
    return []


def _recorded_cost(request: RunRequest) -> float:
    """Return what the recorded trials of a request have cost."""
    tasks, price = _recorded(request), request.price or _FREE
    if not tasks:
        return 0.0
    with Trials(request.directory) as trials:
        runs = [r for r in trials.runs() if r.task in tasks and r.model == str(request.model)]
        return sum(trials.cost(r.number) or price.of(*trials.tokens(r.number)) for r in runs)
