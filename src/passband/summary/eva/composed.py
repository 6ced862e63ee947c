"""Composite scores of trials, by the rules of passband and by those of EVA.

A composite needs every component that applies: a skipped one is left out, and one that errored or
is missing leaves the composite without a score. EVA's rules differ in two points: a mean takes
whatever components have a score, and an error with an empty message does not count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from passband.readers import MetricScore, Record
from passband.summary.eva.composites import Composite, Composites

Column = Sequence[MetricScore]
Scores = Mapping[str, MetricScore]
Compose = Callable[[Composite, Composites, Scores], MetricScore]

_ONE = 1.0


def composite_columns(
    records: Sequence[Record], composites: Composites, *, as_eva: bool = False
) -> dict[str, list[MetricScore]]:
    """Return for each composite its score of every record."""
    names = {name for composite in composites.composites for name in composite.components}
    in_turn = composites.composites if as_eva else composites.in_turn()
    compose = _as_eva if as_eva else _composed
    columns: dict[str, list[MetricScore]] = {
        composite.name: [] for composite in composites.composites
    }
    for record in records:
        scores = {name: record.score(name) for name in names}
        made: dict[str, MetricScore] = {}
        for composite in in_turn:
            made[composite.name] = compose(
                composite, composites, made if composite.aggregation == "derived" else scores
            )
            columns[composite.name].append(made[composite.name])
    return columns


# -- passband ------------------------------------------------------------------------------


def _composed(composite: Composite, composites: Composites, scores: Scores) -> MetricScore:
    parts = {name: scores[name] for name in composite.components}
    unscored = [part for part in parts.values() if part.status not in ("ok", "skipped")]
    errored = [part for part in unscored if part.error is not None]
    if unscored:
        return (errored or unscored)[0]
    values = {name: part.value for name, part in parts.items() if part.value is not None}
    is_short = len(values) < len(parts) and composite.aggregation == "derived"
    if not values or is_short:
        return MetricScore(is_skipped=True)
    return MetricScore(_combined(composite, composites, values))


def _combined(composite: Composite, composites: Composites, values: Mapping[str, float]) -> float:
    if composite.aggregation == "mean":
        return sum(values.values()) / len(values)
    if composite.aggregation == "derived":
        return float(all(value == _ONE for value in values.values()))
    thresholds, tolerance = composite.thresholds, composites.tolerance
    return float(all(thresholds[name].passes(values[name], tolerance) for name in values))


# -- EVA -----------------------------------------------------------------------------------


def displayed(score: MetricScore) -> float | None:
    """Return the number that EVA takes for a score, where it asks for one by name.

    An error counts if it has a message; elsewhere EVA counts it in any case.
    """
    return None if score.error else score.number


def _as_eva(composite: Composite, composites: Composites, scores: Scores) -> MetricScore:
    if composite.aggregation == "pass":
        return MetricScore(_pass_as_eva(composite, composites, scores))
    # A composite that comes later in the file is not there yet, and counts as missing.
    numbers = [displayed(scores.get(name, MetricScore())) for name in composite.components]
    present = [number for number in numbers if number is not None]
    if composite.aggregation == "mean":
        return MetricScore(sum(present) / len(present) if present else None)
    if len(present) < len(numbers):
        return MetricScore()
    return MetricScore(float(all(number == _ONE for number in present)))


def _pass_as_eva(composite: Composite, composites: Composites, scores: Scores) -> float | None:
    checked = []
    for name, threshold in composite.thresholds.items():
        score = scores[name]
        if score.error or (score.number is None and not score.is_skipped):
            return None
        if not score.is_skipped and score.number is not None:
            checked.append(threshold.passes(score.number, composites.tolerance))
    return float(all(checked)) if checked else None
