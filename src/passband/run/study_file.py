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
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.run.budget import read_price
from passband.run.counters import Price
from passband.run.study import refuse_twice
from passband.run.study_keys import KEYS, OF_MODELS, OF_STUDIES
from passband.tasks.diagnostics import Diagnostic, raise_errors
from passband.tasks.yaml_file import LARGEST, KeyPath, YamlFile, read_yaml

__all__ = ["StudyFile", "StudyModel", "check_study", "is_study_file", "read_study"]

_MARK = re.compile(rb"^(models|tasks)[ \t]*:", re.MULTILINE)


@dataclass(frozen=True)
class StudyModel:
    """A model of a study, and what is its own."""

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
    """Return whether a name is that of a YAML file with models or tasks, which no task has."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK.search(file.read(LARGEST)) is not None


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
    """Reads the keys of a study, and reports what is wrong with them."""

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
