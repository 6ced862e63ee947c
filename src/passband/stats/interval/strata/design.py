"""Estimate under a sampling design: within strata, or from a population of known size.

The finite-population correction: of N problems M were drawn at random and asked. The target is the
mean over all N, so the problems that were asked bring no uncertainty but that of sampling the
model. With f = M/N, and `between` and `within` the variances of a value across problems and when
the model is sampled again,

    variance = (between (1 - f) + within) / M
             = (1 - f) (between + within) / M  +  f within / M

which is (1 - f) times the variance over problems and f times that over trials. The distance from
the value to each end is squared and added in the same way, so that M = N gives the default interval
over trials, a small part of a large population that over problems, and either keeps its own ends
near 0 and 1.

Cochran (1977), Sampling Techniques, chapters 2 and 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from passband.errors import InvalidInput
from passband.stats.checks import as_whole
from passband.stats.data.evidence import Evidence
from passband.stats.evidence.collect import evidence_of, evidence_of_strata
from passband.stats.interval.estimation import Estimate, EstimateTemplate
from passband.stats.interval.strata.combination import combined_estimate
from passband.stats.interval.strata.weights import Labels, Weights, split_by
from passband.stats.metric.metric import Metric


def part_of_population(problems: Estimate, trials: Estimate, population: int) -> Estimate:
    """Return the estimate for a population, from those over problems and over trials."""
    share = problems.n_problems / population
    notes = tuple(dict.fromkeys((*problems.notes, *trials.notes)))
    method = f"auto, {problems.n_problems} of {population} problems"
    if share == 1.0:
        return replace(trials, over="problems", method=method)
    low = _end(problems.value, problems.low, trials.low, share)
    high = _end(problems.value, problems.high, trials.high, share)
    se = _distance(problems.se, trials.se, share)
    return replace(problems, low=low, high=high, se=se, method=method, notes=notes)


def _end(value: float, wide: float | None, narrow: float | None, share: float) -> float | None:
    if wide is None or narrow is None:
        return None
    distance = _distance(wide - value, narrow - value, share)
    return None if distance is None else value + math.copysign(distance, wide - value)


def _distance(wide: float | None, narrow: float | None, share: float) -> float | None:
    if wide is None or narrow is None:
        return None
    return math.sqrt((1.0 - share) * wide**2 + share * narrow**2)


@dataclass(frozen=True)
class SamplingDesign:
    """The arguments of `estimate` that say how problems were sampled, checked."""

    template: EstimateTemplate
    by: Labels | None
    weights: Weights | None
    population: int | None

    @staticmethod
    def of(
        template: EstimateTemplate,
        by: Labels | None,
        weights: Weights | None,
        population: int | None,
    ) -> SamplingDesign:
        """Check the arguments, of which at least one is given."""
        if template.method != "auto":
            raise InvalidInput(
                f"method {template.method!r} is for a plain mean over problems; means over strata "
                "(by) and parts of a population have method='auto' alone."
            )
        if population is not None:
            _check_population(template, by, weights, as_whole("population", population))
        elif by is None:
            raise InvalidInput("weights goes with by: one label per problem.")
        elif weights is None:
            raise InvalidInput("by goes with weights: 'equal', 'size', or a share for each label.")
        return SamplingDesign(template, by, weights, population)

    def most_trials(self, name: str, /) -> int:
        """Return the most trials of any problem; for a curve, of the poorest stratum's problems."""
        if self.by is None or "*" not in name:
            return self.template.scored.most_trials()
        strata = split_by(self.template.scored, self.by)
        return min(stratum.most_trials() for stratum in strata.values())

    @property
    def evidence(self) -> Evidence:
        """Evidence on the data; strata may differ in trials."""
        scored = self.template.scored
        if self.by is None:
            return evidence_of(scored)
        return evidence_of_strata(scored, split_by(scored, self.by).values())

    def filled(self, metric: Metric) -> Estimate:
        """Return the estimate of a metric."""
        template = self.template
        if self.population is not None:
            trials = replace(template, over="trials").filled(metric)
            return part_of_population(template.filled(metric), trials, self.population)
        strata = split_by(template.scored, {} if self.by is None else self.by)
        estimate, _ = combined_estimate(
            strata,
            strata,
            metric,
            self.weights or {},
            template.over,
            template.level,
            template.policy,
        )
        return replace(estimate, n_unscored=template.outcomes.n_unscored)


def _check_population(
    template: EstimateTemplate, by: Labels | None, weights: Weights | None, population: int
) -> None:
    if by is not None or weights is not None:
        raise InvalidInput("population is for a plain mean over problems, not for strata (by).")
    if template.over == "trials":
        raise InvalidInput(
            "population says how many problems these are a part of; over='trials' is about these "
            "alone. Leave one of them out."
        )
    problems = template.outcomes.n_problems
    if problems > population:
        raise InvalidInput(
            f"population is how many problems there are in all; got {population} for {problems} "
            "problems."
        )
