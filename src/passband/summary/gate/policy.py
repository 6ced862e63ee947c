"""Define the policy of a gate: the tasks and metrics that count, and the loss it tolerates."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from passband.errors import InvalidInput, UnknownName, nearest
from passband.json_values import json_values
from passband.stats import Over, as_number, as_positive, as_share, check_over
from passband.stats.data import NOTHING, SPENT_METRICS
from passband.stats.decision import Failed
from passband.stats.metric import expand_metrics, parse_name

TOLERANCE = 0.02  #: where none is given, of metrics that are shares of 1
Tier = Literal["required", "supporting", "advisory"]
"""What a comparison may do to the gate.

required    it must be shown to be no worse, beyond the tolerance, or the gate does not pass
supporting  it must not be shown to be worse; left open, or missing, it does not keep the gate shut
advisory    it is reported, and decides nothing
"""
_NAME = re.compile(r"[A-Za-z0-9](?:[ ._A-Za-z0-9]|-(?!-)){0,59}", re.ASCII)
TIERS: tuple[Tier, ...] = get_args(Tier)  #: the strongest first


@dataclass(frozen=True)
class MetricRule:
    """What a metric has of its own."""

    tolerance: float | None = None
    tier: Tier | None = None

    def __post_init__(self) -> None:
        _check_rule(self.tolerance, self.tier)


@dataclass(frozen=True)
class TaskRule:
    """What a task has of its own."""

    tolerance: float | None = None
    tier: Tier | None = None
    metrics: Mapping[str, MetricRule] | None = None  #: in place of those of the policy

    def __post_init__(self) -> None:
        _check_rule(self.tolerance, self.tier)


@dataclass(frozen=True)
class GatePolicy:
    """What a new model must show, laid down before its results are seen."""

    name: str = "gate"
    tolerance: float | None = None  #: None: 0.02 for shares of 1, and refused for other scales
    metrics: Mapping[str, MetricRule] = field(default_factory=dict)  #: none: pass@1, or avg
    over: Over = "trials"
    alpha: float = 0.05  #: half for a false regression anywhere, half for a false pass
    failed: Failed = "bracket"
    max_failed: float = 0.05  #: share of a side's trials; beyond, a task is not certified
    max_left_out: float = 0.05  #: share of the base's problems that are not compared; likewise
    tasks: Mapping[str, TaskRule] = field(default_factory=dict)
    others: Tier | None = None  #: of tasks not named; None: required if none is, else advisory
    accept: tuple[str, ...] = ()  #: codes of findings about data that shall not count
    limits: Mapping[str, float] = field(default_factory=dict)  #: most that new trials may take

    def __post_init__(self) -> None:
        check_name(self.name)
        as_share("alpha", self.alpha)
        check_over(self.over)
        _check_rule(self.tolerance, self.others)
        _check_choice("failed", self.failed, get_args(Failed))
        NOTHING.accepting(self.accept)  # refuses unknown codes
        check_limits(self.limits)
        for name in ("max_failed", "max_left_out"):
            if not 0.0 <= as_number(name, getattr(self, name)) <= 1.0:
                raise InvalidInput(f"{name} must be from 0 to 1; got {getattr(self, name)!r}.")

    @property
    def level(self) -> float:
        """The level of the intervals: their ends are at half of alpha each."""
        return 1.0 - self.alpha

    @property
    def error(self) -> float:
        """The chance of any false regression, and that of a false pass."""
        return self.alpha / 2.0

    def metrics_of(self, task: str) -> Mapping[str, MetricRule]:
        """Return the metrics of a task; none where the policy leaves them to the data."""
        task_metrics = self.tasks.get(task, TaskRule()).metrics
        return self.metrics if task_metrics is None else task_metrics

    def tier_of(self, task: str, metric: str) -> Tier:
        """Return the tier of a comparison: the weaker of those of its task and of its metric."""
        rule = self.tasks.get(task)
        task_tier: Tier = (rule.tier or "required") if rule else self._others
        return max(task_tier, self._of_metric(task, metric).tier or "required", key=TIERS.index)

    def tolerance_of(self, task: str, metric: str) -> float | None:
        """Return the tolerance of a comparison; what is said of a task goes before the rest."""
        rule = self.tasks.get(task, TaskRule())
        metric_tolerance = self._of_metric(task, metric).tolerance
        chosen = (
            (rule.tolerance, metric_tolerance)
            if rule.metrics is None
            else (metric_tolerance, rule.tolerance)
        )
        return next(
            (tolerance for tolerance in (*chosen, self.tolerance) if tolerance is not None), None
        )

    @property
    def _others(self) -> Tier:
        return self.others or ("advisory" if self.tasks else "required")

    def _of_metric(self, task: str, metric: str) -> MetricRule:
        rules = self.metrics_of(task)
        k = max(parse_name(metric).ks or (1,))
        named = sorted(rules, key=lambda text: parse_name(text).ks is None)  # pass@* goes last
        return next(
            (rules[text] for text in named if metric in metric_names(text, k)), MetricRule()
        )

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self)


def _check_rule(tolerance: float | None, tier: str | None) -> None:
    if tolerance is not None:
        as_positive("tolerance", tolerance)
    if tier is not None:
        _check_choice("a tier", tier, TIERS)


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = nearest(str(value), known)
        raise InvalidInput(f"{what} must be one of {', '.join(known)}; got {value!r}.{hint}")


def check_name(name: object) -> None:
    """Refuse a name that could not stand in a comment, a file name and a title alike."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            "name must be up to 60 letters, digits, blanks, dots, dashes and underscores, first a "
            f"letter or digit; got {name!r:.80}."
        )


def metric_names(text: str, most_trials: int) -> list[str]:
    """Return the metrics that a name means: each k that it lists, even beyond the trials.

    >>> metric_names("pass@1,64", 8)
    ['pass@1', 'pass@64']
    """
    ks = parse_name(text).ks
    return [metric.name for metric in expand_metrics(text, max([most_trials, *(ks or ())]))]


def check_limits(limits: Mapping[str, float]) -> None:
    """Refuse a limit on anything else than what trials take, and one that is no amount."""
    for name, limit in limits.items():
        if name not in SPENT_METRICS:
            hint = nearest(name, SPENT_METRICS)
            raise UnknownName(f"a limit is of {', '.join(SPENT_METRICS)}; got {name!r}.{hint}")
        if not 0.0 <= limit < math.inf:
            raise InvalidInput(f"the limit of {name} must be at least 0; got {limit:g}.")
