"""Tasks of Inspect AI as tasks of a run: `inspect:NAME`, with arguments from `-T key=value`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.generate import Connection, Model, Problem, Sampling
from passband.tasks.diagnostics import Diagnostic
from passband.tasks.task import Task

if TYPE_CHECKING:
    from passband.generate import Engine, InspectTask


PREFIX = "inspect:"
_MOST_BRACKETS = 200  # of one argument; what is nested for ever takes YAML for ever


def is_inspect_name(name: str | Path) -> bool:
    """Return whether a task is one of Inspect: `inspect:NAME`."""
    return str(name).startswith(PREFIX)


def load_inspect(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    engine: Engine = "auto",
    model: Model | None = None,
    connection: Connection | None = None,
) -> list[Task]:
    """Return the tasks of `inspect:NAME`. This runs their code, as its name says."""
    from passband.generate import load_inspect_tasks

    reference = str(name).removeprefix(PREFIX)
    sources = load_inspect_tasks(reference, arguments, model, connection)
    return [_task(source, engine) for source in sources]


def inspect_task(task: Any, engine: Engine = "auto") -> Task:
    """Return a `Task` of Inspect, or what a function of one makes, as a task of a run."""
    from passband.generate import source_of

    return _task(source_of(task), engine)


def check_inspect(
    name: str, arguments: Mapping[str, Any] | None = None, limit: int | None = 5
) -> list[Diagnostic]:
    """Load the tasks of `inspect:NAME` and their first `limit` problems; return what is wrong."""
    try:
        for task in load_inspect(name, arguments):
            task.load(limit)
    except InvalidInput as error:
        return [Diagnostic.of(error, Path(name))]
    return []


def read_task_args(words: Iterable[str], option: str = "-T") -> dict[str, Any]:
    """Return arguments given as key=value, the values read as YAML, as Inspect reads them.

    >>> read_task_args(["fewshot=2", "subjects=law,history", "strict=false"])
    {'fewshot': 2, 'subjects': ['law', 'history'], 'strict': False}
    """
    import yaml

    arguments: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InvalidInput(f"{option} takes key=value; got {word!r}.")
        try:
            if text.count("[") + text.count("{") > _MOST_BRACKETS:
                raise ValueError("too many lists and mappings")
            value = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that cannot be, ...
            raise InvalidInput(f"{option} {key}: the value is not YAML: {text!r}.") from error
        if isinstance(value, str) and "," in value:
            value = value.split(",")
        arguments[key.replace("-", "_")] = value
    return arguments


def _task(source: InspectTask, engine: Engine) -> Task:
    from passband.generate import problem_of, subject_factory

    def load(limit: int | None) -> Sequence[Problem]:
        return [problem_of(key, sample) for key, sample in islice(source.samples.items(), limit)]

    config = source.task.config.model_dump(mode="json", exclude_none=True)
    return Task(
        name=source.name,
        path=None,
        sampling=_sampling(config),
        repeats=source.task.epochs or 1,
        scorers=(),
        metrics=(),
        load=load,
        truncated="leave",
        version=str(source.task.version),
        config={"inspect": source.reference, "arguments": dict(source.arguments)},
        spec=_spec(source, config),
        subject=subject_factory(source, engine),
    )


def _sampling(config: Mapping[str, Any]) -> Sampling:
    return Sampling(
        temperature=config.get("temperature"),
        top_p=config.get("top_p"),
        max_tokens=config.get("max_tokens"),
        stop=tuple(config.get("stop_seqs") or ()),
    )


def _spec(source: InspectTask, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what trials depend on beyond model and sampling."""
    read = ("temperature", "top_p", "max_tokens", "stop_seqs")
    left = {name: value for name, value in config.items() if name not in read}
    arguments = json.loads(json.dumps(source.arguments, default=str))
    return {
        **({"task_args": arguments} if arguments else {}),
        **({"generate_config": left} if left else {}),
        **({"task_code": dict(source.code)} if source.code else {}),
    }
