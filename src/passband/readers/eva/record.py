"""One trial of EVA: its metrics, each with a score or the reason for having none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from passband.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Turns:
    """How many turns of a conversation a metric looked at."""

    total: int
    evaluated: int
    not_applicable: int = 0


@dataclass(frozen=True, slots=True)
class MetricScore:
    """The score that a metric gave to a trial, or why it gave none."""

    number: float | None = None  #: as it is recorded, even beside an error
    error: str | None = None  #: the message, which may be empty
    is_skipped: bool = False  #: there was nothing to score
    kind: str = "errored"  #: the status of a score with an error: "truncated", "scorer_timeout"
    turns: Turns | None = None
    parts: Mapping[str, float | None] = field(default_factory=dict)  #: sub-metrics
    status: str = field(init=False)  #: ok, skipped, missing, or the kind of the error
    value: float | None = field(init=False)  #: the score, of a trial whose status is ok

    def __post_init__(self) -> None:
        status = "missing" if self.number is None else "ok"
        status = "skipped" if self.is_skipped else status
        status = status if self.error is None else self.kind
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "value", self.number if status == "ok" else None)


MISSING = MetricScore()


class Record(NamedTuple):
    """One trial of a scenario, which is a problem."""

    scenario: str
    trial: int | None  #: None where the run has one trial of each scenario
    scores: Mapping[str, MetricScore]
    failure: str | None = None  #: why there are no metrics at all
    kind: str = "errored"  #: the status of a trial without metrics

    @property
    def name(self) -> str:
        """The scenario and the trial, as EVA writes them."""
        return self.scenario if self.trial is None else f"{self.scenario}/trial_{self.trial}"

    def score(self, metric: str) -> MetricScore:
        """Return the score of a metric; one without a number where there is none."""
        if self.failure is not None:
            return MetricScore(error=self.failure, kind=self.kind)
        return self.scores.get(metric, MISSING)


def metric_score(name: str, fields: Any) -> MetricScore:
    """Read the score of a metric: the normalized one, or else the plain one."""
    if not isinstance(fields, Mapping):
        raise InvalidInput(f"the metric {name!r:.60} must be a JSON object; got {fields!r:.60}.")
    error = fields.get("error")
    return MetricScore(
        _displayed(name, fields),
        None if error is None else str(error),
        fields.get("skipped") is True,
        turns=_turns(fields.get("details")),
        parts=_parts(name, fields.get("sub_metrics")),
    )


def _displayed(name: str, fields: Mapping[str, Any]) -> float | None:
    normalized = _number(name, fields.get("normalized_score"))
    return _number(name, fields.get("score")) if normalized is None else normalized


def _number(name: str, value: Any) -> float | None:
    if value is None or value != value:
        return None
    if isinstance(value, str) or not isinstance(value, (int, float)):
        raise InvalidInput(f"the score of {name} must be a number; got {value!r:.60}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise InvalidInput(f"the score of {name} is infinite; remove it, or write null.")
    return number


def _parts(name: str, parts: Any) -> dict[str, float | None]:
    """Return the sub-metrics; one without a plain score counts as missing, as it does in EVA."""
    if not isinstance(parts, Mapping):
        return {}
    values: dict[str, float | None] = {}
    for key, fields in parts.items():
        if not isinstance(fields, Mapping):
            raise InvalidInput(f"the sub-metric {key!r:.60} of {name} must be a JSON object.")
        label = f"{name}.{key}"
        is_scored = _number(label, fields.get("score")) is not None
        values[str(key)] = _displayed(label, fields) if is_scored else None
    return values


def _turns(details: Any) -> Turns | None:
    if not isinstance(details, Mapping):
        return None
    total, evaluated = _count(details.get("num_turns")), _count(details.get("num_evaluated"))
    if total is None or evaluated is None:
        return None
    return Turns(total, evaluated, _count(details.get("num_not_applicable")) or 0)


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
