"""Recorded runs, of a run directory or of a log, as groups of outcomes.

Runs know their task, model, scorers and problems, so they are split by name and not by column:
`--by` takes task, model, scorer, or a name in the problems' data; `--cluster` takes the latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers.groups import Group, Groups, Remark
from passband.readers.options import Options
from passband.stats.data.cells import is_absent, label, listing, number_labels
from passband.stats.data.layout import error_prefix
from passband.stats.data.outcomes import Outcomes
from passband.trials.records import Bounds

__all__ = ["RecordedRun", "groups_of_runs", "select"]

_OF_RUNS = ("task", "model", "scorer")


class RecordedRun(Protocol):
    """One task asked of one model."""

    @property
    def task(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def scorers(self) -> tuple[str, ...]: ...

    def outcomes(self, scorer: str | None = None) -> Outcomes: ...

    def bounds(self, scorer: str | None = None) -> Bounds | None: ...

    def data_names(self) -> list[str]: ...

    def data(self, name: str) -> Mapping[str, Any]: ...


def groups_of_runs(
    runs: Sequence[RecordedRun], options: Options, *, source: str, kind: str
) -> Groups:
    """Return the outcomes of each run, further split and clustered as the options say."""
    with error_prefix([source]):
        options.refuse(("problem", "trial", "status"), kind)
    runs = [run for run in runs if _is_wanted(run, options)] or runs  # `read` names what is unknown
    by = _split(runs, options.by, source)
    _refuse_twins(runs, by, source)
    groups = [group for run in runs for group in _groups(run, by, options)]
    used = dict.fromkeys(
        f"{run.task} scored by {_scorer(run, options.columns.get('score'))}" for run in runs
    )
    remarks = [] if "scorer" in by else [Remark(f"{kind.partition(' ')[2]}: {', '.join(used)}")]
    if by:
        remarks.append(Remark(f"split by: {', '.join(by)}"))
    return Groups(source, by, tuple(groups), tuple(remarks))


def _is_wanted(run: RecordedRun, options: Options) -> bool:
    """Return whether a run is of the tasks and models that are wanted; its scorers may differ."""
    return (not options.tasks or run.task in options.tasks) and (
        not options.models or run.model in options.models
    )


def _split(runs: Sequence[RecordedRun], chosen: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the names to split by: what tells the runs apart, and what was chosen."""
    apart = [name for name in ("task", "model") if len({getattr(r, name) for r in runs}) > 1]
    others = [name for name in chosen if name not in _OF_RUNS]
    if others:
        _require_data(runs, others, f"{source}: cannot be split by", _OF_RUNS)
    return tuple(dict.fromkeys((*apart, *chosen)))


def _require_data(
    runs: Sequence[RecordedRun], names: Sequence[str], refusal: str, more: Sequence[str] = ()
) -> None:
    known = list(dict.fromkeys((*more, *(name for run in runs for name in run.data_names()))))
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            raise UnknownName(f"{refusal} {name!r}.{hint} Known: {listing(known) or 'none'}.")


def _refuse_twins(runs: Sequence[RecordedRun], by: Sequence[str], source: str) -> None:
    seen: set[tuple[str, str]] = set()
    for run in runs:
        if (run.task, run.model) in seen:
            raise InvalidInput(
                f"{source}: holds two logs of {run.task} by {run.model}; read them one by one."
            )
        seen.add((run.task, run.model))


def _scorer(run: RecordedRun, name: str | None) -> str:
    return name or next(iter(run.scorers), "no scorer")


def _groups(run: RecordedRun, by: Sequence[str], options: Options) -> Iterator[Group]:
    score, cluster = options.columns.get("score"), options.columns.get("cluster")
    scorers: Sequence[str | None] = [score]
    if "scorer" in by and score is None:
        scorers = run.scorers
    names = [name for name in by if name not in _OF_RUNS]
    for scorer in scorers:
        outcomes = run.outcomes(scorer)
        if cluster is not None:
            outcomes = _clustered(run, outcomes, cluster)
        labels = {"task": run.task, "model": run.model, "scorer": _scorer(run, scorer)}
        for values, part in _parts(run, outcomes, names):
            key = tuple((labels | values)[name] for name in by)
            yield Group(key, part, run.task, run.model, run.bounds(scorer))


def _clustered(run: RecordedRun, outcomes: Outcomes, name: str) -> Outcomes:
    _require_data([run], [name], f"{run.task}: problems cannot be clustered by")
    data = run.data(name)
    for problem in outcomes.problems:
        if is_absent(data[problem]):
            raise InvalidInput(f"{run.task}: problem {problem!r} has no {name}, its cluster.")
    return replace(outcomes, clusters=[label(data[problem]) for problem in outcomes.problems])


def _parts(
    run: RecordedRun, outcomes: Outcomes, names: Sequence[str]
) -> Iterator[tuple[dict[str, str], Outcomes]]:
    """Yield the problems that agree in all of the named data, with what they agree in."""
    if not names:
        yield {}, outcomes
        return
    data = [run.data(name) for name in names]
    keys = [tuple(label(one.get(problem)) for one in data) for problem in outcomes.problems]
    numbers, _ = number_labels(keys)
    for number in range(int(numbers.max()) + 1):
        where = np.flatnonzero(numbers == number)
        yield dict(zip(names, keys[where[0]], strict=True)), select(outcomes, where.tolist())


def select(outcomes: Outcomes, where: Sequence[int]) -> Outcomes:
    """Return the problems at these positions.

    >>> select(Outcomes.from_array([[1, 0], [1], [0, 0]]), [2, 0])
    Outcomes(2 problems, 2 trials each, 4 scored)
    """
    index = np.asarray(where, dtype=np.int64)
    unscored = {status: counts[index] for status, counts in outcomes.unscored.items()}
    return replace(outcomes.take(index), unscored=unscored)
