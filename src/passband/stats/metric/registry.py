"""Register metrics by name.

A metric that depends on the number of successes among k draws is one credit vector:

>>> import numpy as np
>>> @register_metric("two-of", summary="at least two of k succeed")
... def two_of(k):
...     return np.arange(k + 1) >= 2
>>> parse_metric("two-of@3").name
'two-of@3'
>>> families.remove("two-of@")
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, UnknownName
from passband.registry import Registry
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.spending import COLUMNS, PER_SOLVED
from passband.stats.metric import credits
from passband.stats.metric.components import (
    BestScore,
    Credit,
    GeometricBlend,
    MeanScore,
    PosteriorMean,
    SpentMean,
)
from passband.stats.metric.metric import BlendMetric, MeanMetric, Metric
from passband.stats.metric.names import MetricName, number, parse_name, unit_interval
from passband.stats.metric.votes import VoteValue
from passband.types import Floats

Build = Callable[[MetricName, int], Metric]


@dataclass(frozen=True)
class Family:
    """One metric for every k."""

    key: str  # the name up to and including "@" or "^", or the whole name if it takes no k
    summary: str
    build: Build
    takes_parameter: bool = False

    @property
    def takes_k(self) -> bool:
        return self.key[-1] in "@^"

    def at(self, name: MetricName, k: int) -> Metric:
        if name.parameter is not None and not self.takes_parameter:
            raise InvalidInput(f"{self.key} takes no parameter; got {name.parameter!r}.")
        return _built(self, name, k)


@lru_cache(maxsize=256)
def _built(family: Family, name: MetricName, k: int) -> Metric:
    """Build a metric, once for the many estimates of it."""
    metric = family.build(name, k)
    if not isinstance(metric, Metric):
        raise InvalidInput(
            f"the builder of {family.key} must return a MeanMetric or a BlendMetric; "
            f"got {metric!r}."
        )
    return metric


families: Registry[Family] = Registry("metric")

_OF_ANSWERS = ("vote@", "cons@", "majority")
_ALL_TRIALS = "majority"  # vote@k of all n trials, n being the most that any problem has


def register_family(key: str, *, summary: str, parameter: bool = False) -> Callable[[Build], Build]:
    """Register a metric that is more than a credit vector, as a decorator.

    The function takes the parsed name and k, and returns a `MeanMetric` or a `BlendMetric`. For
    credit vectors use `register_metric`.
    """

    def add(build: Build) -> Build:
        families.add(key, Family(key, summary, build, parameter))
        return build

    return add


CreditFunction = Callable[..., Any]


def register_metric(name: str, *, summary: str) -> Callable[[CreditFunction], CreditFunction]:
    """Register a metric by its credit vector, as a decorator.

    The function takes k and returns what 0, 1, ..., k successes among k draws are worth. If it
    has a second argument, it gets the parameter of ``name@k:parameter``, or None.
    The metric is then known as ``name@k`` everywhere: in Python, on the command line, in curves.
    """
    key = name if name.endswith(("@", "^")) else f"{name}@"
    if ":" in key or parse_name(f"{key}1").key != key:
        raise InvalidInput(
            f"the name of a metric must be of lower-case letters, digits and dashes; got {name!r}."
        )

    def add(function: CreditFunction) -> CreditFunction:
        parameter = len(inspect.signature(function).parameters) > 1

        def build(name: MetricName, k: int) -> Metric:
            credit = function(k, name.parameter) if parameter else function(k)
            return MeanMetric(name.at(k), k, Credit(_checked(key, k, credit)))

        families.add(key, Family(key, summary, build, parameter))
        return function

    return add


def parse_metric(text: str, most_trials: int | None = None) -> Metric:
    """Return the one metric of a name: "pass@8", "g-pass@8:0.75", "avg"; refuse several."""
    name = parse_name(text)
    if name.key == _ALL_TRIALS:
        if most_trials is None:
            raise InvalidInput(
                f"{_ALL_TRIALS} is the vote of all trials, and their number is not known here; "
                "write vote@ with the number, for example vote@8."
            )
        return expand_metrics(text, most_trials)[0]
    if _family(name).takes_k and (name.ks is None or len(name.ks) != 1):
        raise InvalidInput(f"{text!r} means several metrics; give one k, or a list of names.")
    ks = name.ks or (1,)
    return expand_metrics(text, max(ks) if most_trials is None else most_trials)[0]


def expand_metrics(text: str, most_trials: int) -> list[Metric]:
    """Return every metric of a name: "pass@1,8" is two, "pass@*" is one for each k."""
    name = _of_all_trials(parse_name(text), most_trials)
    family = _family(name)
    if not family.takes_k:
        return [family.at(name, 1)]
    ks = range(1, most_trials + 1) if name.ks is None else name.ks
    for k in ks:
        if k > most_trials:
            raise NotEnoughData(
                f"{name.at(k)} needs {k} trials of a problem; "
                f"the most that any problem has is {most_trials}."
            )
    return [family.at(name, k) for k in ks]


def needs_answers(names: Iterable[str]) -> bool:
    """Return whether any of these metrics is a vote, which needs more than scores.

    >>> needs_answers(["pass@8", "vote@8"]), needs_answers(["maj@8"])
    (True, False)
    """
    for name in names:
        try:
            if parse_name(name).key in _OF_ANSWERS:
                return True
        except InvalidInput:  # which whoever measures it will say
            continue
    return False


def measured_on(outcomes: Outcomes, name: str) -> Outcomes:
    """Return the outcomes a metric is measured on: scores, or cost, tokens, seconds."""
    key = parse_name(name).key
    if key == PER_SOLVED:
        raise InvalidInput(
            f"{PER_SOLVED} is estimated for each model (passband stats, passband.estimate); "
            "compare cost and pass@1 by themselves."
        )
    return next((outcomes.spent(column) for column in COLUMNS if column == key), outcomes)


def _of_all_trials(name: MetricName, most_trials: int) -> MetricName:
    """Return the vote of all trials if a name means that: majority is vote@n."""
    if name.key != _ALL_TRIALS:
        return name
    if name.parameter is not None:
        raise InvalidInput(f"{_ALL_TRIALS} takes no parameter; got {name.parameter!r}.")
    return MetricName("vote@", (max(most_trials, 1),), None)


def _family(name: MetricName) -> Family:
    if name.key not in families and f"{name.key}@" in families:
        raise UnknownName(f"{name.key} needs a k; write for example {name.key}@8.")
    stem = name.key.rstrip("0123456789")
    if name.key not in families and f"{stem}@" in families:
        k = name.key.removeprefix(stem)
        raise UnknownName(f"no metric named {name.key!r}. Did you mean '{stem}@{k}'?")
    return families.get(name.key)


def _checked(key: str, k: int, credit: Any) -> Floats:
    vector: Floats = np.asarray(credit, dtype=np.float64)
    if vector.shape != (k + 1,) or not np.isfinite(vector).all():
        raise InvalidInput(
            f"the credit vector of {key}{k} must be {k + 1} finite numbers; got {credit!r}."
        )
    return vector


# -- the metrics ---------------------------------------------------------------------------


@register_metric("pass", summary="at least one of k succeeds")
def _pass(k: int) -> Floats:
    return credits.at_least(k, 1)


@register_metric("pass^", summary="all of k succeed")
def _pass_hat(k: int) -> Floats:
    return credits.all_of(k)


@register_metric("unanimous", summary="all of k succeed; the same as pass^k")
def _unanimous(k: int) -> Floats:
    return credits.all_of(k)


@register_metric("maj", summary="more than half of k succeed")
def _majority(k: int) -> Floats:
    return credits.majority(k)


@register_metric("g-pass", summary="a share of at least tau of k succeeds (g-pass@k:tau)")
def _g_pass(k: int, parameter: str | None) -> Floats:
    return credits.at_least(k, _threshold(k, parameter))


@register_metric("mg-pass", summary="mean of g-pass over the thresholds above one half")
def _mg_pass(k: int) -> Floats:
    return credits.mean_over_shares(k)


@register_metric("mg-pass-integral", summary="integral of g-pass over thresholds from 1/2 to 1")
def _mg_pass_integral(k: int) -> Floats:
    return credits.mean_over_shares_integral(k)


@register_metric("auc", summary="area under pass@1 .. pass@k")
def _auc(k: int) -> Floats:
    return credits.auc(k)


@register_metric("spectrum", summary="weighted thresholds (spectrum@k:w1,...,wk)")
def _spectrum(k: int, parameter: str | None) -> Floats:
    if parameter is None:
        raise InvalidInput(f"spectrum@{k} needs {k} weights, as in spectrum@2:0.5,0.5.")
    weights = [float(number("weights", weight)) for weight in parameter.split(",")]
    return credits.spectrum(credits.spectrum_weights(weights, k))


@register_family("geom@", summary="geometric mean of pass@k and pass^k within a problem")
def _geom(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.at(k), k, GeometricBlend((0.5, 0.5)))


@register_family("geom-ds@", summary="geometric mean of pass@k and pass^k of the whole data set")
def _geom_ds(name: MetricName, k: int) -> Metric:
    parts = (Credit(credits.at_least(k, 1)), Credit(credits.all_of(k)))
    return BlendMetric(name.at(k), k, parts, (0.5, 0.5))


@register_family(
    "geospectrum@",
    summary="pass@k^lambda mg-pass@k^(1-lambda) (geospectrum@k:lambda)",
    parameter=True,
)
def _geo_spectrum(name: MetricName, k: int) -> Metric:
    lam = 0.5 if name.parameter is None else float(unit_interval("lambda", name.parameter))
    parts = (Credit(credits.at_least(k, 1)), Credit(credits.mean_over_shares(k)))
    return BlendMetric(name.at(k), k, parts, (lam, 1.0 - lam))


@register_family("max@", summary="expected best score among k trials")
def _max(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.at(k), k, BestScore())


@register_family("avg", summary="mean score")
@register_family("mean", summary="the same as avg")
def _avg(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.key, 1, MeanScore())


@register_family(PER_SOLVED, summary="mean cost over the share of trials that succeed")
@register_family("cost", summary="mean cost of a trial")
@register_family("tokens", summary="mean number of tokens of a trial, in and out")
@register_family("latency", summary="mean seconds until a trial's answer came")
def _spent(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.key, 1, SpentMean())


@register_family("vote@", summary="the most frequent answer among k is right, ties shared")
@register_family("cons@", summary="the same as vote@k")
def _vote(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.at(k), k, VoteValue())


@register_family("avg@", summary="mean score of the problems with at least k trials")
@register_family("mean@", summary="the same as avg@k")
def _avg_at(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.at(k), k, MeanScore())


@register_family("bayes", summary="mean of the posterior success rate under a uniform prior")
def _bayes(name: MetricName, k: int) -> Metric:
    return MeanMetric(name.key, 1, PosteriorMean())


def _threshold(k: int, parameter: str | None) -> int:
    """Read the threshold of g-pass: a share, or from 2 on a number of successes."""
    if parameter is None:
        return k
    if parameter.strip() == "1" and k > 1:
        raise InvalidInput(
            f"g-pass@{k}:1 could mean all or one; write g-pass@{k}:1.0 for all {k} successes "
            f"or g-pass@{k}:1/{k} for at least one."
        )
    if re.fullmatch(r"\d{1,9}", parameter.strip(), re.ASCII) and 1 < int(parameter) <= k:
        return int(parameter)
    tau: Fraction = unit_interval("tau", parameter)
    return credits.success_threshold(k, tau)
