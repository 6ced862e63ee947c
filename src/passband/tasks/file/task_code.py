"""Python code that comes with a task: imported only if the user trusts it.

A task file may name functions of a module beside it (``!function utils.process_docs``). Importing
that module runs it, so this happens for tasks that are trusted and for no others.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from passband.errors import InvalidInput, describe
from passband.generate import file_digests
from passband.tasks.data.rows import plain_rows
from passband.tasks.diagnostics import Diagnostic
from passband.tasks.file.file_access import lm_eval_tasks
from passband.tasks.file.yaml_file import FunctionReference, YamlFile, references

_OF_LM_EVAL = "lm_eval.tasks."
_modules: dict[tuple[Path, str], ModuleType] = {}  # by file and by the digest of its text


def refuse_code(file: YamlFile) -> None:
    """Report every function that an untrusted task refers to."""
    for reference in references(file.values):
        file.diagnostics.append(
            Diagnostic.at(
                reference.place,
                f"{reference} is code that comes with the task; it is run only with "
                "--trust-task-code (trust=True in Python).",
            )
        )


def import_function(reference: FunctionReference) -> Callable[..., Any]:
    """Import the function of a reference; its module runs once for every version of its file."""
    module = _module(reference)
    function = getattr(module, reference.name, None)
    if not callable(function):
        raise InvalidInput(f"{_source(reference)} has no function {reference.name!r}.")
    called: Callable[..., Any] = function
    return called


def code_digests(values: Any) -> dict[str, str]:
    """Return a digest of every module that is referred to, so that changed code is noticed."""
    sources = {reference.module: _source(reference) for reference in references(values)}
    return {module: _digest(path.read_bytes()) for module, path in sorted(sources.items())}


def problem_code(values: Any) -> dict[str, str]:
    """Return digests of every module that is referred to, and of what it imports beside it."""
    sources = {_source(reference) for reference in references(values)}
    digests = [file_digests(path) for path in sorted(sources) if path.is_file()]
    return {name: digest for of_file in digests for name, digest in of_file.items()}


def process_rows(
    reference: FunctionReference, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows that a task's process_docs makes of its rows.

    Such functions expect a data set of the `datasets` package. They get one if it is installed,
    and otherwise a list with the methods that are used most.
    """
    return _rows_of(reference, _data_set(rows))


def made_rows(reference: FunctionReference) -> list[dict[str, Any]]:
    """Return the rows of a function without arguments, as fewshot_config.samples may be."""
    return _rows_of(reference)


def made_split(
    reference: FunctionReference, options: Mapping[str, Any], split: str | None
) -> list[dict[str, Any]]:
    """Return one split of the data that a task's custom_dataset makes."""
    try:
        data = import_function(reference)(**options)
        name = split or "test"
        if name not in data:
            raise InvalidInput(f"it gives no split {name!r}.")
        return plain_rows(dict(row) for row in data[name])
    except Exception as error:
        raise _failed(reference, error) from error


def _rows_of(reference: FunctionReference, *arguments: Any) -> list[dict[str, Any]]:
    try:
        return plain_rows(dict(row) for row in import_function(reference)(*arguments))
    except Exception as error:
        raise _failed(reference, error) from error


class RowList(list[dict[str, Any]]):
    """A list of rows with the methods of a data set that preparing functions use most.

    >>> rows = RowList([{"a": 1}, {"a": 2}])
    >>> rows.filter(lambda row: row["a"] > 1).map(lambda row: {"b": row["a"] + 1})
    [{'a': 2, 'b': 3}]
    """

    def map(self, function: Callable[..., Any], with_indices: bool = False) -> RowList:
        """Update every row with what the function returns for it."""
        return RowList(
            {**row, **(function(dict(row), i) if with_indices else function(dict(row)))}
            for i, row in enumerate(self)
        )

    def filter(self, function: Callable[..., Any]) -> RowList:
        """Keep the rows for which the function is true."""
        return RowList(row for row in self if function(dict(row)))

    def select(self, indices: Iterable[int]) -> RowList:
        """Keep the rows at these positions."""
        return RowList(self[index] for index in indices)

    @property
    def column_names(self) -> list[str]:
        return list(dict.fromkeys(name for row in self for name in row))


def _data_set(rows: Sequence[Mapping[str, Any]]) -> Any:
    plain = [dict(row) for row in rows]
    try:
        from datasets import Dataset
    except ImportError:
        return RowList(plain)
    return Dataset.from_list(plain)


def _module(reference: FunctionReference) -> ModuleType:
    path = _source(reference)
    try:
        digest = _digest(path.read_bytes())
    except OSError:
        raise InvalidInput(f"there is no {path} for {reference}.") from None
    if (path, digest) not in _modules:
        _modules[path, digest] = _run(path, digest)
    return _modules[path, digest]


def _run(path: Path, digest: str) -> ModuleType:
    # A name of its own: "utils" is what most tasks call theirs.
    name = f"_passband_task_code_{_digest(str(path).encode())[:12]}_{digest[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path} cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr):  # results alone are for the standard output
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # some tasks exit if a program is missing
        del sys.modules[name]
        reason = f"{describe(error)}{_advice(error)}"
        raise InvalidInput(f"{path} cannot be imported: {reason}") from error
    return module


def _advice(error: BaseException) -> str:
    """Return how to install the package that is missing, if that is the error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    package = error.name.partition(".")[0]
    if importlib.util.find_spec(package) is not None:  # it is there, and lacks a part
        return ""
    known = {"lm_eval": "lm-eval", "datasets": "'passband[datasets]'", "sklearn": "scikit-learn"}
    whose = "The task is one of lm-eval's, whose" if package == "lm_eval" else "The task's"
    return f" {whose} code needs it: pip install {known.get(package, package)}."


def _source(reference: FunctionReference) -> Path:
    """Return the file of a module: beside the task, or among the tasks of an installed lm-eval."""
    beside = reference.file.parent.resolve() / f"{reference.module.replace('.', '/')}.py"
    tasks = lm_eval_tasks() if reference.module.startswith(_OF_LM_EVAL) else None
    if tasks is None or beside.is_file():
        return beside
    return tasks / f"{reference.module.removeprefix(_OF_LM_EVAL).replace('.', '/')}.py"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _failed(reference: FunctionReference, error: Exception) -> InvalidInput:
    """Return the error for code that raised anything, with the line that refers to it."""
    reason = str(error) if isinstance(error, InvalidInput) else describe(error)
    return InvalidInput(f"{reference} failed: {reason}", place=reference.place)
