"""How the problems were sampled: within strata, or from a population of known size."""

from __future__ import annotations

from dataclasses import dataclass, replace

from passband.errors import InvalidInput
from passband.stats.checks import as_whole
from passband.stats.data.evidence import Evidence
from passband.stats.evidence.evidence_of import evidence_of, evidence_of_strata
from passband.stats.interval.estimate import Estimate, Template
from passband.stats.interval.strata.combine import combined_estimate
from passband.stats.interval.strata.partition import Labels, split_by
from passband.stats.interval.strata.population import part_of_population
from passband.stats.interval.strata.weights import Weights
from passband.stats.metric.metric import Metric

__all__ = ["Design"]


@dataclass(frozen=True)
class Design:
    """The arguments of `estimate` that say how problems were sampled, checked."""

    template: Template
    by: Labels | None
    weights: Weights | None
    population: int | None

    @staticmethod
    def of(
        template: Template, by: Labels | None, weights: Weights | None, population: int | None
    ) -> Design:
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
        return Design(template, by, weights, population)

    def most_trials(self, name: str, /) -> int:
        """Return the most trials of any problem; for a curve, of the poorest stratum's problems."""
        if self.by is None or "*" not in name:
            return self.template.scored.most_trials()
        strata = split_by(self.template.scored, self.by)
        return min(stratum.most_trials() for stratum in strata.values())

    @property
    def evidence(self) -> Evidence:
        """What is known about the data; numbers of trials may differ from stratum to stratum."""
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
    template: Template, by: Labels | None, weights: Weights | None, population: int
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
