"""Notes on the oddities of EVA's rules that affect the numbers of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passband import notes
from passband.notes import Note
from passband.readers import MetricScore
from passband.summary.eva.composed import displayed
from passband.summary.eva.eva_rules import EvaRules


def oddities(rules: EvaRules) -> list[Note]:
    """Return a note on each odd rule that affects the numbers of this run."""
    return list(dict.fromkeys([*_on_means(rules), *_on_pass_k(rules), *_on_records(rules)]))


def _on_means(rules: EvaRules) -> Iterator[Note]:
    yield notes.EVA_SAME_SEED
    if rules.run.reader == "eva":
        yield notes.EVA_FOLDER_ORDER
    columns = [[displayed(score) for score in column] for column in rules.columns.values()]
    columns += [[score.number for score in one] for one in rules.composite_columns.values()]
    for numbers in columns:
        means = rules.scenario_means(numbers)
        if _differs(numbers, means):
            yield notes.EVA_POOLED
        if len(means) > 0 and len(set(means)) == 1:
            yield notes.EVA_ZERO_WIDTH


def _differs(numbers: Sequence[float | None], means: Sequence[float]) -> bool:
    values = [number for number in numbers if number is not None]
    if not values:
        return False
    return round(sum(values) / len(values), 4) != round(sum(means) / len(means), 4)


def _on_pass_k(rules: EvaRules) -> Iterator[Note]:
    by_metric = [rules.metric_draws(name) for name in rules.columns]
    if any(one.k < rules.k for draws in by_metric for one in draws):
        yield notes.EVA_MIXED_K
    scenarios = len({record.scenario for record in rules.records if record.trial is not None})
    composites = [one for one in rules.composites.composites if one.is_binary]
    by_composite = [rules.composite_draws(one) for one in composites] if rules.k > 1 else []
    if scenarios and any(len(draws) < scenarios for draws in by_composite):
        yield notes.EVA_DROPPED_SCENARIOS
    if rules.k > 1 and (any(by_metric) or any(by_composite)):
        yield notes.THEORETICAL_BIASED


def _on_records(rules: EvaRules) -> Iterator[Note]:
    scores = [score for column in rules.columns.values() for score in column]
    if any(score.is_skipped for score in scores):
        yield notes.EVA_SKIPPED
    if any(score.error == "" and score.number is not None for score in scores):
        yield notes.EVA_EMPTY_ERRORS
    means = {
        name
        for composite in rules.composites.composites
        if composite.aggregation == "mean"
        for name in composite.components
    }
    if any(_is_gap(record.score(name)) for record in rules.records for name in means):
        yield notes.EVA_PARTIAL_MEANS
    unseen = rules.run.n_records - rules.total
    if unseen:
        yield notes.eva_unseen(unseen)


def _is_gap(score: MetricScore) -> bool:
    return displayed(score) is None and not score.is_skipped
