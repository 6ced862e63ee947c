"""Load a task file: read it, check it, and make a `Task` of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place, warn
from passband.tasks.data.local_data import LocalData
from passband.tasks.data.problem_set import Conditions, ProblemSet
from passband.tasks.data.rows import Condition, DataSource
from passband.tasks.diagnostics import Diagnostic, raise_errors
from passband.tasks.entry import TaskEntry
from passband.tasks.file.metric_list import read_metrics
from passband.tasks.file.schema import TaskKeys, read_keys
from passband.tasks.file.task_code import code_digests, import_function, problem_code, refuse_code
from passband.tasks.file.yaml_file import (
    FunctionReference,
    YamlFile,
    plain_json,
    read_with_includes,
    references,
)
from passband.tasks.prompt.fewshot import Prompt, Turn
from passband.tasks.prompt.field import ChoiceOrder, ProblemField, RowTargets
from passband.tasks.sampling import read_sampling
from passband.tasks.task import Task

_SCORING = ("filter_list", "metric_list", "process_results")  # keys whose code makes no prompt


@dataclass(frozen=True)
class TaskReading:
    """The result of reading a task file: a task, unless there are errors among the diagnostics."""

    diagnostics: list[Diagnostic]
    task: Task | None = None
    problem_set: ProblemSet | None = None


def load_task(
    task: str | Path | TaskEntry, *, trust: bool = False, data: LocalData | None = None
) -> Task:
    """Load the task of a YAML file, or of an entry of `passband.tasks.find.find_tasks`.

    Raises `InvalidInput` with one line for each mistake in the file. Data are not read yet;
    `Task.load` does that. Code that comes with the task is imported only with `trust`. `data` are
    read in place of those that the file names.
    """
    reading = read_task(task, trust=trust, data=data)
    raise_errors(reading.diagnostics)
    for diagnostic in reading.diagnostics:
        if diagnostic.is_loud:
            warn(f"{diagnostic.file}:{diagnostic.line}: {diagnostic.message}")
    assert reading.task is not None  # without errors there is a task
    return reading.task


def read_task(
    task: str | Path | TaskEntry, *, trust: bool = False, data: LocalData | None = None
) -> TaskReading:
    """Read a task file and return the task together with every mistake in the file."""
    entry = task if isinstance(task, TaskEntry) else TaskEntry("", Path(task))
    file = read_with_includes(entry.path, entry.file, trust=trust)
    if not file.values:
        return TaskReading(file.diagnostics)
    has_code = any(True for _ in references(file.values))
    if has_code and not trust:
        refuse_code(file)
    keys = read_keys(file)
    if keys is None or (has_code and not trust):
        return TaskReading(file.diagnostics)
    return _built(file, keys, trust, data)


def read_values(path: Path, values: Mapping[str, Any]) -> TaskReading:
    """Read the keys of a task that are in no file of their own, but belong to one, such as data."""
    file = YamlFile(path, dict(values), {})
    keys = read_keys(file)
    return TaskReading(file.diagnostics) if keys is None else _built(file, keys, False, None)


def _built(file: YamlFile, keys: TaskKeys, trust: bool, data: LocalData | None) -> TaskReading:
    if not _imports(file):
        return TaskReading(file.diagnostics)
    sampling = read_sampling(file, keys)
    prompt = _prompt(file, keys, trust)
    metrics = read_metrics(file, keys)
    conditions = _conditions(file, keys, trust)
    if prompt is None or any(diagnostic.level == "error" for diagnostic in file.diagnostics):
        return TaskReading(file.diagnostics)
    name = keys.task or file.path.stem
    config = _config(file) | ({"data": list(data.words)} if data else {})
    text = None if "code" in config else json.dumps(config, sort_keys=True)
    source = data.source() if data else _source(file, keys, trust)
    problem_set = ProblemSet(
        name, keys, source, prompt, _places(file), text, conditions=conditions, data=data
    )
    task = Task(
        name=name,
        path=file.path,
        sampling=sampling,
        repeats=keys.repeats,
        scorers=metrics.scorers,
        metrics=metrics.entries,
        load=problem_set,
        truncated=keys.truncated,
        version=str(keys.metadata.get("version", "1")),
        num_fewshot=keys.num_fewshot,
        config=config,
        spec=_spec(file, keys),
    )
    return TaskReading(file.diagnostics, task, problem_set)


def _imports(file: YamlFile) -> bool:
    """Import all code that the task refers to; return whether all of it could be."""
    before = len(file.diagnostics)
    for reference in references(file.values):
        try:
            import_function(reference)
        except InvalidInput as error:
            file.diagnostics.append(Diagnostic.at(reference.place, str(error)))
    return len(file.diagnostics) == before


def _config(file: YamlFile) -> dict[str, Any]:
    """Return the values of the file, and a digest of the code that belongs to it."""
    config: dict[str, Any] = plain_json(file.values)
    digests = code_digests(file.values)
    return config | ({"code": digests} if digests else {})


def _spec(file: YamlFile, keys: TaskKeys) -> dict[str, Any]:
    """Return the system prompt, and digests of the code that makes the problems."""
    # What only scores is scored again.
    makers = {key: value for key, value in file.values.items() if key not in _SCORING}
    digests = problem_code(makers)
    system = {"system": keys.system} if keys.system else {}
    return {**system, **({"task_code": digests} if digests else {})}


def _places(file: YamlFile) -> dict[str, Place]:
    return {key: file.place(key) for key in TaskKeys.model_fields}


def _source(file: YamlFile, keys: TaskKeys, trust: bool) -> DataSource:
    """Return where the data are; files are relative to the file that names them."""
    files = ("dataset_kwargs", "data_files")
    place = file.place(*(files if "data_files" in keys.dataset_kwargs else ("dataset_path",)))
    return DataSource(
        path=keys.dataset_path or "",
        place=place,
        folder=place.file.parent,
        name=keys.dataset_name,
        options=keys.dataset_kwargs,
        is_trusted=trust,
    )


# -- the prompt ----------------------------------------------------------------------------


def _prompt(file: YamlFile, keys: TaskKeys, trust: bool) -> Prompt | None:
    """Compile every template; examples use the settings of fewshot_config, else the task's."""
    own = keys.fewshot_config

    def of_task(key: str) -> ProblemField | None:
        return _field(file, trust, getattr(keys, key), key)

    def of_examples(key: str) -> ProblemField | None:
        value = getattr(own, key)
        return of_task(key) if value is None else _field(file, trust, value, "fewshot_config", key)

    description = of_task("description")
    order = _order(file, keys)
    question = _turn(of_task, keys.target_delimiter, order)
    delimiter = _first(own.target_delimiter, keys.target_delimiter)
    # Worked examples may end in more than a choice: in the working that leads to it.
    example = _turn(of_examples, delimiter, order, free=own.doc_to_target is not None)
    if description is None or question is None or example is None:
        return None
    between = _first(own.fewshot_delimiter, keys.fewshot_delimiter)
    return Prompt(description, question, example, None, between, system=keys.system or None)


def _turn(
    field: Callable[[str], ProblemField | None],
    delimiter: str,
    order: ChoiceOrder | None,
    *,
    free: bool = False,
) -> Turn | None:
    text = field("doc_to_text")
    answers = RowTargets(field("doc_to_target"), field("doc_to_choice"), free=free)
    prefix = field("gen_prefix")
    return None if text is None else Turn(text, answers, prefix, delimiter, order)


def _order(file: YamlFile, keys: TaskKeys) -> ChoiceOrder | None:
    shuffle = keys.shuffle_choices
    return None if shuffle is None else ChoiceOrder(keys.task or file.path.stem, shuffle.seed)


def _conditions(file: YamlFile, keys: TaskKeys, trust: bool) -> Conditions:
    """Return the conditions on rows; mistakes in them go to the file's diagnostics."""

    def condition(expression: str | None, *path: str | int) -> Condition | None:
        try:
            name = ".".join(part for part in path if isinstance(part, str))
            place = file.place(*path)
            if expression is None:
                return None
            return Condition(expression, place, name=name, trusted=trust)
        except InvalidInput as error:
            file.report(str(error), *path)
            return None

    for position, bad in enumerate(keys.known_bad or ()):
        condition(bad.where, "known_bad", position, "where")
    problems = condition(keys.where, "where")
    own = keys.fewshot_config.where
    examples = problems if own is None else condition(own, "fewshot_config", "where")
    return Conditions(problems, examples)


def _field(file: YamlFile, trust: bool, value: Any, *keys: str) -> ProblemField | None:
    """Return the field of a setting; None if there is none, or if it is wrong."""
    if value is None:
        return None
    setting = import_function(value) if isinstance(value, FunctionReference) else value
    if isinstance(value, list) and any(isinstance(item, str) and "{{" in item for item in value):
        file.report(
            f"{'.'.join(keys)}: the items of a list are not templates; write one template that "
            f'gives a list, such as "{{{{[a, b]}}}}".',
            *keys,
        )
        return None
    try:
        return ProblemField(".".join(keys), setting, file.place(*keys), trusted=trust)
    except InvalidInput as error:
        file.report(f"{'.'.join(keys)}: {error}", *keys)
        return None


def _first(own: str | None, otherwise: str) -> str:
    return otherwise if own is None else own
