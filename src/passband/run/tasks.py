"""Loading the tasks of a run: by name, path or value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.adaptive import is_adaptive_name
from passband.errors import InvalidInput, WrongType
from passband.generate import Connection, Model
from passband.log import phase
from passband.tasks import (
    DataOptions,
    Task,
    find_tasks,
    is_data_file,
    is_inspect_name,
    load_data_task,
    load_inspect,
    load_task,
    local_data,
)

if TYPE_CHECKING:
    from passband.generate import Engine


TaskName = str | Path | Task


def named_tasks(tasks: TaskName | Sequence[TaskName]) -> list[TaskName]:
    """Return tasks, of which there may be one, as a list."""
    return [tasks] if isinstance(tasks, (str, Path, Task)) else list(tasks)


@phase("load")
def load_tasks(
    tasks: TaskName | Sequence[TaskName],
    *,
    data: str | Path | Sequence[str | Path] = (),
    trust: bool = False,
    task_args: Mapping[str, Any] | None = None,
    engine: Engine = "auto",
    model: Model | None = None,
    connection: Connection | None = None,
    design: Mapping[str, Any] | None = None,
    data_options: DataOptions | None = None,
) -> list[Task]:
    """Return tasks by name, path or value; a file that is named twice is one task.

    A data file is a task as well (`passband.tasks.guess.data_file`); `data_options`
    say how to read it.

    Tasks of Inspect (`inspect:NAME`) are code by definition, and need no `trust`; `model` and
    `connection` are for code that asks for the model which is evaluated.
    """
    several = named_tasks(tasks)
    words = [data] if isinstance(data, (str, Path)) else data
    if words and (len(several) != 1 or _brings_data(several[0])):
        local_data(words, [str(getattr(task, "name", task)) for task in several])
        raise InvalidInput(f"--data: {several[0]} is no task file, whose data it could replace.")
    loaded: dict[object, Task] = {}
    for task in several:
        if isinstance(task, Task):
            loaded[id(task)] = task
        elif isinstance(task, str) and is_inspect_name(task):
            made = load_inspect(task, task_args, engine, model, connection)
            loaded |= {(task, one.name): one for one in made}
        elif is_adaptive_name(task):
            loaded |= {("adaptive", one.name): one for one in _adaptive(task, design)}
        elif is_data_file(task):
            loaded[Path(task).resolve()] = load_data_task(task, data_options)
        elif isinstance(task, (str, Path)):
            entries = find_tasks(task)
            local = local_data(words, [entry.name for entry in entries])
            for entry in entries:
                key = entry.path.resolve()
                known = loaded.get(key) or load_task(entry, trust=trust, data=local)
                groups = tuple(dict.fromkeys((*known.groups, *entry.groups)))
                loaded[key] = replace(known, groups=groups)
        else:
            raise WrongType(f"a task is a name, a path or a Task; got {task!r}.")
    if not loaded:
        raise InvalidInput("tasks must name at least one task.")
    if task_args and not any(isinstance(one, str) and is_inspect_name(one) for one in several):
        raise InvalidInput("-T gives arguments to tasks of Inspect; none is named (inspect:NAME).")
    given = () if data_options is None else data_options.given
    if given and not any(map(_is_of_data, loaded.values())):
        raise InvalidInput(
            f"{given[0]} says how a data file is read, and none is named here (.jsonl, .csv, "
            "...); a task file says it itself."
        )
    if design is not None and set(design) - {"trials"}:
        _require_adaptive(loaded.values(), design)
    names = [task.name for task in loaded.values()]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise InvalidInput(f"two tasks are named {duplicates[0]!r}.")
    return list(loaded.values())


def _is_of_data(task: Task) -> bool:
    return task.path is not None and is_data_file(task.path)


def _brings_data(task: TaskName) -> bool:
    """Return whether a task is none of a file whose data could be others."""
    return (
        isinstance(task, Task)
        or (isinstance(task, str) and is_inspect_name(task))
        or is_adaptive_name(task)
        or is_data_file(task)
    )


def _adaptive(name: Any, design: Mapping[str, Any] | None) -> Sequence[Task]:
    from passband.adaptive import Design, adaptive_tasks

    return adaptive_tasks(name, Design.of(design or {}))


def _require_adaptive(tasks: Iterable[Task], design: Mapping[str, Any]) -> None:
    if not any("adaptive" in task.config for task in tasks):
        names = ", ".join(name for name in design if name != "trials")
        raise InvalidInput(
            f"{names}: only for adaptive tests, and no task here is one (BANK:adaptive[:SPLIT])."
        )
