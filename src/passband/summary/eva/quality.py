"""Count records, turns, errors and sub-metrics, whatever the method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from passband.readers import MetricScore, Record
from passband.summary.eva.composed import Column
from passband.summary.eva.document import MetricErrors, SubMetric, TurnCoverage, TurnGaps

Round = Callable[[float], float]


def status_counts(column: Column, missing: int = 0) -> dict[str, int]:
    """Return how many records have each status, "ok" first; `missing` ones have no record."""
    counts = {"ok": 0, **Counter(score.status for score in column)}
    if missing:
        counts["missing"] = counts.get("missing", 0) + missing
    return counts


def aggregates(
    values: Sequence[float], mean: float | None, counts: Mapping[str, int], exact: Round
) -> dict[str, Any]:
    """Return mean, minimum, maximum and the counts of records."""
    return {
        "mean": None if mean is None else exact(mean),
        "min": exact(min(values)) if values else None,
        "max": exact(max(values)) if values else None,
        "count": len(values),
        "none_count": sum(counts.values()),
        "error_count": counts["error"],
        "missing_count": counts["missing"],
    }


def coverage_of(column: Column, exact: Round) -> TurnCoverage | None:
    """Return how many turns a metric looked at; None where it does not count turns."""
    turns = [score.turns for score in column if score.error is None and score.turns is not None]
    total = sum(turn.total for turn in turns)
    if not total:
        return None
    evaluated = sum(turn.evaluated for turn in turns)
    others = sum(turn.not_applicable for turn in turns)
    optional = {"not_applicable_turns": others} if others else {}
    return TurnCoverage(
        total_turns=total,
        evaluated_turns=evaluated,
        none_turns=total - evaluated,
        none_turn_rate=exact((total - evaluated) / total),
        records_with_none_turns=sum(turn.evaluated < turn.total for turn in turns),
        **optional,
    )


def turn_gaps(coverage: Mapping[str, TurnCoverage | None]) -> dict[str, TurnGaps]:
    """Return the metrics that did not evaluate every turn."""
    return {
        name: TurnGaps(
            none_turn_rate=turns.none_turn_rate,
            none_turns=turns.none_turns,
            total_turns=turns.total_turns,
            records_affected=turns.records_with_none_turns,
        )
        for name, turns in coverage.items()
        if turns is not None and turns.none_turns > 0
    }


class Marks(NamedTuple):
    """What a score lacks, by which records are counted."""

    status: str
    is_error: bool
    is_empty: bool  #: without a number, whatever the status


def affected_records(
    columns: Mapping[str, Column], *predicates: Callable[[Marks], bool]
) -> list[int]:
    """Return for each predicate how many records have a score like that, of any metric.

    A predicate is false for a score whose status is "ok".
    """
    lacking = {
        record
        for column in columns.values()
        for record, score in enumerate(column)
        if score.status != "ok"
    }
    rows = Counter(  # a few kinds of records, however many there are
        tuple(_marks(column[record]) for column in columns.values()) for record in lacking
    )
    return [
        sum(count for row, count in rows.items() if any(map(is_affected, row)))
        for is_affected in predicates
    ]


def _marks(score: MetricScore) -> Marks:
    return Marks(score.status, score.error is not None, score.number is None)


def metric_errors(
    records: Sequence[Record], columns: Mapping[str, Column], total: int
) -> dict[str, MetricErrors]:
    """Return the records on which each metric failed, for metrics that failed at all."""
    errors = {}
    for name, column in columns.items():
        pairs = zip(records, column, strict=True)
        failed = [record.name for record, score in pairs if score.error is not None]
        if failed:
            errors[name] = MetricErrors(
                failed_count=len(failed), total_count=total, failed_records=failed
            )
    return errors


def sub_metrics_of(
    column: Column,
    total: int,
    higher_is_better: bool,
    mean_of: Callable[[list[MetricScore]], float | None],
    exact: Round,
) -> dict[str, SubMetric]:
    """Return the parts of a metric in the order in which they first appear."""
    keys = dict.fromkeys(key for score in column for key in score.parts)
    parts = {}
    for key in keys:
        scores = [
            MetricScore(None if score.error is not None else score.parts.get(key))
            for score in column
        ]
        values = [score.number for score in scores if score.number is not None]
        counts = {"error": 0, "missing": total - len(values)}
        parts[key] = SubMetric(
            **aggregates(values, mean_of(scores), counts, exact),
            total_records=total,
            higher_is_better=is_higher_better(key, higher_is_better),
        )
    return parts


def is_higher_better(part: str, parent: bool) -> bool:
    """Return whether more is better, which EVA tells from the end of the sub-metric's name.

    >>> is_higher_better("false_start_rate", True), is_higher_better("name_accuracy", False)
    (False, True)
    """
    if part.endswith("_rate"):
        return False
    return True if part.endswith("_accuracy") else parent
