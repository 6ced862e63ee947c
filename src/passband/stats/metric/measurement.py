"""Measure metrics on outcomes: one, several, the curve over k, bounds by unscored trials."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.data.values import ArrayValue
from passband.stats.evidence.collect import evidence_of
from passband.stats.metric.components import mean_curve
from passband.stats.metric.metric import Metric
from passband.stats.metric.names import MetricName, parse_name
from passband.stats.metric.registry import expand_metrics, measured_on, parse_metric
from passband.types import Floats, Ints


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
class Curve(ArrayValue, Displayed):
    """The observed value of a metric at every k that any problem has trials for."""

    metric: str
    k: Ints
    value: Floats
    n_problems: Ints
    notes: tuple[Note, ...] = ()  #: what is known about the data

    def __len__(self) -> int:
        return len(self.k)


def measure(outcomes: Outcomes, metric: str, *, policy: Policy = "drop") -> Measurement:
    """Return the observed value of one metric.

    Problems with fewer than k scored trials are left out and counted; k is never changed.

    >>> measure(Outcomes.from_counts([1, 2, 4], [4, 4, 4]), "pass@2").value
    0.7777777777777778
    """
    outcomes = measured_on(outcomes, metric)
    scored = outcomes.counted(policy)
    wanted = parse_metric(metric, scored.most_trials())
    return _measured(scored, wanted, outcomes, policy)


def measure_all(
    outcomes: Outcomes, metrics: Iterable[str], *, policy: Policy = "drop"
) -> list[Measurement]:
    """Return the observed values of several metrics; "pass@1,8" and "pass@*" give several each.

    >>> counts = Outcomes.from_counts([1, 2, 4], 4)
    >>> [round(m.value, 3) for m in measure_all(counts, ["pass@*", "pass^4"])]
    [0.583, 0.778, 0.917, 1.0, 0.333]
    """
    scored = outcomes.counted(policy)
    measured: list[Measurement] = []
    for text in metrics:
        if parse_name(text).ks is None:
            measured += _points(scored, text, outcomes, policy)
        else:
            given = measured_on(outcomes, text)
            counted = given.counted(policy)
            several = expand_metrics(text, counted.most_trials())
            measured += [_measured(counted, metric, given, policy) for metric in several]
    return measured


def curve(outcomes: Outcomes, metric: str, *, policy: Policy = "drop") -> Curve:
    """Return the observed value of a metric at every k, in one pass.

    `metric` is a family such as "pass@*" or "g-pass@*:0.75"; the star may be left out: "pass@".

    >>> curve(Outcomes.from_counts([1, 2, 4], 4), "pass@*").value.round(3).tolist()
    [0.583, 0.778, 0.917, 1.0]
    """
    scored = outcomes.counted(policy)
    scored.require(1)
    name = curve_name(metric)
    metrics = expand_metrics(name.at("*"), scored.most_trials())
    parts = [mean_curve(column, scored) for column in zip(*[m.parts for m in metrics], strict=True)]
    values = [
        m.on_scale(outcomes, m.combine([part[i] for part in parts]))[0]
        for i, m in enumerate(metrics)
    ]
    ks = np.arange(1, len(metrics) + 1)
    problems = scored.trial_tally[::-1].cumsum()[::-1][1:]
    notes = evidence_of(scored).notes("problems", len(metrics))
    return Curve(name.at("*"), ks, np.array(values), problems, notes)


def curve_name(metric: str) -> MetricName:
    """Parse a curve's name; the star is optional.

    >>> curve_name("g-pass@:0.75").at("*")
    'g-pass@*:0.75'
    """
    name = parse_name(re.sub(r"([@^])(?=:|$)", r"\1*", metric.strip()))
    if name.ks is not None:
        raise InvalidInput(f"a curve needs a star for k, as in pass@*; got {metric!r}.")
    return name


def _measured(scored: Outcomes, metric: Metric, outcomes: Outcomes, policy: Policy) -> Measurement:
    (value,) = metric.on_scale(outcomes, metric.value(scored))
    return _point(metric.name, value, metric.k, scored, outcomes, policy)


def _points(scored: Outcomes, text: str, outcomes: Outcomes, policy: Policy) -> list[Measurement]:
    points = curve(outcomes, text, policy=policy)
    names = [metric.name for metric in expand_metrics(text, scored.most_trials())]
    return [
        _point(name, float(value), int(k), scored, outcomes, policy)
        for name, value, k in zip(names, points.value, points.k, strict=True)
    ]


def _point(
    name: str, value: float, k: int, scored: Outcomes, outcomes: Outcomes, policy: Policy
) -> Measurement:
    tally = scored.trial_tally
    used = int(tally[k:].sum())
    return Measurement(
        metric=name,
        value=value,
        n_problems=used,
        left_out=scored.n_problems - used,
        n_trials=int(tally[k:] @ np.arange(k, len(tally))),
        n_unscored=outcomes.n_unscored,
        policy=policy,
    )


def bounds(outcomes: Outcomes, metric: str) -> tuple[float, float] | None:
    """Return the value with every unscored trial a failure, and with every one a success.

    None where nothing is unscored, where scores are not 0 or 1, so that a success has no score of
    its own, and for votes, which depend on what the right answers would have been.

    >>> counts = Outcomes.from_counts([1, 2], [4, 4], unscored={"timeout": [0, 4]})
    >>> bounds(counts, "pass@1")
    (0.25, 0.5)
    """
    if not outcomes.n_unscored or outcomes.successes is None:
        return None
    if parse_metric(metric, outcomes.under("fail").most_trials()).parts[0].needs_answers:
        return None
    absent = np.sum(list(outcomes.unscored.values()), axis=0)
    is_raised = not outcomes.scale.lower_is_better
    right = replace(
        outcomes,
        trials=outcomes.trials + absent,
        successes=outcomes.successes + is_raised * absent,
        unscored={},
        votes=None,
    )
    wrong = measure(outcomes, metric, policy="fail").value
    ends = wrong, measure(right, metric).value
    return min(ends), max(ends)


def not_enough_data(message: str) -> Note:
    """Return the note on a metric that needs more trials than there are."""
    return Note("no-estimate-not-enough-data", message)


def not_measurable(message: str) -> Note:
    """Return the note on a metric that these trials do not allow."""
    return Note("no-estimate-not-measurable", message)
