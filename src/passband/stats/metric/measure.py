"""Point values of metrics on outcomes: one, several, or the whole curve over k."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.data.values import ArrayValue
from passband.stats.metric.components import mean_curve
from passband.stats.metric.names import MetricName, parse_name
from passband.stats.metric.registry import Metric, expand_metrics, parse_metric
from passband.types import Floats, Ints

__all__ = ["Curve", "Measurement", "curve", "curve_name", "measure", "measure_all"]


@dataclass(frozen=True)
class Measurement:
    """The observed value of a metric, and the data behind it."""

    metric: str
    value: float
    n_problems: int  #: problems the value is an average over
    left_out: int  #: problems with too few trials for this k
    n_trials: int  #: scored trials of the problems that count
    n_unscored: int  #: trials without a score, in all problems
    policy: Policy  #: what was done with them


@dataclass(frozen=True, eq=False)
class Curve(ArrayValue):
    """The observed value of a metric at every k that any problem has trials for."""

    metric: str
    k: Ints
    value: Floats
    n_problems: Ints

    def __len__(self) -> int:
        return len(self.k)


def measure(outcomes: Outcomes, metric: str, *, policy: Policy = "drop") -> Measurement:
    """Return the observed value of one metric.

    Problems with fewer than k scored trials are left out and counted; k is never changed.

    >>> measure(Outcomes.from_counts([1, 2, 4], [4, 4, 4]), "pass@2").value
    0.7777777777777778
    """
    judged = outcomes.under(policy)
    found = parse_metric(metric, judged.most_trials())
    return _measured(judged, found, outcomes, policy)


def measure_all(
    outcomes: Outcomes, metrics: Iterable[str], *, policy: Policy = "drop"
) -> list[Measurement]:
    """Return the observed values of several metrics; "pass@1,8" and "pass@*" count as many.

    >>> counts = Outcomes.from_counts([1, 2, 4], 4)
    >>> [round(m.value, 3) for m in measure_all(counts, ["pass@*", "pass^4"])]
    [0.583, 0.778, 0.917, 1.0, 0.333]
    """
    judged = outcomes.under(policy)
    found: list[Measurement] = []
    for text in metrics:
        if parse_name(text).ks is None:
            found += _points(judged, text, outcomes, policy)
        else:
            asked = expand_metrics(text, judged.most_trials())
            found += [_measured(judged, metric, outcomes, policy) for metric in asked]
    return found


def curve(outcomes: Outcomes, metric: str, *, policy: Policy = "drop") -> Curve:
    """Return the observed value of a metric at every k, in one pass.

    `metric` is a family such as "pass@*" or "g-pass@*:0.75"; the star may be left out: "pass@".

    >>> curve(Outcomes.from_counts([1, 2, 4], 4), "pass@*").value.round(3).tolist()
    [0.583, 0.778, 0.917, 1.0]
    """
    judged = outcomes.under(policy)
    judged.require(1)
    name = curve_name(metric)
    metrics = expand_metrics(name.at("*"), judged.most_trials())
    parts = [mean_curve(column, judged) for column in zip(*[m.parts for m in metrics], strict=True)]
    values = [m.combine([part[i] for part in parts]) for i, m in enumerate(metrics)]
    ks = np.arange(1, len(metrics) + 1)
    problems = judged.trial_tally[::-1].cumsum()[::-1][1:]
    return Curve(name.at("*"), ks, np.array(values), problems)


def curve_name(metric: str) -> MetricName:
    """Take apart the name of a curve, whose star may be left out.

    >>> curve_name("g-pass@:0.75").at("*")
    'g-pass@*:0.75'
    """
    name = parse_name(re.sub(r"([@^])(?=:|$)", r"\1*", metric.strip()))
    if name.ks is not None:
        raise InvalidInput(f"a curve needs a star for k, as in pass@*; got {metric!r}.")
    return name


def _measured(judged: Outcomes, metric: Metric, given: Outcomes, policy: Policy) -> Measurement:
    return _point(metric.name, metric.value(judged), metric.k, judged, given, policy)


def _points(judged: Outcomes, text: str, given: Outcomes, policy: Policy) -> list[Measurement]:
    found = curve(judged, text)
    names = [metric.name for metric in expand_metrics(text, judged.most_trials())]
    return [
        _point(name, float(value), int(k), judged, given, policy)
        for name, value, k in zip(names, found.value, found.k, strict=True)
    ]


def _point(
    name: str, value: float, k: int, judged: Outcomes, given: Outcomes, policy: Policy
) -> Measurement:
    tally = judged.trial_tally
    used = int(tally[k:].sum())
    return Measurement(
        metric=name,
        value=value,
        n_problems=used,
        left_out=judged.n_problems - used,
        n_trials=int(tally[k:] @ np.arange(k, len(tally))),
        n_unscored=given.n_unscored,
        policy=policy,
    )
