"""Compare judged models: differences corrected by labels, or the judge's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.readers import JudgeScores, Remark
from passband.stats.judged import FEWEST_LABELS, corrected, corrected_difference
from passband.summary.judged import notes
from passband.summary.judged.correction import one_sided, shared_name

if TYPE_CHECKING:
    from passband.stats import Over
    from passband.stats.decision import Comparison, Ranking

Judges = Mapping[str, JudgeScores]


class JudgedPair:
    """The two sides of a comparison whose scores are a judge's."""

    def __init__(self, first: JudgeScores, second: JudgeScores) -> None:
        self.sides = first, second
        self.reason = uncorrected_reason(self.sides)

    def difference(
        self, metric: str, *, over: Over, level: float, margin: float | None = None
    ) -> Comparison:
        """Return the difference of the labels' metric; raise where labels do not allow it."""
        first, second = self.sides
        found = corrected_difference(
            first.judged, second.judged, _labelled(metric, self.sides), over=over, level=level,
            margin=margin,
        )  # fmt: skip
        told = notes.corrected_by_labels(
            first.title, first.n_labels + second.n_labels, None, None, None
        )
        return replace(found, notes=(told, *found.notes))

    def own(self, comparison: Comparison) -> Comparison:
        """Return a comparison of a judge's scores, named as such."""
        first, _ = self.sides
        note = notes.judge_uncorrected(first.title, self.reason)
        return replace(
            comparison,
            metric=judged_name(comparison.metric, first.title),
            notes=(note, *comparison.notes),
        )


def judged_pair(models: Sequence[str] | Mapping[str, object], judges: Judges) -> JudgedPair:
    """Return the two sides; a judge of one side alone cannot be compared with other scores."""
    missing = [name for name in models if name not in judges]
    if missing:
        scores = next(iter(judges.values()))
        raise InvalidInput(
            f"{' and '.join(missing)}: not judged by {scores.title}, as the other model is; choose "
            "one scorer for both with --score."
        )
    first, second = (judges[name] for name in models)
    return JudgedPair(first, second)


def judged_name(metric: str, judge: str) -> str:
    """Return the label of a metric of a judge's scores."""
    return f"{metric} (judged by {judge})"


def plain_name(label: str) -> str:
    """Return the metric of a label without its judge.

    >>> plain_name(judged_name("pass@1", "quality")), plain_name("pass@4")
    ('pass@1', 'pass@4')
    """
    return label.partition(" (judged by ")[0]


def _labelled(metric: str, sides: Sequence[JudgeScores]) -> str:
    """Return the metric of the labels: the mean of graded scores is pass@1 of labels of 0 and 1."""
    is_binary = all(side.judged.has_binary_labels for side in sides)
    return "pass@1" if metric == "avg" and is_binary else metric


def uncorrected_reason(sides: Sequence[JudgeScores]) -> str:
    """Return why the difference of two judged models is not corrected; nothing if it is."""
    for side in sides:
        if not side.n_labels:
            return (
                "no labels on one side or both; label the same problems of both models with "
                "`passband label A B`"
            )
        if side.n_labels < FEWEST_LABELS and not side.judged.is_fully_labelled:
            return f"{side.n_labels} labels on one side: at least {FEWEST_LABELS} are needed"
        if reason := one_sided(side.judged):
            return reason
    return ""


def apart_reason(sides: Sequence[JudgeScores]) -> str:
    """Return why the verdicts of two judges are not comparable; nothing if it is one judge."""
    identities = {side.identity for side in sides if side.identity}
    names = list(dict.fromkeys(side.title for side in sides))
    if len(identities) < 2:
        return ""
    who = " and ".join(names) if len(names) > 1 else f"{names[0]}, with different settings"
    return f"they were judged by {who}: another rubric or model is another judge"


def judged_ranking(ranking: Ranking, judges: Sequence[JudgeScores]) -> Ranking:
    """Return a ranking by a judge's scores, named as such."""
    judge = judges[0].title
    note = notes.judge_uncorrected(
        judge, "rankings of three or more models are by verdicts alone; compare two for labels"
    )
    return replace(ranking, metric=judged_name(ranking.metric, judge), notes=(note, *ranking.notes))


def corrected_ranking(ranking: Ranking, judges: Judges) -> Ranking:
    """Return two models' standings with the values that labels correct."""
    standings = []
    for standing in ranking.standings:
        estimate = corrected(
            judges[standing.model].judged, ranking.metric, over=ranking.over, level=ranking.level
        )
        standings.append(
            replace(standing, value=estimate.value, low=estimate.low, high=estimate.high)
        )
    return replace(ranking, standings=tuple(standings))


def judge_remarks(task: str | None, judges: Mapping[str, JudgeScores]) -> list[Remark]:
    """Return remarks on models that are judged by one of their name."""
    prefix = f"{task}: " if task else ""
    names = {name: shared_name(scores.model, name) for name, scores in judges.items()}
    alike = [name for name, shared in names.items() if shared]
    if not alike:
        return []
    judge = judges[alike[0]].title
    text = (
        f"the judge {judge} and {' and '.join(alike)} share a name: a difference judged by it may "
        "be its taste"
    )
    return [Remark(prefix + text, important=True)]


def require_one_judge(sides: Sequence[JudgeScores]) -> None:
    """Raise `InvalidInput` if two judges' verdicts would be compared without labels."""
    if reason := apart_reason(sides):
        raise InvalidInput(
            f"verdicts cannot be compared: {reason}. Label both models, or judge both alike."
        )
