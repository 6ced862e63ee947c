"""Estimate EVA's fields, each value and its interval with the same weights.

A mean is the mean over scenarios of the means of their trials, and so is every pass@k. Trials
without a score are left out, counted as failures or refused, as the policy says; pass@k takes the
scenarios that have k scored trials, and k never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note
from passband.readers import MetricScore, Record
from passband.stats.data import UNSTATED, Outcomes, Scale
from passband.stats.interval import Estimate
from passband.summary.eva import notes
from passband.summary.eva.composed import Column, composite_columns
from passband.summary.eva.composites import (
    DEFAULT_THRESHOLD,
    Composite,
    Threshold,
)
from passband.summary.eva.document import (
    CompositeEntry,
    DataQuality,
    MetricFields,
    NoteEntry,
    PassK,
)
from passband.summary.eva.method import EvaMethod
from passband.summary.eva.quality import (
    affected_records,
    aggregates,
    coverage_of,
    status_counts,
    sub_metrics_of,
    turn_gaps,
)
from passband.summary.eva.run import Passes
from passband.summary.group import metric_lines
from passband.summary.notes import unscored
from passband.summary.summary import Request
from passband.types import Bools, Floats

_PASS_K = {"pass_at_1": "pass@1", "pass_at_k": "pass@{k}", "pass_power_k_observed": "pass^{k}"}


def _exact(number: float) -> float:
    return number


def _is_one(scores: Floats) -> Bools:
    return np.equal(scores, 1)


def entries_of(remarks: Sequence[Note]) -> list[NoteEntry]:
    """Return notes as they are written."""
    return [NoteEntry(**note._asdict()) for note in dict.fromkeys(remarks)]


@dataclass(frozen=True)
class _Value:
    """An estimate, or the reason why there is none, and notes on it."""

    estimate: Estimate | None
    notes: tuple[Note, ...]

    @property
    def value(self) -> float | None:
        return None if self.estimate is None else self.estimate.value

    def fields(self, name: str) -> dict[str, float | None]:
        low = None if self.estimate is None else self.estimate.low
        high = None if self.estimate is None else self.estimate.high
        return {f"{name}_ci_lower": low, f"{name}_ci_upper": high}


@dataclass(frozen=True)
class Estimates(EvaMethod):
    """The summary of a run by the methods of passband."""

    request: Request

    @property
    def total(self) -> int:
        return self.run.n_records

    @property
    def records(self) -> Sequence[Record]:
        return self.run.records

    @cached_property
    def columns(self) -> dict[str, list[MetricScore]]:
        """The scores that each metric gave to the records."""
        return {name: self.run.column(name) for name in self.run.metrics}

    @cached_property
    def thresholds(self) -> dict[str, float | None]:
        """The score that passes each metric; None where it has no pass@k."""
        return {name: self._threshold(name) for name in self.columns}

    def _threshold(self, metric: str) -> float | None:
        rule = self.composites.rule(metric)
        if rule.is_excluded or self.scales[metric].lower_is_better:
            return None
        if rule.threshold is not None:
            return rule.threshold
        values = {score.value for score in self.columns[metric]} - {None}
        is_unit = all(value is None or 0 <= value <= 1 for value in values)
        return DEFAULT_THRESHOLD if is_unit else None

    # -- metrics ---------------------------------------------------------------------------

    def _metric(self, name: str, column: Column) -> MetricFields:
        outcomes = replace(self._outcomes(name, column), scale=self.scales[name])
        mean = self._mean([name], outcomes)
        values = [score.value for score in column if score.value is not None]
        counts = status_counts(column, sum(self.run.missing.values()))
        sums = _by_kind(counts)
        rises = not self.scales[name].lower_is_better
        fields = aggregates(values, mean.value, sums, _exact)
        fields |= {"skipped_count": sums["skipped"], "total_records": self.total}
        fields["statuses"] = counts
        if (coverage := coverage_of(column, _exact)) is not None:
            fields["per_turn_coverage"] = coverage
        fields |= mean.fields("mean")
        fields["mean_ci_n_scenarios"] = mean.estimate.n_problems if mean.estimate else 0
        fields["higher_is_better"] = rises
        threshold = self.thresholds[name]
        if self.k > 1 and threshold is not None:
            fields["pass_k"] = self._pass_k(column, self._passes(threshold), threshold)
        parts = sub_metrics_of(column, self.total, rises, self._mean_of_part, _exact)
        if parts:
            fields["sub_metrics"] = parts
        fields["notes"] = entries_of([*mean.notes, *self._on_trials(outcomes, mean)])
        return MetricFields(**fields)

    def _passes(self, threshold: float) -> Passes:
        comparison = Threshold(">=", threshold)
        return lambda scores: comparison.passing(scores, self.composites.tolerance)

    def _mean_of_part(self, scores: list[MetricScore]) -> float | None:
        """Return the mean over scenarios of a part that some trials have."""
        outcomes = self.run.outcomes(scores).under("drop")
        if not outcomes.n_trials:
            return None
        request = replace(self.request, policy="drop")
        (line,) = metric_lines(outcomes, ["avg"], request)
        return None if line.estimate is None else line.estimate.value

    def _on_trials(self, outcomes: Outcomes, mean: _Value) -> list[Note]:
        is_refused = self.request.policy == "fail" and mean.estimate is None
        if not outcomes.n_unscored or is_refused:
            return []
        total = outcomes.n_trials + outcomes.n_unscored
        return [unscored(_unscored(outcomes), total, self.request.policy)]

    # -- composites ------------------------------------------------------------------------

    @cached_property
    def composite_columns(self) -> dict[str, list[MetricScore]]:
        return composite_columns(self.run.records, self.composites)

    def _composite_pass_k(self, composite: Composite, column: Column) -> PassK | None:
        is_drawn = composite.is_binary and self.k > 1
        return self._pass_k(column, _is_one, None) if is_drawn else None

    def _composite(self, composite: Composite, column: Column) -> CompositeEntry:
        scale = UNSTATED if composite.is_binary else Scale(lower_is_better=self._falls(composite))
        outcomes = replace(self._outcomes(composite.name, column), scale=scale)
        mean = self._mean(composite.components, outcomes)
        sums = _by_kind(status_counts(column, sum(self.run.missing.values())))
        fields: dict[str, Any] = {
            "mean": mean.value,
            "count": outcomes.n_trials,
            "none_count": sum(sums.values()),
            "error_count": sums["error"],
            "missing_count": sums["missing"],
            "skipped_count": sums["skipped"],
            "total_records": self.total,
        }
        if mean.value is not None and not scale.lower_is_better:
            fields["success_rate"] = self._success_rate(composite, column, mean)
        fields |= mean.fields("mean")
        fields["mean_ci_n_scenarios"] = mean.estimate.n_problems if mean.estimate else 0
        fields["notes"] = entries_of([*mean.notes, *self._on_trials(outcomes, mean)])
        return CompositeEntry(**fields)

    def _success_rate(self, composite: Composite, column: Column, mean: _Value) -> float | None:
        if composite.is_binary:
            return mean.value
        outcomes = self.run.outcomes(column, self._passes(DEFAULT_THRESHOLD))
        return self._estimate(outcomes, "avg").value

    # -- both ------------------------------------------------------------------------------

    def _outcomes(self, name: str, column: Column) -> Outcomes:
        """Return the outcomes of a metric or composite; refuse them as the policy says."""
        outcomes = self.run.outcomes(column)
        if self.request.policy == "error":
            try:
                outcomes.under("error")
            except InvalidInput as error:
                raise InvalidInput(f"{self.run.name}: {name}: {error}") from None
        return outcomes

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """The scale of each metric, whose direction the composites may state."""
        return {name: self._scale(name) for name in self.run.metrics}

    def _scale(self, metric: str) -> Scale:
        scale = self.run.scales.get(metric, UNSTATED)
        higher = self.composites.rule(metric).higher_is_better
        stated = Scale(lower_is_better=None if higher is None else not higher)
        return scale.joined(stated, f"{self.run.name}: {metric}", "the file of composites")

    def _falls(self, composite: Composite) -> bool:
        """Return whether lower values of a mean are better; refuse one of both directions."""
        means = {mean.name: mean for mean in self.composites.composites if not mean.is_binary}
        falls = {
            name: self._falls(means[name])
            if name in means
            else bool(self.scales.get(name, UNSTATED).lower_is_better)
            for name in composite.components
        }
        if len(set(falls.values())) > 1:
            both = [", ".join(n for n in falls if falls[n] is way) for way in (False, True)]
            raise InvalidInput(
                f"{composite.name}: a mean of scores of which higher ones are better ({both[0]}) "
                f"and of which lower ones are ({both[1]}) says nothing.",
                place=composite.place,
            )
        return True in falls.values()

    def _mean(self, metrics: Sequence[str], outcomes: Outcomes) -> _Value:
        """Return the mean; none where failed trials should count as failures that have no score."""
        if self.request.policy == "fail" and outcomes.n_unscored:
            try:
                _ = outcomes.failure_score
            except InvalidInput:
                falls = outcomes.scale.lower_is_better
                named = f"lower is better for {', '.join(metrics)}"
                why = named if falls else "some scores are below 0"
                return _Value(None, (notes.no_failing_score(_unscored(outcomes), why),))
        return self._estimate(outcomes, "avg")

    def _estimate(self, outcomes: Outcomes, metric: str) -> _Value:
        """Return the value and its interval; a method that does not apply leaves the value."""
        (line,) = metric_lines(outcomes, [metric], self.request)
        if line.estimate is not None or self.request.method == "auto":
            return _Value(line.estimate, line.notes)
        (plain,) = metric_lines(outcomes, [metric], replace(self.request, method="auto"))
        if plain.estimate is None:
            return _Value(None, line.notes)
        reasons = tuple(notes.no_interval(note.text) for note in line.notes)
        return _Value(replace(plain.estimate, low=None, high=None), reasons)

    def _pass_k(self, column: Column, passes: Passes, threshold: float | None) -> PassK:
        outcomes = self.run.outcomes(column, passes)
        values = {
            name: self._estimate(outcomes, metric.format(k=self.k))
            for name, metric in _PASS_K.items()
        }
        whole = values["pass_at_k"].estimate
        fields: dict[str, Any] = {name: value.value for name, value in values.items()}
        fields["pass_power_k_theoretical"] = _theoretical(
            outcomes.under(self.request.policy), self.k
        )
        fields |= {"k": self.k, "count": whole.n_problems if whole else 0}
        fields["left_out"] = whole.left_out if whole else outcomes.n_problems
        if threshold is not None:
            fields["threshold"] = threshold
        for name, value in values.items():
            fields |= value.fields(name)
        remarks = [
            Note(note.code, f"{name}: {note.text}")
            for name, value in values.items()
            for note in value.notes
        ]
        if whole and whole.left_out:
            remarks.append(notes.left_out(outcomes.n_problems, whole.left_out, self.k))
        if fields["pass_power_k_theoretical"] is not None:
            remarks.append(notes.THEORETICAL_BIASED)
        return PassK(**fields, notes=entries_of(remarks))

    def data_quality(self) -> DataQuality:
        """Return how many records lack scores, planned ones that are missing included."""
        absent = sum(self.run.missing.values())
        names = self.entries.items()
        gaps = turn_gaps({name: entry.per_turn_coverage for name, entry in names})
        optional: dict[str, Any] = {"metrics_with_per_turn_nones": gaps} if gaps else {}
        unscored, errored, missing, skipped = affected_records(
            self.columns,
            lambda marks: marks.status != "ok",
            lambda marks: marks.is_error,
            lambda marks: marks.status == "missing",
            lambda marks: marks.status == "skipped",
        )
        return DataQuality(
            records_with_any_none=unscored + absent,
            records_with_errors=errored,
            records_with_missing=missing + absent,
            records_with_skipped=skipped,
            total_records=self.total,
            metrics_with_none_scores=_positive({n: e.none_count for n, e in names}),
            metrics_with_errors=_positive({n: e.error_count for n, e in names}),
            metrics_with_missing=_positive({n: e.missing_count for n, e in names}),
            metrics_with_skipped=_positive({n: e.skipped_count or 0 for n, e in names}),
            **optional,
        )


def _unscored(outcomes: Outcomes) -> dict[str, int]:
    return {status: int(counts.sum()) for status, counts in outcomes.unscored.items()}


def _theoretical(outcomes: Outcomes, k: int) -> float | None:
    """Return the mean of (c/n)^k over the scenarios with at least k trials."""
    enough = outcomes.trials >= k
    if not enough.any():
        return None
    rates = outcomes.required_successes()[enough] / outcomes.trials[enough]
    return float(np.mean(rates**k))


def _by_kind(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the records without a score as EVA counts them; errors are of any kind."""
    by_kind = {kind: counts.get(kind, 0) for kind in ("missing", "skipped")}
    errors = sum(counts.values()) - counts["ok"] - sum(by_kind.values())
    return {"error": errors, **by_kind}


def _positive(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
