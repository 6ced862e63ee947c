"""The shape of metrics_summary.json: EVA's fields, and those that say how sure they are.

The schema is in the package as schema.json; ``python -m passband.summary.eva.document`` prints
it. Optional fields are absent where they do not apply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from passband.errors import InvalidInput
from passband.notes import Severity
from passband.stats import Over
from passband.stats.data import Policy

METRICS_VERSION = "2.2.2"  #: of EVA, whose fields these are


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class NoteEntry(_Model):
    """A remark on a number; the code is stable, the text is for people."""

    code: str
    text: str
    severity: Severity = "remark"


class PassK(_Model):
    """pass@1, pass@k and pass^k, each with its interval, over the scenarios that have k trials."""

    pass_at_1: float | None
    pass_at_k: float | None
    pass_power_k_observed: float | None
    pass_power_k_theoretical: float | None  #: the mean of (c/n)^k; has no interval and is biased up
    k: int
    count: int  #: scenarios behind pass_at_k
    left_out: int | None = None  #: scenarios with fewer than k scored trials
    threshold: float | None = None
    pass_at_1_ci_lower: float | None
    pass_at_1_ci_upper: float | None
    pass_at_k_ci_lower: float | None
    pass_at_k_ci_upper: float | None
    pass_power_k_observed_ci_lower: float | None
    pass_power_k_observed_ci_upper: float | None
    notes: list[NoteEntry] = []


class TurnCoverage(_Model):
    """How many turns of the conversations a metric looked at."""

    total_turns: int
    evaluated_turns: int
    none_turns: int
    none_turn_rate: float
    records_with_none_turns: int
    not_applicable_turns: int | None = None


class _Counts(_Model):
    mean: float | None
    min: float | None
    max: float | None
    count: int  #: records with a score
    none_count: int  #: records without one
    error_count: int
    missing_count: int
    skipped_count: int | None = None  #: there was nothing to score
    total_records: int


class SubMetric(_Counts):
    """A part of a metric, without an interval."""

    higher_is_better: bool


class MetricFields(_Counts):
    """One metric of the run."""

    statuses: dict[str, int] | None = None  #: all records by status
    per_turn_coverage: TurnCoverage | None = None
    mean_ci_lower: float | None
    mean_ci_upper: float | None
    mean_ci_n_scenarios: int
    higher_is_better: bool
    pass_k: PassK | None = None
    sub_metrics: dict[str, SubMetric] | None = None
    notes: list[NoteEntry] = []


class CompositeEntry(_Model):
    """One composite of the run."""

    mean: float | None
    count: int
    none_count: int
    error_count: int | None = None
    missing_count: int | None = None
    skipped_count: int | None = None
    total_records: int
    success_rate: float | None = None
    mean_ci_lower: float | None
    mean_ci_upper: float | None
    mean_ci_n_scenarios: int
    notes: list[NoteEntry] = []


class TurnGaps(_Model):
    """Turns that a metric did not evaluate."""

    none_turn_rate: float
    none_turns: int
    total_turns: int
    records_affected: int


class DataQuality(_Model):
    """How many records lack scores, and of which metrics."""

    records_with_any_none: int
    records_with_errors: int
    records_with_missing: int
    records_with_skipped: int | None = None
    total_records: int
    metrics_with_none_scores: dict[str, int]
    metrics_with_errors: dict[str, int]
    metrics_with_missing: dict[str, int]
    metrics_with_skipped: dict[str, int] | None = None
    metrics_with_per_turn_nones: dict[str, TurnGaps] | None = None


class MetricErrors(_Model):
    """The records on which a metric failed."""

    failed_count: int
    total_count: int
    failed_records: list[str]


class PassKConfig(_Model):
    """How pass@k was counted."""

    num_draws: int
    per_metric_thresholds: dict[str, float]
    exclude_metrics: list[str]


class Provenance(_Model):
    """What the summary was made from, and by what."""

    passband_version: str
    source: str
    reader: str
    sha256: str | None
    metrics_computed: list[str]
    composites: str | None
    composites_sha256: str | None
    eva_version: str | None = None  #: of the EVA that made the run, where the run says so
    metrics_version: str | None = None
    simulation_version: str | None = None


class MetricsSummary(_Model):
    """The metrics of one run, as EVA's metrics_summary.json has them."""

    passband: Literal["metrics_summary"] = "metrics_summary"
    version: Literal[1] = 1
    metrics_version: str
    run: str
    task: str | None
    model: str | None
    method: str  #: of the intervals; "eva" for EVA's rules throughout
    over: Over
    level: float
    policy: Policy
    seed: int  #: of what is random, which the default is not
    total_records: int
    data_quality: DataQuality
    overall_scores: dict[str, CompositeEntry | dict[str, PassK]] = Field(
        description='The composites, and under "pass_k" their pass@k.'
    )
    per_metric: dict[str, MetricFields]
    metric_errors: dict[str, MetricErrors] | None = None
    pass_at_k_config: PassKConfig | None = None
    provenance: Provenance
    notes: list[NoteEntry] = []
    remarks: list[str] = []

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON-serialisable values; optional fields only where they apply."""
        values: dict[str, Any] = self.model_dump(mode="json", exclude_unset=True)
        return {"passband": self.passband, "version": self.version, **values}

    def noted(self) -> Iterator[tuple[str, NoteEntry]]:
        """Yield the notes on the whole run, and on each metric or composite, with its name."""
        yield from (("", note) for note in self.notes)
        for name, metric in self.per_metric.items():
            on_pass_k = [] if metric.pass_k is None else metric.pass_k.notes
            yield from ((name, note) for note in (*metric.notes, *on_pass_k))
        for name, entry in self.overall_scores.items():
            if isinstance(entry, CompositeEntry):
                yield from ((name, note) for note in entry.notes)

    def to_json(self) -> str:
        """Return the summary as JSON text: the same bytes for the same run."""
        text = json.dumps(self.as_json(), indent=2, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace").decode() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> MetricsSummary:
        """Read a summary that passband wrote; raise `InvalidInput` for anything else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            location = ".".join(map(str, first["loc"])) or "the document"
            raise InvalidInput(f"not a metrics summary: {location}: {first['msg']}.") from None


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a metrics summary."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **MetricsSummary.model_json_schema(),
        "title": "passband metrics summary",
    }


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))
