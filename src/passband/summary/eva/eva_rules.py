"""Reproduce EVA's own rules to its four decimals, so that its files can be checked.

Numbers here are what EVA prints, right or not, and notes name what is odd about them: the mean
pools records while its interval is around the mean over scenarios; pass@k of a metric takes fewer
draws where a scenario has fewer trials, and still reports k; composites drop a scenario if one of
its trials has no score; every interval uses the same seed, in the order of the folders.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from passband.readers import MetricScore, Record
from passband.summary.eva.bootstrap import mean_ci_fields, named_ci_fields
from passband.summary.eva.composed import Column, composite_columns, displayed
from passband.summary.eva.composites import DEFAULT_THRESHOLD, Composite
from passband.summary.eva.document import CompositeEntry, DataQuality, MetricFields, PassK
from passband.summary.eva.method import EvaMethod
from passband.summary.eva.quality import (
    affected_records,
    aggregates,
    coverage_of,
    sub_metrics_of,
    turn_gaps,
)

_DECIMALS = 4


def _rounded(number: float) -> float:
    return round(number, _DECIMALS)


def pass_at_k(trials: int, passed: int, k: int) -> float:
    """Return the probability that at least one of k drawn trials passed.

    >>> pass_at_k(3, 2, 2), pass_at_k(3, 0, 2)
    (1.0, 0.0)
    """
    if trials - passed < k:
        return 1.0
    return 1.0 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_power_k(trials: int, passed: int, k: int) -> float:
    """Return the probability that all of k drawn trials passed.

    >>> round(pass_power_k(3, 2, 2), 4), pass_power_k(3, 2, 3)
    (0.3333, 0.0)
    """
    return math.comb(passed, k) / math.comb(trials, k)


@dataclass(frozen=True)
class Draws:
    """The trials of one scenario: how many count, how many passed, how many are drawn."""

    trials: int
    passed: int
    k: int


@dataclass(frozen=True)
class EvaRules(EvaMethod):
    """The summary of a run by EVA's rules."""

    seed: int

    @cached_property
    def records(self) -> list[Record]:
        """The trials that EVA sees: those with a metrics.json."""
        return [record for record in self.run.records if record.failure is None]

    @property
    def total(self) -> int:
        return len(self.records)

    @cached_property
    def columns(self) -> dict[str, list[MetricScore]]:
        """The scores that each metric gave to the records."""
        names = sorted(self.run.metrics)
        return {name: [record.score(name) for record in self.records] for name in names}

    @property
    def is_repeated(self) -> bool:
        """Whether the trials have numbers, without which EVA has no pass@k."""
        is_numbered = any(record.trial is not None for record in self.records)
        return is_numbered and (self.k > 1 or self.run.reader == "eva")

    # -- metrics ---------------------------------------------------------------------------

    def _metric(self, name: str, column: Column) -> MetricFields:
        counted = [score.number for score in column if score.error is None]
        numbers = [number for number in counted if number is not None]
        errors = sum(score.error is not None for score in column)
        missing = self.total - len(numbers) - errors
        mean = sum(numbers) / len(numbers) if numbers else None
        rule = self.composites.rule(name)
        means = self.scenario_means([displayed(score) for score in column])
        fields = aggregates(numbers, mean, {"error": errors, "missing": missing}, _rounded)
        fields |= {"total_records": self.total}
        if (coverage := coverage_of(column, _rounded)) is not None:
            fields["per_turn_coverage"] = coverage
        fields |= mean_ci_fields(means, seed=self.seed)
        fields["higher_is_better"] = rule.higher_is_better is not False
        if draws := self.metric_draws(name):
            fields["pass_k"] = self._block(draws)
        parts = sub_metrics_of(
            column, self.total, rule.higher_is_better is not False, _mean, _rounded
        )
        if parts:
            fields["sub_metrics"] = parts
        return MetricFields(**fields)

    def metric_draws(self, name: str) -> list[Draws]:
        """Return what pass@k of a metric rests on: fewer draws where there are fewer trials."""
        rule = self.composites.rule(name)
        if rule.is_excluded or not self.is_repeated:
            return []
        threshold = DEFAULT_THRESHOLD if rule.threshold is None else rule.threshold
        draws = []
        for scores in self._by_scenario(self.columns[name]).values():
            attempts = [score for score in scores if score != MetricScore()]
            values = [score.value for score in attempts if score.value is not None]
            k = min(self.k, len(attempts))
            if attempts and len(values) >= k:
                draws.append(Draws(len(values), sum(value >= threshold for value in values), k))
        return draws

    # -- composites ------------------------------------------------------------------------

    @cached_property
    def composite_columns(self) -> dict[str, list[MetricScore]]:
        return composite_columns(self.records, self.composites, as_eva=True)

    def _composite_pass_k(self, composite: Composite, column: Column) -> PassK | None:
        draws = self.composite_draws(composite)
        return self._block(draws) if draws else None

    def _composite(self, composite: Composite, column: Column) -> CompositeEntry:
        values = [score.number for score in column if score.number is not None]
        mean = sum(values) / len(values) if values else None
        fields: dict[str, Any] = {
            "mean": None if mean is None else _rounded(mean),
            "count": len(values),
            "none_count": len(column) - len(values),
            "total_records": self.total,
        }
        if values and mean is not None:
            high = sum(value >= DEFAULT_THRESHOLD for value in values) / len(values)
            fields["success_rate"] = _rounded(mean if composite.is_binary else high)
        means = self.scenario_means([score.number for score in column])
        return CompositeEntry(**fields, **mean_ci_fields(means, seed=self.seed))

    def composite_draws(self, composite: Composite) -> list[Draws]:
        """Return what pass@k of a composite rests on: scenarios without a gap."""
        if not composite.is_binary or self.k < 2 or not self.is_repeated:
            return []
        draws = []
        for scores in self._by_scenario(self.composite_columns[composite.name]).values():
            numbers = [score.number for score in scores]
            if len(numbers) >= self.k and None not in numbers:
                passed = sum(number == 1.0 for number in numbers)
                draws.append(Draws(len(numbers), passed, self.k))
        return draws

    # -- both ------------------------------------------------------------------------------

    def _block(self, draws: Sequence[Draws]) -> PassK:
        samples = {
            "pass_at_1": [pass_at_k(draw.trials, draw.passed, 1) for draw in draws],
            "pass_at_k": [pass_at_k(draw.trials, draw.passed, draw.k) for draw in draws],
            "pass_power_k_observed": [
                pass_power_k(draw.trials, draw.passed, draw.k) for draw in draws
            ],
        }
        fields: dict[str, Any] = {
            name: _rounded(sum(sample) / len(sample)) for name, sample in samples.items()
        }
        fields |= named_ci_fields(samples, seed=self.seed)
        theoretical = [(draw.passed / draw.trials) ** draw.k for draw in draws]
        return PassK(
            pass_power_k_theoretical=_rounded(sum(theoretical) / len(draws)),
            k=self.k,
            count=len(draws),
            **fields,
        )

    def _by_scenario(self, column: Column) -> dict[str, list[MetricScore]]:
        """Return the scores of numbered trials."""
        groups: dict[str, list[MetricScore]] = {}
        for record, score in zip(self.records, column, strict=True):
            if record.trial is not None:
                groups.setdefault(record.scenario, []).append(score)
        return groups

    def scenario_means(self, numbers: Sequence[float | None]) -> list[float]:
        """Return the mean of each scenario that has a number, in the order of the folders."""
        groups: dict[str, list[float]] = {}
        for record, number in zip(self.records, numbers, strict=True):
            if number is not None:
                groups.setdefault(record.scenario, []).append(number)
        return [sum(group) / len(group) for group in groups.values()]

    def data_quality(self) -> DataQuality:
        """Return how many records lack scores; what was skipped counts as missing."""
        counts = {
            kind: {
                name: getattr(entry, f"{kind}_count")
                for name, entry in self.entries.items()
                if getattr(entry, f"{kind}_count")
            }
            for kind in ("none", "error", "missing")
        }
        gaps = turn_gaps({name: entry.per_turn_coverage for name, entry in self.entries.items()})
        optional: dict[str, Any] = {"metrics_with_per_turn_nones": gaps} if gaps else {}
        unscored, errored, missing = affected_records(
            self.columns,
            lambda marks: marks.is_error or marks.is_empty,
            lambda marks: marks.is_error,
            lambda marks: marks.is_empty and not marks.is_error,
        )
        return DataQuality(
            records_with_any_none=unscored,
            records_with_errors=errored,
            records_with_missing=missing,
            total_records=self.total,
            metrics_with_none_scores=counts["none"],
            metrics_with_errors=counts["error"],
            metrics_with_missing=counts["missing"],
            **optional,
        )


def _mean(scores: list[MetricScore]) -> float | None:
    values = [score.number for score in scores if score.number is not None]
    return sum(values) / len(values) if values else None
