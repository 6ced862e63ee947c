"""Rows of a table whose scores are a judge's, with a column of labels."""

from __future__ import annotations

from collections import Counter

from passband.errors import InvalidInput
from passband.readers.judge_scores import JudgeScores, Labels, Place, judge_of
from passband.stats.data.cells import parse_scores
from passband.stats.data.layout import Layout, TableGroup

__all__ = ["judged_rows"]


def judged_rows(
    layout: Layout, group: TableGroup, threshold: float | None = None
) -> JudgeScores | None:
    """Return the judge's scores of a group beside its labels; None where no judge is named."""
    roles = layout.roles
    if roles.judge is None and roles.label is None:
        return None
    numbers: Counter[str] = Counter()
    places: list[Place] = []
    scores: list[float | None] = []
    for trial in layout.trials(group):  # numbered by their order: labels have no other name here
        places.append((trial.problem, numbers[trial.problem]))
        numbers[trial.problem] += 1
        scores.append(trial.score)
    labels = []
    if roles.label is not None:
        cells = parse_scores(roles.label, layout.columns[roles.label])[group.rows]
        values = {
            place: float(cell) for place, cell in zip(places, cells, strict=True) if cell == cell
        }
        _refuse_half_labels(roles.label, values, scores)
        labels = [Labels(roles.label, values)]
    verdicts = dict(zip(places, scores, strict=True))
    return judge_of(verdicts, labels, judge=roles.score, threshold=threshold)


def _refuse_half_labels(
    column: str, values: dict[Place, float], scores: list[float | None]
) -> None:
    """Refuse a column of labels that is empty: the name may be that of another column."""
    if not values:
        raise InvalidInput(f"column {column} (for label) is empty in every row of {len(scores)}.")
