"""Read the policy of a gate from YAML, naming the line of a mistake.

name: nightly
tolerance: 0.02
metrics: [pass@1, pass@4]
tasks:
  gsm8k:
  humaneval:
    tier: supporting
    metrics:
      pass@1: {tolerance: 0.03}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from passband.errors import InvalidInput, nearest
from passband.stats import Over
from passband.stats.data import NOTHING
from passband.stats.decision import Failed
from passband.summary.gate.policy import (
    GatePolicy,
    MetricRule,
    TaskRule,
    Tier,
    check_limits,
    check_name,
    metric_names,
)
from passband.tasks import KeyPath, YamlFile, raise_errors, read_yaml


def read_policy(path: Path) -> GatePolicy:
    """Read a policy; raise `TaskErrors` with every mistake and its line."""
    file = read_yaml(path)
    raise_errors(file.diagnostics)
    try:
        keys = _PolicyKeys.model_validate(file.values)
    except ValidationError as invalid:
        _report(file, invalid)
        raise_errors(file.diagnostics)
        raise
    _check_metrics(file, keys)
    raise_errors(file.diagnostics)
    return keys.policy()


# -- values ----------------------------------------------------------------------------------


def _kind(is_valid: Callable[[Any], bool], words: str) -> BeforeValidator:
    def check(value: object) -> object:
        if not is_valid(value):
            raise ValueError(f"must be {words}; got {value!r:.60}.")
        return value

    return BeforeValidator(check)


def _one_of(kind: object) -> BeforeValidator:
    words = get_args(kind)

    def check(value: object) -> object:
        if value not in words:
            hint = nearest(value, words) if isinstance(value, str) else ""
            listed = f"{', '.join(words[:-1])} or {words[-1]}"
            raise ValueError(f"must be {listed}; got {value!r:.60}.{hint}")
        return value

    return BeforeValidator(check)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _named(words: str) -> BeforeValidator:
    """Take a name, a list of names, or a mapping of names to what each has of its own."""

    def check(value: object) -> object:
        names = [value] if isinstance(value, str) else value
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            return {name: {} for name in names}
        if isinstance(value, Mapping) and value and all(isinstance(name, str) for name in value):
            return {name: {} if own is None else own for name, own in value.items()}
        raise ValueError(f"must be {words}; got {value!r:.60}.")

    return BeforeValidator(check)


def _name(value: str) -> str:
    try:
        check_name(value)
    except InvalidInput as error:
        raise ValueError(error.message.removeprefix("name ")) from None
    return value


def _codes(value: str | list[str]) -> tuple[str, ...]:
    try:
        return NOTHING.accepting([value] if isinstance(value, str) else value).accepted
    except (InvalidInput, TypeError) as error:
        raise ValueError(f"must be codes of findings; {error}") from None


Tolerance = Annotated[
    float, _kind(lambda v: _is_number(v) and v > 0, "a number above 0, such as 0.02")
]
Share = Annotated[float, _kind(lambda v: _is_number(v) and 0 <= v <= 1, "a number from 0 to 1")]
Alpha = Annotated[float, _kind(lambda v: _is_number(v) and 0 < v < 1, "a number between 0 and 1")]
TierKey = Annotated[Tier, _one_of(Tier)]


def _limits(value: object) -> object:
    if not isinstance(value, dict) or not all(map(_is_number, value.values())):
        raise ValueError("limits must be amounts by name, such as {cost: 0.02}.")
    try:
        check_limits(value)
    except InvalidInput as error:
        raise ValueError(str(error)) from None
    return value


# -- keys ------------------------------------------------------------------------------------


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _MetricKeys(_Keys):
    tolerance: Tolerance | None = None
    tier: TierKey | None = None

    def rule(self) -> MetricRule:
        return MetricRule(self.tolerance, self.tier)


_Metrics = Annotated[dict[str, _MetricKeys], _named("the names of metrics, such as [pass@1]")]


class _TaskKeys(_Keys):
    tolerance: Tolerance | None = None
    tier: TierKey | None = None
    metrics: _Metrics | None = None

    def rule(self) -> TaskRule:
        metrics = None if self.metrics is None else _rules(self.metrics)
        return TaskRule(self.tolerance, self.tier, metrics)


class _PolicyKeys(_Keys):
    name: Annotated[str, BeforeValidator(_name)] = "gate"
    tolerance: Tolerance | None = None
    metrics: _Metrics = Field(default_factory=dict)
    over: Annotated[Over, _one_of(Over)] = "trials"
    alpha: Alpha = 0.05
    failed: Annotated[Failed, _one_of(Failed)] = "bracket"
    max_failed: Share = 0.05
    max_left_out: Share = 0.05
    tasks: Annotated[dict[str, _TaskKeys], _named("the names of tasks, such as [gsm8k]")] = Field(
        default_factory=dict
    )
    others: TierKey | None = None
    accept: Annotated[tuple[str, ...], BeforeValidator(_codes)] = ()
    limits: Annotated[dict[str, float], BeforeValidator(_limits)] = Field(default_factory=dict)

    def policy(self) -> GatePolicy:
        values = {name: getattr(self, name) for name in type(self).model_fields}
        tasks = {name: task.rule() for name, task in self.tasks.items()}
        return GatePolicy(**values | {"metrics": _rules(self.metrics), "tasks": tasks})


def _rules(metrics: Mapping[str, _MetricKeys]) -> dict[str, MetricRule]:
    return {name: keys.rule() for name, keys in metrics.items()}


# -- mistakes --------------------------------------------------------------------------------


def _report(file: YamlFile, invalid: ValidationError) -> None:
    for error in invalid.errors(include_url=False):
        path: KeyPath = tuple(error["loc"])
        name = ".".join(map(str, path))
        if error["type"] == "extra_forbidden":
            siblings = list(_siblings(path))
            hint = nearest(str(path[-1]), siblings) or f" Known: {', '.join(siblings)}."
            where = f" in {'.'.join(map(str, path[:-1]))}" if path[:-1] else ""
            file.report(f"unknown key {path[-1]!r}{where}.{hint}", *path)
        elif error["type"] == "value_error":
            file.report(f"{name} {error['ctx']['error']}", *path)
        else:
            file.report(f"{name} must be a mapping of keys; got {error['input']!r:.60}.", *path)


def _siblings(path: KeyPath) -> Mapping[str, Any]:
    """Return the keys that may stand where an unknown one does."""
    models: Mapping[int, type[_Keys]] = {1: _PolicyKeys, 5: _MetricKeys}
    inner = _MetricKeys if path[0] == "metrics" else _TaskKeys
    return models.get(len(path), inner).model_fields


def _check_metrics(file: YamlFile, keys: _PolicyKeys) -> None:
    """Report metrics that do not exist, with the nearest that does."""
    places: list[tuple[KeyPath, Mapping[str, Any]]] = [(("metrics",), keys.metrics)]
    for task, own in keys.tasks.items():
        places.append((("tasks", task, "metrics"), own.metrics or {}))
    for path, metrics in places:
        for name in metrics:
            try:
                metric_names(name, 1)
            except InvalidInput as error:
                file.report(str(error), *path, name)
