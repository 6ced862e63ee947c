"""Load Inspect tasks of a package, a file or a function, and read their samples as problems."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from passband.errors import InvalidInput, UnknownName, WrongType, nearest
from passband.generate.fingerprint.digest import file_digests, function_spec
from passband.generate.inspect.installed import message_of, require_inspect
from passband.generate.inspect.model import InspectModel, resolve_model, with_active_model
from passband.generate.problem import Problem
from passband.generate.provider import JsonMapping, JsonObject, Message
from passband.generate.registry import Connection
from passband.generate.subject import Model
from passband.score import Reference

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessage


def keyed_samples(name: str, dataset: Iterable[Sample]) -> JsonObject:
    """Return the samples of a data set by key: their ids, or 1, 2, ... for those without."""
    samples: dict[str, Sample] = {}
    for position, sample in enumerate(dataset, start=1):
        if sample.id is None:
            sample = sample.model_copy(update={"id": position})
        key = str(sample.id)
        if key in samples:
            ids = " and ".join(map(repr, (samples[key].id, sample.id)))
            raise InvalidInput(f"{name}: two samples have the same id: {ids}.")
        samples[key] = sample
    return samples


def problem_of(key: str, sample: Sample) -> Problem:
    """Return a sample as a problem; its record changes if the sample does."""
    targets = (sample.target,) if isinstance(sample.target, str) else tuple(sample.target)
    choices = tuple(sample.choices or ())
    return Problem(key, _messages(sample.input), Reference(targets, choices, _doc(sample)))


def text_of(content: Any) -> str:
    """Return the text of a message's content; anything else shows as its type."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text if part.type == "text" else f"[{part.type}]" for part in content)


def _messages(prompt: Any) -> tuple[Message, ...]:
    if isinstance(prompt, str):
        return (Message("user", prompt),)
    return tuple(Message(cast(Any, turn.role), text_of(turn.content)) for turn in prompt)


def _doc(sample: Sample) -> JsonObject:
    """Return what else a sample consists of, as JSON values."""
    doc: JsonObject = {}
    if sample.metadata:
        doc["metadata"] = _plain(sample.metadata)
    if not isinstance(sample.input, str) and not all(map(_is_plain, sample.input)):
        doc["input"] = [
            _plain(turn.model_dump(exclude_none=True, exclude={"id"})) for turn in sample.input
        ]
    for name in ("files", "setup", "sandbox"):
        if value := getattr(sample, name, None):
            doc[name] = _shortened(_plain(value))
    return doc


def _is_plain(turn: ChatMessage) -> bool:
    return isinstance(turn.content, str) and turn.role in ("system", "user", "assistant")


def _plain(value: Any) -> Any:
    """Return a value as JSON values; an object that has none is its type, the same each time."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(
        _ordered(value), fallback=lambda thing: f"<{type(thing).__qualname__}>"
    )


def _ordered(value: Any) -> Any:
    """Return a value with its sets as sorted lists: their own order is another in each process."""
    if isinstance(value, Mapping):
        return {key: _ordered(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_ordered(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(_ordered, value), key=repr)
    return value


def _shortened(value: Any, most: int = 500) -> Any:
    """Return JSON values with long texts, such as contents of files, as digests."""
    if isinstance(value, Mapping):
        return {key: _shortened(part, most) for key, part in value.items()}
    if isinstance(value, list):
        return [_shortened(part, most) for part in value]
    if isinstance(value, str) and len(value) > most:
        return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return value


@dataclass(frozen=True, eq=False)
class InspectTask:
    """A task of Inspect, with its samples by the keys of their problems."""

    name: str
    reference: str  # how it was named: inspect_evals/aime2024, tasks.py@sums, module:function
    arguments: JsonMapping  # that it was made with
    version: str  # of inspect_ai
    task: Any  # an inspect_ai.Task, which must not be changed
    samples: Mapping[str, Sample]  # of inspect_ai, by key
    code: Mapping[str, str] = field(default_factory=dict)  # digests of the files that define it
    model: InspectModel | None = None  # that its code was given where it asked for the active one

    def asked(self, model: Model, connection: Connection) -> InspectModel:
        """Return the model to ask: the one that the task's code may hold already, if it can."""
        asked = self.model
        if asked is None or asked.is_closed:
            asked = resolve_model(model, connection)
        asked.users += 1
        return asked


def load_inspect_tasks(
    reference: str,
    arguments: JsonMapping | None = None,
    model: Model | None = None,
    connection: Connection | None = None,
) -> list[InspectTask]:
    """Return the tasks that a reference names; a file without @task may hold several.

    Loading imports the task's module and calls its function: it runs code. That may ask for the
    model that is evaluated; without one it gets a model that answers nothing.
    """
    version = require_inspect()
    from inspect_ai._util.dotenv import init_dotenv

    init_dotenv()  # keys of models may be in a .env file, where Inspect's own command finds them
    arguments = dict(arguments or {})
    asked = None if model is None else resolve_model(model, connection or Connection())
    with redirect_stdout(sys.stderr):  # tasks may print; the output is the result's
        made = with_active_model(asked, lambda: _made(reference.strip(), arguments))
    return [
        InspectTask(
            name,
            reference,
            arguments,
            version,
            task,
            _samples(reference, name, task),
            _code(reference, task),
            asked,
        )
        for name, task in made
    ]


def source_of(task: Any) -> InspectTask:
    """Return a task that is given itself, or by the function that makes it."""
    version = require_inspect()
    from inspect_ai import Task

    made = task() if callable(task) and not isinstance(task, Task) else task
    if not isinstance(made, Task):
        raise WrongType(f"a task is a name, a Task of Inspect or a function of one; got {task!r}.")
    name = made.name
    code = {} if made is task else function_spec(task).get("code", {})
    return InspectTask(name, name, {}, version, made, _samples(name, name, made), code)


def _samples(reference: str, name: str, task: Any) -> JsonObject:
    if getattr(task, "sample_source", None) is not None:
        raise InvalidInput(
            f"inspect:{reference}: {name} makes its samples while it runs (a SampleSource), so "
            f"there is no list of problems to ask n times; run it with inspect eval."
        )
    return keyed_samples(name, task.dataset)


def _code(reference: str, task: Any) -> dict[str, str]:
    """Return digests of the file that defines a task, and of those beside it that it imports."""
    from inspect_ai._util.registry import registry_lookup

    for path in (reference.partition("@")[0], getattr(task, "__task_file__", "")):
        if path.endswith(".py") and Path(path).is_file():
            return file_digests(Path(path))
    function = _function(reference) or registry_lookup("task", reference)
    code: dict[str, str] = {} if function is None else function_spec(function).get("code", {})
    return code


def _made(reference: str, arguments: JsonMapping) -> list[tuple[str, Any]]:
    """Return names and tasks; what the task's own code raises is an error of the input."""
    from inspect_ai import Task

    if not reference:
        raise InvalidInput("inspect: needs the name of a task, such as inspect:tasks.py@sums.")
    try:
        function = _function(reference)
        if function is not None:
            tasks = [(_function_name(function), _called(reference, function, arguments))]
        else:
            tasks = _by_inspect(reference, arguments)
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput(f"inspect:{reference} cannot be loaded: {message_of(error)}") from error
    for _, task in tasks:
        if not isinstance(task, Task):
            kind = type(task).__name__
            raise InvalidInput(f"inspect:{reference} must return a Task of Inspect; got {kind}.")
    return [(name if task.name == "task" else task.name, task) for name, task in tasks]


# -- module:function -----------------------------------------------------------------------


def _function(reference: str) -> Any | None:
    """Return the function of `module:function`; None if the reference is of another kind."""
    module_name, colon, attribute = reference.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module_name.split("."), attribute)):
        return None
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidInput(f"inspect:{reference}: {error}.") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        names = [name for name in dir(module) if callable(getattr(module, name))]
        hint = nearest(attribute, names)
        raise UnknownName(f"{module_name} has no function named {attribute!r}.{hint}")
    return function


def _function_name(function: Any) -> str:
    return str(getattr(function, "__name__", "task"))


def _called(reference: str, function: Any, arguments: JsonMapping) -> Any:
    _refuse_unknown(reference, [function], arguments)
    return function(**arguments)


# -- registry, file, file@task -------------------------------------------------------------


def _by_inspect(reference: str, arguments: JsonMapping) -> list[tuple[str, Any]]:
    # Public functions of Inspect only run tasks; those that its command uses, too, make them.
    from inspect_ai._eval.loader import create_file_tasks, load_file_tasks, load_tasks
    from inspect_ai._util.registry import registry_lookup

    path, _, name = reference.partition("@")
    if name and not Path(path).is_file():
        raise InvalidInput(f"inspect:{reference}: there is no file {path}.")
    if name:
        load_file_tasks(Path(path).absolute())
    function = registry_lookup("task", name or reference)
    if function is not None:
        _refuse_unknown(reference, [function], arguments)
    elif name or not Path(path).exists():
        raise UnknownName(_unknown(reference, path if name else None))
    if not name and Path(path).is_file():
        tasks = create_file_tasks(Path(path), None, dict(arguments))
    else:
        tasks = load_tasks([reference], dict(arguments))
    if not tasks:
        if Path(path).is_file():
            compile(Path(path).read_bytes(), path, "exec")  # Inspect passes over a syntax error
        raise InvalidInput(f"inspect:{reference} holds no task of Inspect (a function with @task).")
    functions = [registry_lookup("task", task.registry_name) for task in tasks]
    _refuse_unknown(reference, functions, arguments)
    return [(task.name, task) for task in tasks]


def _unknown(reference: str, file: str | None) -> str:
    """Return the message for a task that is not there, with the names that are."""
    names = _registered()
    package = reference.partition("/")[0]
    if file is not None:
        name = reference.partition("@")[2]
        own = [name for name in names if "/" not in name]  # those of packages are qualified
        hint = nearest(name, own) or (f" It has {', '.join(own)}." if own else "")
        return f"{file} has no task named {name!r}.{hint}"
    inside = [name for name in names if name.startswith(f"{package}/")]
    if inside:
        listed = ", ".join(inside[:20]) + (", ..." if len(inside) > 20 else "")
        hint = nearest(reference, inside) or f" Tasks of {package}: {listed}."
        return f"Inspect knows no task named {reference!r}.{hint}"
    missing = "" if importlib.util.find_spec(package) else f" (no package {package} is installed)"
    return (
        f"Inspect knows no task named {reference!r}{missing}. A task is PACKAGE/TASK, "
        f"FILE.py@TASK or MODULE:FUNCTION."
    )


def _registered() -> list[str]:
    from inspect_ai._util.registry import registry_find, registry_info

    return sorted(registry_info(o).name for o in registry_find(lambda info: info.type == "task"))


def _refuse_unknown(reference: str, functions: Iterable[Any], arguments: Iterable[str]) -> None:
    """Refuse arguments that no task has a parameter for; Inspect only warns of them."""
    signatures = [inspect.signature(function).parameters for function in functions]
    parameters = {name: one for signature in signatures for name, one in signature.items()}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name in arguments:
        if name not in parameters:
            hint = nearest(name, parameters) or f" It takes: {', '.join(parameters) or 'nothing'}."
            raise UnknownName(f"-T {name}: inspect:{reference} has no such argument.{hint}")
