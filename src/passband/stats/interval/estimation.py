"""Estimates: a value with an interval, and the target that the interval is for."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, overload

from passband.display import Displayed
from passband.errors import InvalidInput
from passband.json_values import json_values
from passband.notes import Note
from passband.stats.checks import (
    ROUNDING,
    Over,
    as_level,
    check_over,
    check_text,
    names_in,
)
from passband.stats.data.evidence import Evidence
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.data.spending import PER_SOLVED
from passband.stats.evidence.collect import evidence_of, left_out_notes
from passband.stats.interval.certify.certificate import Certificate
from passband.stats.interval.certify.certify import MANY_SETS, certified
from passband.stats.interval.default.votes import answer_notes
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.notes import no_certificate
from passband.stats.interval.ratio import cost_per_solved
from passband.stats.interval.registry import Interval, interval_for
from passband.stats.interval.request import IntervalRequest
from passband.stats.interval.seeds import seed_of
from passband.stats.interval.strata.weights import Labels, Weights
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import expand_metrics, measured_on, parse_metric


@dataclass(frozen=True)
class Estimate(Displayed):
    """A metric's value, its interval, and everything the interval rests on.

    ``over`` names the target. "problems": problems like these, the model sampled again. "trials":
    these very problems, the model sampled again. The two differ, often by a factor of three.
    """

    metric: str
    value: float  #: observed; the posterior mean of a method with a prior
    low: float | None
    high: float | None
    se: float | None  #: standard error, on the scale of the value
    level: float
    over: Over
    method: str
    n_problems: int
    n_trials: int
    left_out: int  #: problems with too few trials for this k
    n_unscored: int  #: trials without a score
    policy: Policy  #: what was done with them
    seed: int | None  #: None where nothing is random
    notes: tuple[Note, ...] = ()  #: where the coverage of the interval is known to be weak
    certificate: Certificate | None = None  #: the coverage to expect, where it was simulated

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self)

    def __str__(self) -> str:
        """Format the value with its interval, rounded by the error.

        >>> from passband import Outcomes
        >>> print(estimate(Outcomes.from_counts([3, 0, 8, 5] * 10, 8), "pass@1"))
        pass@1 0.50 [0.39, 0.61]
        """
        from passband.stats.interval.rounding import rounded

        return f"{self.metric} {rounded(self.value, self.low, self.high)}"


@overload
def estimate(
    outcomes: Outcomes,
    metrics: str,
    *,
    over: Over = ...,
    method: str = ...,
    level: float = ...,
    policy: Policy = ...,
    seed: int | str | None = ...,
    certify: bool = ...,
    calibrate: bool = ...,
    by: Labels | None = ...,
    weights: Weights | None = ...,
    population: int | None = ...,
) -> Estimate: ...
@overload
def estimate(
    outcomes: Outcomes,
    metrics: list[str] | tuple[str, ...],
    *,
    over: Over = ...,
    method: str = ...,
    level: float = ...,
    policy: Policy = ...,
    seed: int | str | None = ...,
    certify: bool = ...,
    calibrate: bool = ...,
    by: Labels | None = ...,
    weights: Weights | None = ...,
    population: int | None = ...,
) -> list[Estimate]: ...
def estimate(
    outcomes: Outcomes,
    metrics: str | list[str] | tuple[str, ...],
    *,
    over: Over = "problems",
    method: str = "auto",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
    certify: bool = False,
    calibrate: bool = False,
    by: Labels | None = None,
    weights: Weights | None = None,
    population: int | None = None,
) -> Estimate | list[Estimate]:
    """Return a metric with its interval, or a list of them for a list of names.

    `over` is the target: "problems" for problems like these, "trials" for these problems with the
    model sampled again. `method` names how the interval is made: docs/which-interval.md says
    which, and docs/measured.md how often each contains the truth. `seed` is a number or a name,
    used by the methods that draw random numbers; without it the data decide.

    With `certify` the same design is simulated on laws fitted to the data, and `certificate` has
    the coverage to expect of the default interval; a note says where that is clearly too little.
    With `calibrate` such an interval is widened as well, never narrowed (docs/which-interval.md).

    With `by`, one label per problem or a mapping from problem to label, the value is a mean over
    strata, and `weights` are "equal", "size" or a share for each label. With `population`, the
    problems are a random part of that many, and the target is the mean over all of those. Both are
    in docs/which-interval.md.

    >>> from passband import Outcomes
    >>> outcomes = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
    >>> result = estimate(outcomes, "pass@1", over="trials")
    >>> round(result.value, 3), round(result.low, 3), round(result.high, 3)
    (0.5, 0.46, 0.54)
    """
    check_outcomes("outcomes", outcomes)
    check_over(over)
    level = as_level(level)
    check_text("method", method, "auto")
    names = [metrics] if isinstance(metrics, str) else names_in(metrics)
    if (certify or calibrate) and method != "auto":
        raise InvalidInput(
            f"certify and calibrate simulate the default interval, method='auto'; got {method!r}."
        )
    design = by, weights, population
    if (certify or calibrate) and design != (None, None, None):
        raise InvalidInput(
            "certify and calibrate simulate plain estimates, without by, weights or population."
        )
    options = over, method, level, policy, seed_of(seed), certify, calibrate
    made: dict[int, _Maker] = {}

    def maker(name: str) -> _Maker:
        if name == PER_SOLVED and design == (None, None, None):
            return _Maker.of_ratio(EstimateTemplate(outcomes, outcomes.under(policy), *options))
        measured = measured_on(outcomes, name)
        if id(measured) not in made:
            template = EstimateTemplate(measured, measured.counted(policy), *options)
            made[id(measured)] = _Maker.of(template, *design)
        return made[id(measured)]

    if isinstance(metrics, str):
        own = maker(metrics)
        return own.finished(parse_metric(metrics, own.most(metrics)))
    return [
        maker(name).finished(metric)
        for name in names
        for metric in expand_metrics(name, maker(name).most(name))
    ]


@dataclass(frozen=True)
class _Maker:
    """Makes the estimates of metrics that are measured on the same outcomes."""

    outcomes: Outcomes
    fill: Callable[[Metric], Estimate]
    most: Callable[[str], int]
    evidence: Evidence

    @staticmethod
    def of(
        template: EstimateTemplate,
        by: Labels | None,
        weights: Weights | None,
        population: int | None,
    ) -> _Maker:
        if by is None and weights is None and population is None:
            evidence = evidence_of(template.scored)
            return _Maker(template.outcomes, template.filled, template.most_trials, evidence)
        # Imported here, as they make estimates of this module.
        from passband.stats.interval.strata.design import SamplingDesign

        design = SamplingDesign.of(template, by, weights, population)
        return _Maker(template.outcomes, design.filled, design.most_trials, design.evidence)

    @staticmethod
    def of_ratio(template: EstimateTemplate) -> _Maker:
        evidence = evidence_of(template.scored)
        return _Maker(template.outcomes, template.per_solved, template.most_trials, evidence)

    def finished(self, metric: Metric) -> Estimate:
        if metric.name == PER_SOLVED:
            return weighed(self.fill(metric), 1, self.evidence)
        estimate = on_scale(self.fill(metric), metric, self.outcomes)
        return weighed(estimate, metric.k, self.evidence)


def on_scale(estimate: Estimate, metric: Metric, outcomes: Outcomes) -> Estimate:
    """Return an estimate from upright outcomes on the scale of the scores, and cut to it."""
    (value,) = metric.on_scale(outcomes, estimate.value)
    if estimate.low is None or estimate.high is None:
        return replace(estimate, value=value)
    low, high = metric.on_scale(outcomes, estimate.low, estimate.high)
    return replace(estimate, value=value, low=low, high=high)


def weighed(estimate: Estimate, k: int, evidence: Evidence) -> Estimate:
    """Return an estimate with its data's evidence; without an interval if forbidden."""
    noted = replace(estimate, notes=(*evidence.notes(estimate.over, k), *estimate.notes))
    if evidence.against(estimate.over, k) is None:
        return noted
    return replace(noted, low=None, high=None, se=None, certificate=None)


@dataclass(frozen=True)
class EstimateTemplate:
    """Everything of an estimate except the metric."""

    outcomes: Outcomes  # as they were given
    scored: Outcomes  # as the policy reads them
    over: Over
    method: str
    level: float
    policy: Policy
    seed: int | None
    certify: bool
    calibrate: bool

    def most_trials(self, _name: str, /) -> int:
        """Return the most trials of any problem, which is where the curve of a name ends."""
        return self.scored.most_trials()

    def filled(self, metric: Metric) -> Estimate:
        means = metric.means(self.scored)
        value = metric.combine(means)
        request = IntervalRequest(
            self.scored, metric, tuple(means), value, self.over, self.level, self.seed
        )
        interval = interval_for(self.method, request)
        if metric.parts[0].needs_answers:
            interval = interval.with_notes(*answer_notes(self.scored, metric.k))
        result = self._estimate(request, interval)
        if not (self.certify or self.calibrate):
            return result
        return with_certificate(result, request, calibrate=self.calibrate)

    def per_solved(self, metric: Metric) -> Estimate:
        """Return the cost of a solved problem."""
        costs = self.outcomes.spent("cost")
        ratio, notes = cost_per_solved(self.scored, costs, self.over, self.level)
        both = (self.scored.trials > 0) & (costs.trials > 0)
        return Estimate(
            metric.name, ratio.value, ratio.low, ratio.high, ratio.se, self.level, self.over,
            self.method, int(both.sum()), int(costs.trials[both].sum()),
            int((~both).sum()), costs.n_unscored, self.policy, None, notes,
        )  # fmt: skip

    def _estimate(self, request: IntervalRequest, interval: Interval) -> Estimate:
        metric = request.metric
        value = request.value if interval.value is None else interval.value
        tally = self.scored.trial_tally
        used = int(tally[metric.k :].sum())
        return Estimate(
            metric=metric.name,
            value=value,
            low=_moved(interval.low, value, is_beyond=operator.gt),
            high=_moved(interval.high, value, is_beyond=operator.lt),
            se=interval.se,
            level=self.level,
            over=self.over,
            method=self.method,
            n_problems=used,
            n_trials=int(tally[metric.k :] @ range(metric.k, len(tally))),
            left_out=self.scored.n_problems - used,
            n_unscored=self.outcomes.n_unscored,
            policy=self.policy,
            seed=interval.seed,
            notes=(*left_out_notes(self.scored, metric.k), *interval.notes),
        )


def with_certificate(
    estimate: Estimate, request: IntervalRequest, *, sets: int = MANY_SETS, calibrate: bool = False
) -> Estimate:
    """Return an estimate by the default method with the coverage to expect, or why there is none.

    `sets` data sets are drawn from each law.
    """
    if estimate.low is None:
        return _noted(estimate, no_certificate("there is no interval"))
    certificate = certified(request, sets=sets, calibrate=calibrate)
    if isinstance(certificate, Note):
        return _noted(estimate, certificate)
    estimate = replace(estimate, certificate=certificate)
    if certificate.z is not None:
        estimate = _widened(estimate, request, certificate.z)
    if certificate.is_low:
        is_widened = certificate.z is not None
        estimate = _noted(estimate, low_coverage(certificate.sentence, is_widened=is_widened))
    return estimate


def _widened(estimate: Estimate, request: IntervalRequest, z: float) -> Estimate:
    """Return the estimate with the ends at a larger quantile, never inside those it has."""
    wide = interval_for("auto", replace(request, level=level_of(z)))
    assert estimate.certificate is not None
    ends = (estimate.low, estimate.high, wide.low, wide.high)
    low, high, wide_low, wide_high = (end for end in ends if end is not None)
    note = calibrated(z, *estimate.certificate.before_and_after())
    return replace(
        _noted(estimate, note),
        low=min(low, wide_low),
        high=max(high, wide_high),
        method=f"{estimate.method}, calibrated",
    )


def _noted(estimate: Estimate, note: Note) -> Estimate:
    return replace(estimate, notes=(*estimate.notes, note))


def _moved(
    end: float | None, value: float, *, is_beyond: Callable[[float, float], bool]
) -> float | None:
    """Return an end of an interval, or the value if the end passes it by a rounding error.

    At the end of a metric's range the value is a sum and the end a product: 0.8 in both cases, but
    for the last digit.
    """
    if end is not None and is_beyond(end, value) and math.isclose(end, value, rel_tol=ROUNDING):
        return value
    return end


def low_coverage(sentence: str, is_widened: bool) -> Note:
    """Return the note on an interval that simulated data sets show to be too short.

    >>> print(low_coverage("on data like yours this 95% interval covers 88%", False))
    on data like yours this 95% interval covers 88%, by simulation; calibrate=True or --calibrate \
widens it
    """
    remedy = "add problems" if is_widened else "calibrate=True or --calibrate widens it"
    return Note("low-coverage", f"{sentence}, by simulation; {remedy}", "weak")


def calibrated(quantile: float, before: str, after: str) -> Note:
    """Return the note on an interval that was widened by simulation.

    >>> print(calibrated(2.714, "88%", "95%"))
    widened to a normal quantile of 2.71, as simulated data sets like yours are covered 88% of the \
time without and 95% with
    """
    return Note(
        "calibrated",
        f"widened to a normal quantile of {quantile:.2f}, as simulated data sets like yours are "
        f"covered {before} of the time without and {after} with",
    )
