"""Study files: models, tasks and settings in YAML, for `passband run study.yaml`.

    tasks: [arithmetic, sums.yaml]
    n: 8
    models:
      - tiny
      - model: openai:policy
        name: step100
        base_url: http://localhost:8000/v1
        temperature: 0.7

Keys are named as the options of `passband run`, and mistakes are reported with their lines.

The keys of a study file that are settings: what each may hold, and whose it may be.

A function of a value returns the setting, or raises `ValueError` with the words for what it
should be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.run.budget import read_price
from passband.run.study.study import refuse_twice
from passband.run.task_run import Price
from passband.tasks import (
    LARGEST_FILE,
    Diagnostic,
    KeyPath,
    YamlFile,
    raise_errors,
    read_gen,
    read_yaml,
)

ADJUSTMENTS = ("system", "num_fewshot", "fewshot_as_turns", "gen")
"""Keys that are adjustments of tasks (`passband.tasks.overrides`), and not options of a run."""


def _whole(least: int) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"a whole number, {least} or more")
        return value

    return convert


def _number(words: str, is_valid: Callable[[float], bool]) -> Callable[[Any], float]:
    def convert(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not is_valid(value):
            raise ValueError(f"a number {words}")
        return float(value)

    return convert


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text")
    return value


def _seed(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("a number or text")
    return str(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _one_of(*words: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value not in words:
            raise ValueError(" or ".join(words))
        return str(value)

    return convert


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values or not all(isinstance(v, str) for v in values):
        raise ValueError("text, or a list of texts")
    return tuple(values)


def _addresses(value: Any) -> str | tuple[str, ...]:
    addresses = _texts(value)
    return addresses[0] if len(addresses) == 1 else addresses


def _path(value: Any) -> Path:
    return Path(_text(value))


def _gen(value: Any) -> dict[str, Any]:
    """Return the fields of requests, checked like --gen; null leaves a field out."""
    if not isinstance(value, Mapping):
        raise ValueError("a mapping of fields, such as {top_k: 20}")
    return read_gen(f"{k}={'' if v is None else json.dumps(v)}" for k, v in value.items())


_positive = _number("above 0", lambda value: value > 0)
_BOTH: dict[str, Callable[[Any], Any]] = {
    "temperature": _number("of at least 0", lambda value: value >= 0),
    "top_p": _number("above 0 and at most 1", lambda value: 0 < value <= 1),
    "max_tokens": _whole(1),
    "seed": _seed,
    "concurrency": _whole(1),
    "batch": _whole(1),
    "timeout": _positive,
    "system": lambda value: value if value == "" else _text(value),
    "num_fewshot": _whole(0),
    "fewshot_as_turns": _flag,
    "gen": _gen,
    "stream": _flag,
}
_STUDY: dict[str, Callable[[Any], Any]] = {
    "n": _whole(1),
    "limit": _whole(1),
    "max_cost": _positive,
    "max_failed": _number("between 0 and 1", lambda value: 0 <= value <= 1),
    "out": _path,
    "truncated": _one_of("leave", "score"),
    "policy": _one_of("drop", "fail", "error"),
    "metrics": _texts,
    "level": _number("between 0 and 1", lambda value: 0 < value < 1),
}
_MODEL: dict[str, Callable[[Any], Any]] = {"name": _text, "base_url": _addresses}

KEYS: Mapping[str, Callable[[Any], Any]] = {**_BOTH, **_STUDY, **_MODEL}
OF_STUDIES = (*_STUDY, *_BOTH)
OF_MODELS = (*_MODEL, *_BOTH)


_MARK = re.compile(rb"^(models|tasks)[ \t]*:", re.MULTILINE)


@dataclass(frozen=True)
class StudyModel:
    """A model of a study, with its own settings."""

    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    price: Price | None = None

    @property
    def label(self) -> str:
        """The name that tables have for it."""
        return str(self.settings.get("name") or self.model)


@dataclass(frozen=True)
class StudyFile:
    """What a study file says."""

    path: Path
    tasks: tuple[str, ...]
    models: tuple[StudyModel, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def chosen(self, names: list[str]) -> tuple[StudyModel, ...]:
        """Return the models of these names, or all."""
        known = [name for model in self.models for name in (model.label, model.model)]
        for name in names:
            if name not in known:
                raise InvalidInput(
                    f"--model {name}: {self.path} has no such model.{nearest(name, known)} "
                    f"It has {', '.join(model.label for model in self.models)}."
                )
        return tuple(
            model for model in self.models if not names or {model.label, model.model} & {*names}
        )


def is_study_file(name: str) -> bool:
    """Return whether a name is a YAML file with the keys models or tasks, which no task has."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK.search(file.read(LARGEST_FILE)) is not None


def read_study(path: Path) -> StudyFile:
    """Read a study file; raise `TaskErrors` with every mistake and its line."""
    file = read_yaml(path)
    study = _Reader(file).read()
    raise_errors(file.diagnostics)
    return study


def check_study(name: str) -> list[Diagnostic]:
    """Return the mistakes in a study file; its tasks are not looked at."""
    file = read_yaml(Path(name))
    _Reader(file).read()
    return file.diagnostics


class _Reader:
    """Reads the keys of a study, and reports mistakes in them."""

    def __init__(self, file: YamlFile) -> None:
        self._file = file

    def read(self) -> StudyFile:
        values = self._file.values
        if self._file.diagnostics and not values:  # no YAML
            return StudyFile(self._file.path, (), ())
        settings = self._settings(values, (), (*OF_STUDIES, "tasks", "models"))
        tasks = self._tasks(values.get("tasks"))
        models = self._models(values.get("models"))
        self._refuse_shared(models)
        return StudyFile(self._file.path, tasks, tuple(models), settings)

    def _tasks(self, value: Any) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not names:
            got = "there is none" if value is None else f"got {value!r:.60}"
            self._file.report(f"tasks must be a list, such as [gsm8k]; {got}.", "tasks")
            return ()
        for place, name in enumerate(names):
            if not isinstance(name, str) or not name.strip():
                self._file.report(f"a task is a name or a path; got {name!r:.60}.", "tasks", place)
        return tuple(self._path(name) for name in names if isinstance(name, str))

    def _path(self, name: str) -> str:
        """Return the path of a file beside the study, or the name as it is."""
        beside = self._file.path.parent / name
        is_path = "/" in name or Path(name).suffix
        return str(beside) if is_path and beside.exists() else name

    def _models(self, value: Any) -> list[StudyModel]:
        if not isinstance(value, list) or not value:
            got = "there is none" if value is None else f"got {value!r:.60}"
            self._file.report(f"models must be a list, such as [openai:NAME]; {got}.", "models")
            return []
        models = [self._model(entry, ("models", place)) for place, entry in enumerate(value)]
        return [model for model in models if model is not None]

    def _model(self, entry: Any, where: KeyPath) -> StudyModel | None:
        if isinstance(entry, str) and entry.strip():
            return StudyModel(entry)
        if not isinstance(entry, dict):
            text = f"a model is a name or a mapping with the key model; got {entry!r:.60}."
            self._file.report(text, *where)
            return None
        settings = self._settings(entry, where, (*OF_MODELS, "model", "price"))
        price = self._price(entry["price"], (*where, "price")) if "price" in entry else None
        name = entry.get("model")
        if not isinstance(name, str) or not name.strip():
            self._file.report(f"model must be the name of a model; got {name!r:.60}.", *where)
            return None
        return StudyModel(name, settings, price)

    def _price(self, value: Any, where: KeyPath) -> Price | None:
        try:
            return read_price(value)
        except InvalidInput as error:
            self._file.report(str(error), *where)
            return None

    def _settings(self, values: Mapping[Any, Any], where: KeyPath, known: Any) -> dict[str, Any]:
        """Return the settings among some values, and report keys that are not known."""
        settings = {}
        for name, value in values.items():
            if name not in known:
                self._file.report(_unknown(name, known, of_model=bool(where)), *where, name)
            elif name in KEYS:
                try:
                    settings[name] = KEYS[name](value)
                except InvalidInput as error:
                    self._file.report(str(error), *where, name)
                except (TypeError, ValueError) as error:
                    text = f"{name} must be {error}; got {json.dumps(value, default=str):.60}."
                    self._file.report(text, *where, name)
        return settings

    def _refuse_shared(self, models: list[StudyModel]) -> None:
        for place in range(1, len(models)):
            try:
                refuse_twice([model.label for model in models[: place + 1]])
            except InvalidInput as error:
                self._file.report(str(error), "models", place)
                return


def _unknown(name: Any, known: Any, *, of_model: bool) -> str:
    other = OF_STUDIES if of_model else OF_MODELS
    if name in other:
        whose = "of the whole study, not of a model" if of_model else "of a model, not of the study"
        return f"{name} is a key {whose}."
    hint = nearest(str(name), known) or f" Known: {', '.join(known)}."
    return f"unknown key {name!r}.{hint}"
