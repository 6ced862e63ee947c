"""Read any source of trials: a path, a data frame, records or a matrix.

`read` returns a group of outcomes for each model and task, `outcomes_of` the outcomes of the only
one. Of several sources, `chosen_sources` says which holds the wanted tasks and models.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from passband.errors import InvalidInput, UnknownName, WrongType, nearest, warn
from passband.files import reading
from passband.log import phase
from passband.readers.folders import SourcePath, is_dataset
from passband.readers.groups import Groups
from passband.readers.options import Options
from passband.readers.reader import TABLE, find_reader, plugin_errors, readers
from passband.stats.data import ROLES, Outcomes, Scale, Table, error_prefix
from passband.trials import STORE_FILE, is_run_directory

if TYPE_CHECKING:
    from passband.readers.log import Log
    from passband.trials import RunRecord
    from passband.types import ArrayLike


class Frame(Protocol):
    """A data frame of any library: columns by name."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


#: Whatever trials can be read from: a path, a data frame, columns, records, a matrix, outcomes.
Data: TypeAlias = (
    "Outcomes | Log | str | os.PathLike[str] | Frame | Mapping[str, Sequence[Any]] "
    "| Sequence[Mapping[str, Any]] | Sequence[Sequence[float | None]] | ArrayLike"
)


def read(
    source: Data,
    *,
    columns: Mapping[str, str | None] | None = None,
    by: str | Sequence[str] = (),
    threshold: float | None = None,
    reader: str | None = None,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    skip_bad: bool = False,
    targets: bool = False,
    answers: bool = False,
    scales: Mapping[str, Scale] | None = None,
    first: int | None = None,
) -> Groups:
    """Return the outcomes that a source holds, one group for each model and task.

    `source` is a run directory, a file (a table of trials, a matrix, another tool's log), a data
    set of Parquet files (a glob, a folder, an address such as s3://bucket/x), a `Log`,
    a data frame, a list of records, a matrix, or `Outcomes`. `columns` says which column plays a
    role (problem, trial, score, status, cluster, answer) where its name does not; for a run
    directory, score is the name of a scorer. `by` names what to split by, in addition to what must
    not be pooled. With a `threshold`, scores of at least that count as successes. `reader` names
    the reader of a file, which is otherwise recognized. `tasks` and `models` choose among groups.
    With `skip_bad`, records that cannot be read are left out, and a remark says how many. With
    `targets`, groups hold the targets of their problems, where the source has them. With `answers`,
    outcomes have the votes that `vote@k` is about, where the source says what each trial answered.
    `scales` says by name of a column or scorer what range its scores have, and whether lower ones
    are better; a source that says otherwise is refused. With `first`, outcomes are those of so many
    first trials of each problem, which were asked whatever their results.

    >>> table = {"model": ["M", "N"] * 2, "problem": ["a", "a", "b", "b"], "score": [1, 0, 1, 1]}
    >>> for group in read(table).groups:
    ...     print(group.key, group.outcomes)
    ('M',) Outcomes(2 problems, 1 trial each, 2 scored)
    ('N',) Outcomes(2 problems, 1 trial each, 2 scored)
    """
    options = Options.of(
        columns, by, tasks, models, skip_bad=skip_bad, targets=targets, answers=answers,
        threshold=threshold, scales=scales, first=first,
    )  # fmt: skip
    groups = _chosen(_groups(source, options, reader), options)
    _require_first(groups, first)
    options.require_scores(groups.source, [group.scorer for group in groups.groups])
    groups = groups.stating(options.scales)
    if threshold is None or groups.is_cut:
        return groups
    cut = (replace(group, outcomes=group.outcomes.binarize(threshold)) for group in groups.groups)
    return replace(groups, groups=tuple(cut))


def _require_first(groups: Groups, first: int | None) -> None:
    """Raise `InvalidInput` if a reader has not kept to the first trials of each problem."""
    if first is not None and any(group.outcomes.most_trials() > first for group in groups.groups):
        raise InvalidInput(
            f"{groups.source}: its reader ({groups.reader or 'of a plug-in'}) has no first trials; "
            "leave out first= (in the shell, --first)."
        )


def _chosen(groups: Groups, options: Options) -> Groups:
    """Return the groups of the tasks and models that are wanted."""
    for noun, names in (("task", options.tasks), ("model", options.models)):
        held = {str(getattr(group, noun)) for group in groups.groups if getattr(group, noun)}
        for name in names:
            if name not in held:
                hint = nearest(name, held) or f" It has {', '.join(sorted(held)) or 'none'}."
                raise UnknownName(f"{groups.source} has no {noun} named {name!r}.{hint}")
    kept = [
        group
        for group in groups.groups
        if (not options.tasks or group.task in options.tasks)
        and (not options.models or group.model in options.models)
    ]
    return replace(groups, groups=tuple(kept))


def outcomes_of(
    source: Data,
    *,
    columns: Mapping[str, str | None] | None = None,
    answers: bool = False,
    scales: Mapping[str, Scale] | None = None,
    first: int | None = None,
) -> Outcomes:
    """Return the outcomes of a source that holds one model and task; see `read` for sources.

    With `first`, they are those of so many first trials of each problem. A column that is pooled
    though it looks like a condition is named in a warning.

    >>> outcomes_of([[1, 0], [1, 1]])
    Outcomes(2 problems, 2 trials each, 4 scored)
    """
    if isinstance(source, Outcomes) and not columns and not scales and first is None:
        return source
    groups = read(source, columns=columns, answers=answers, scales=scales, first=first)
    outcomes = groups.only()
    for remark in groups.remarks:
        if remark.important:
            warn(f"{groups.source}: {remark}")
    for group in groups.groups:
        if group.judged is not None:
            warn(
                f"{groups.source}: these are the verdicts of {group.judged.judge}, a judge's and "
                "not the task's; `passband stats` and passband.summarize correct them by labels"
            )
    return outcomes


def _groups(source: Any, options: Options, reader: str | None) -> Groups:
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise InvalidInput("the path of the source is empty; give a file or a run directory.")
        if reader is None and is_dataset(source):
            from passband.readers.dataset.reader import read_dataset

            return read_dataset(os.fspath(source), options)
        return _of_path(Path(source), options, reader)
    from passband.readers.log import Log

    if isinstance(source, Log):
        from passband.readers.runs import groups_of_runs

        return groups_of_runs([source], options, source=source.source.file, kind="a log")
    if reader is not None:
        raise WrongType(f"only files have a reader; got {type(source).__name__}.")
    if _is_table(source):
        from passband.readers.tables.table import groups_of_table

        return groups_of_table(Table.of(source), options)
    from passband.readers.tables.matrix import groups_of_matrix

    outcomes = source if isinstance(source, Outcomes) else Outcomes.from_array(source)
    return groups_of_matrix(outcomes, options, type(source).__name__)


def _of_path(path: Path, options: Options, name: str | None) -> Groups:
    name, content = read_content(path, options, name)
    if isinstance(content, Groups):
        return content
    from passband.readers.runs import groups_of_runs

    groups = groups_of_runs(content, options, source=str(path), kind=f"a log ({name})")
    return replace(groups, reader=name)


@phase("read")
def read_content(
    path: Path, options: Options, name: str | None = None
) -> tuple[str, Groups | list[Log]]:
    """Return the reader of a path, which is recognized unless it is named, and what it reads."""
    with reading(path):
        _refuse_pipe(path)
        name, reader = find_reader(path) if name is None else (name, _reader(name))
        if name == TABLE and path.is_dir():
            raise InvalidInput(
                f"{path} is not a run directory, which has a {STORE_FILE}, nor a log of another "
                "tool that passband knows."
            )
    with plugin_errors(name, path):
        content = reader.read(path, options)
    if isinstance(content, Groups):
        _refuse_ignored(options, content, getattr(reader, "roles", ()), f"a file ({name})")
        return name, replace(content, reader=name)
    from passband.readers.log import Log

    if not content or not all(isinstance(log, Log) for log in content):
        raise InvalidInput(f"{path}: the reader {name!r} found no trials in it.")
    return name, list(content)


def _refuse_pipe(path: Path) -> None:
    """Raise `InvalidInput` for a pipe or a device: a file is recognized first, and then read."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InvalidInput(
            f"{path}: a pipe or a device, not a file; write what comes out of it to a file first."
        )


def _refuse_ignored(options: Options, groups: Groups, roles: Sequence[str], kind: str) -> None:
    """Raise `InvalidInput` for options that the reader of these groups has not honoured."""
    with error_prefix([groups.source]):
        if groups.columns is None:
            options.refuse([role for role in ROLES if role not in roles], kind)
        for name in options.by:
            if name not in groups.by:
                raise InvalidInput(f"by={name!r} (in the shell, --by) does not apply to {kind}.")


def _reader(name: str) -> Any:
    from passband.readers.tables.table import TableReader

    return TableReader() if name == TABLE else readers.get(name)


def _is_table(source: Any) -> bool:
    """Return whether a source has columns: records, columns by name, or a data frame."""
    if isinstance(source, (Table, Mapping)) or hasattr(source, "column_names"):
        return True
    if hasattr(source, "columns"):
        return True
    return isinstance(source, (list, tuple)) and bool(source) and isinstance(source[0], Mapping)


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
            (list(tasks), list(models)) if runs is None else _held_names(path, runs, tasks, models)
        )
    return chosen


def _held_names(
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
    from passband.trials import EmptyStore, Trials

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
