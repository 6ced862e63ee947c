"""Tasks and models chosen by name among several sources, each of which may hold some of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from passband.errors import UnknownName, nearest
from passband.readers.folders import SourcePath
from passband.trials.reader import Trials, is_run_directory
from passband.trials.records import RunRecord
from passband.trials.schema import EmptyStore

__all__ = ["Chosen", "chosen_sources"]

Chosen = tuple[list[str], list[str]]
"""The tasks and the models to read from a source."""


def chosen_sources(
    paths: Sequence[SourcePath], tasks: Sequence[str], models: Sequence[str]
) -> dict[SourcePath, Chosen | str]:
    """Return for each source which of the tasks and models it holds, or why it is left out.

    A name that no run directory has is refused. Files are read with all of the names.
    """
    held: dict[SourcePath, list[RunRecord]] = {
        path: _runs(path) for path in paths if not isinstance(path, str) and is_run_directory(path)
    }
    if len(held) == len(paths):
        _require("task", tasks, [run.task for runs in held.values() for run in runs])
        known = [name for runs in held.values() for run in runs for name in (run.label, run.model)]
        _require("model", models, known)
    chosen: dict[SourcePath, Chosen | str] = {}
    for path in paths:
        runs = held.get(path)
        chosen[path] = (
            (list(tasks), list(models)) if runs is None else _chosen(path, runs, tasks, models)
        )
    return chosen


def _chosen(
    path: SourcePath, runs: Sequence[RunRecord], tasks: Sequence[str], models: Sequence[str]
) -> Chosen | str:
    if not runs:
        return f"{path} holds no trials yet and is left out"
    wanted = [
        run
        for run in runs
        if (not tasks or run.task in tasks) and (not models or {run.label, run.model} & {*models})
    ]
    if not wanted:
        what = "task" if tasks and not any(run.task in tasks for run in runs) else "model"
        return f"{path} has no such {what} and is left out"
    return (
        [task for task in tasks if any(run.task == task for run in wanted)],
        [model for model in models if any(model in (run.label, run.model) for run in wanted)],
    )


def _runs(path: Path) -> list[RunRecord]:
    """Return the runs of a directory that have trials."""
    with suppress(EmptyStore), Trials(path) as trials:
        return [run for run in trials.runs() if run.is_imported or trials.statuses(run.number)]
    return []


def _require(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise UnknownName(
                f"no {what} named {name!r}.{nearest(name, known)} The sources have {listed}."
            )
