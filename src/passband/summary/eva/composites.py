"""Composites: scores made of several metrics of a trial, and thresholds, declared in YAML."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from passband.errors import InvalidInput, Place, UnknownName, nearest
from passband.tasks import YamlFile, raise_errors, read_yaml
from passband.types import Bools, Floats

Aggregation = Literal["pass", "mean", "derived"]
Operator = Literal["==", ">=", ">"]
DEFAULT_THRESHOLD = 0.5
TOLERANCE = 1e-9
BUILT_IN = {"eva": Path(__file__).with_name("eva.yaml")}  #: composites by name
_RESERVED = "pass_k"  # a field beside the composites


@dataclass(frozen=True, slots=True)
class Threshold:
    """A comparison that a score passes or fails; a score within the tolerance equals the number.

    >>> Threshold(">=", 0.8).passes(0.7999999999999999), Threshold(">", 0.8).passes(0.8)
    (True, False)
    """

    operator: Operator
    number: float

    def passes(self, score: float, tolerance: float = TOLERANCE) -> bool:
        """Return whether a score passes."""
        is_equal = math.isclose(score, self.number, rel_tol=tolerance, abs_tol=tolerance)
        if self.operator == "==":
            return is_equal
        if self.operator == ">=":
            return is_equal or score > self.number
        return score > self.number and not is_equal

    def passing(self, scores: Floats, tolerance: float = TOLERANCE) -> Bools:
        """Return which of several scores pass."""
        with np.errstate(over="ignore"):
            gaps = np.abs(scores - self.number)
        # As math.isclose has it, with one tolerance for relative and absolute gaps.
        largest = np.maximum(np.abs(scores), abs(self.number))
        is_equal = gaps <= tolerance * np.maximum(largest, 1.0)
        if self.operator == "==":
            return is_equal
        is_above = scores > self.number
        return is_above | is_equal if self.operator == ">=" else is_above & ~is_equal


@dataclass(frozen=True, slots=True)
class PassRule:
    """How a metric is passed, and whether more of it is better."""

    threshold: float | None = None
    higher_is_better: bool | None = None  #: None: not stated
    is_excluded: bool = False  #: from pass@k


@dataclass(frozen=True)
class Composite:
    """A score made of several metrics, or of other composites."""

    name: str
    aggregation: Aggregation
    components: tuple[str, ...]
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)  #: of aggregation "pass"
    place: Place | None = None

    @property
    def is_binary(self) -> bool:
        """Whether its values are 0 and 1."""
        return self.aggregation != "mean"


@dataclass(frozen=True)
class Composites:
    """Composites in the order of their file, and the rules of metrics."""

    composites: tuple[Composite, ...] = ()
    rules: Mapping[str, PassRule] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    source: str | None = None
    sha256: str | None = None

    def rule(self, metric: str) -> PassRule:
        """Return the rule of a metric; the usual one where none is declared."""
        return self.rules.get(metric, PassRule())

    def in_turn(self) -> list[Composite]:
        """Return the composites so that each comes after those that it is derived from."""
        done: dict[str, Composite] = {}
        waiting = list(self.composites)
        while waiting:
            ready = [
                c for c in waiting if c.aggregation != "derived" or done.keys() >= {*c.components}
            ]
            if not ready:
                raise InvalidInput(_cycle(waiting[0]), place=waiting[0].place)
            done |= {composite.name: composite for composite in ready}
            waiting = [composite for composite in waiting if composite.name not in done]
        return list(done.values())

    def absent(self, metrics: Sequence[str]) -> list[str]:
        """Return the components that are no metrics of a run, sorted."""
        plain = [composite for composite in self.composites if composite.aggregation != "derived"]
        return sorted({name for composite in plain for name in composite.components} - set(metrics))

    def unused(self, metrics: Sequence[str]) -> list[str]:
        """Return the metrics with a rule that a run does not have, sorted."""
        return sorted(set(self.rules) - set(metrics))

    def within(self, metrics: Sequence[str]) -> Composites:
        """Return those composites whose components a run has."""
        kept: set[str] = set()
        for composite in self.in_turn():
            known = kept if composite.aggregation == "derived" else set(metrics)
            if known >= set(composite.components):
                kept.add(composite.name)
        return replace(self, composites=tuple(c for c in self.composites if c.name in kept))

    def require(self, metrics: Sequence[str]) -> None:
        """Refuse a component that is no metric of the run."""
        for composite in self.composites:
            for name in composite.components if composite.aggregation != "derived" else ():
                if name not in metrics:
                    hint = nearest(name, metrics) or f" It has {', '.join(metrics) or 'none'}."
                    raise UnknownName(
                        f"{composite.name}: the run has no metric {name!r}.{hint}",
                        place=composite.place,
                    )


NO_COMPOSITES = Composites()


def _cycle(composite: Composite) -> str:
    return f"{composite.name} is derived from itself, directly or through another composite."


def read_composites(source: str | Path) -> Composites:
    """Read composites from a YAML file, or those that passband has under a name ("eva").

    >>> [composite.name for composite in read_composites("eva").composites][:2]
    ['EVA-A_pass', 'EVA-X_pass']
    """
    path = BUILT_IN.get(str(source), Path(source))
    if not str(source) or not path.exists():
        known = ", ".join(BUILT_IN)
        name = str(source) or "''"
        raise UnknownName(f"{name}: no such file; composites known by name: {known}.")
    reader = _Reader(read_yaml(path))
    composites = reader.composites(str(source))
    raise_errors(reader.file.diagnostics)
    composites.in_turn()
    return composites


class _Reader:
    """Turns a YAML file into composites, and collects what is wrong with it."""

    def __init__(self, file: YamlFile) -> None:
        self.file = file

    def composites(self, source: str) -> Composites:
        values = self.file.values
        self._known(values, ("composites", "metrics", "tolerance"))
        declared = self._mapping(values.get("composites", {}), "composites")
        rules = self._mapping(values.get("metrics", {}), "metrics")
        made = [self._composite(name, declared[name]) for name in declared]
        named = {composite.name: composite for composite in made if composite is not None}
        for composite in named.values():
            self._check_derived(composite, named)
        if not declared and not rules and not self.file.diagnostics:
            self.file.report("declares neither composites nor metrics.")
        return Composites(
            tuple(named.values()),
            {name: self._rule(name, rules[name]) for name in rules},
            self._tolerance(values.get("tolerance", TOLERANCE)),
            source,
            None if self.file.diagnostics else _sha256(self.file.path),
        )

    def _composite(self, name: str, fields: object) -> Composite | None:
        place = ("composites", name)
        if not isinstance(fields, dict):
            self.file.report(f"{name} must be a mapping; got {fields!r:.60}.", *place)
            return None
        self._known(fields, ("aggregation", "components"), *place)
        if name == _RESERVED:
            self.file.report(f"{name!r} is a field of the summary; choose another name.", *place)
        aggregation: Any = fields.get("aggregation")
        components = fields.get("components")
        if aggregation not in get_args(Aggregation):
            hint = nearest(str(aggregation), get_args(Aggregation))
            message = f"aggregation must be pass, mean or derived; got {aggregation!r}.{hint}"
            self.file.report(message, *place, "aggregation")
            return None
        if aggregation == "pass":
            thresholds = self._thresholds(components, *place, "components")
            return Composite(
                name, "pass", tuple(thresholds), thresholds, self.file.place(*place, "components")
            )
        names = self._names(components, *place, "components")
        return Composite(name, aggregation, names, {}, self.file.place(*place, "components"))

    def _thresholds(self, components: object, *place: object) -> dict[str, Threshold]:
        if not isinstance(components, dict) or not components:
            message = 'components must map each metric to its threshold, such as score: ">= 0.5".'
            self.file.report(message, *place)
            return {}
        thresholds = {}
        for name, text in self._mapping(components, *place).items():
            threshold = _threshold(text)
            if threshold is None:
                message = f'a threshold is "== 1", ">= 0.5" or "> 0"; got {text!r}.'
                self.file.report(message, *place, name)
            else:
                thresholds[name] = threshold
        return thresholds

    def _names(self, components: object, *place: object) -> tuple[str, ...]:
        if (
            not isinstance(components, list)
            or not components
            or not all(isinstance(name, str) for name in components)
        ):
            self.file.report("components must be a list of names, such as [score].", *place)
            return ()
        if len(set(components)) < len(components):
            self.file.report("components lists a name twice.", *place)
        return tuple(components)

    def _check_derived(self, composite: Composite, named: Mapping[str, Composite]) -> None:
        if composite.aggregation != "derived":
            return
        known = [other.name for other in named.values() if other.is_binary]
        for name in composite.components:
            if name not in known:
                what = "is a mean" if name in named else "is not a composite of this file"
                message = (
                    f"{composite.name} is derived from {name!r}, which {what}; only pass and "
                    "derived composites can be combined."
                )
                place = ("composites", composite.name, "components")
                self.file.report(f"{message}{nearest(name, known)}", *place)

    def _rule(self, name: str, fields: object) -> PassRule:
        place = ("metrics", name)
        values = self._mapping(fields, *place)
        self._known(values, ("threshold", "higher_is_better", "exclude_from_pass_at_k"), *place)
        threshold = values.get("threshold")
        if threshold is not None and not _is_number(threshold):
            message = f"threshold must be a number; got {threshold!r:.60}."
            self.file.report(message, *place, "threshold")
            threshold = None
        flags: dict[str, bool | None] = {"higher_is_better": None, "exclude_from_pass_at_k": False}
        for flag in flags:
            value = values.get(flag, flags[flag])
            if flag in values and not isinstance(value, bool):
                message = f"{flag} must be true or false; got {value!r}."
                self.file.report(message, *place, flag)
            flags[flag] = value
        if threshold is not None and flags["higher_is_better"] is False:
            message = "scores at or above a threshold pass, so lower cannot be better."
            self.file.report(message, *place, "threshold")
        threshold = None if threshold is None else float(threshold)
        return PassRule(threshold, flags["higher_is_better"], bool(flags["exclude_from_pass_at_k"]))

    def _tolerance(self, value: object) -> float:
        if _is_number(value) and 0 <= value < 1:
            return float(value)
        message = f"tolerance must be a number of at least 0 and less than 1; got {value!r:.60}."
        self.file.report(message, "tolerance")
        return TOLERANCE

    def _mapping(self, value: object, *place: object) -> dict[str, Any]:
        """Return a mapping by name; YAML takes 1, yes and off for something else than text."""
        if not isinstance(value, dict):
            self.file.report(f"{place[-1]} must be a mapping; got {value!r:.60}.", *place)
            return {}
        for key in value:
            if not isinstance(key, str):
                message = f"a name must be text; YAML reads this one as {key!r}: put it in quotes."
                self.file.report(message, *place, key)
        return {key: inner for key, inner in value.items() if isinstance(key, str)}

    def _known(self, values: Mapping[str, object], known: tuple[str, ...], *place: object) -> None:
        for key in values:
            if key not in known:
                hint = nearest(str(key), known) or f" Known: {', '.join(known)}."
                self.file.report(f"unknown key {key!r}.{hint}", *place, key)


def _threshold(text: object) -> Threshold | None:
    written = str(text).strip()
    for operator in get_args(Operator):
        if written.startswith(operator):
            try:
                number = float(written.removeprefix(operator))
            except ValueError:
                return None
            return Threshold(operator, number) if math.isfinite(number) else None
    return None


def _is_number(value: object) -> TypeGuard[float]:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
