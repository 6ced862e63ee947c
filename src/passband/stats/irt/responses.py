"""Responses to items: one model's evidence on its ability, many models' counts of grades.

`ItemEvidence` is a model's score on an item, over one trial or several; `Responses` holds those of
many models, by which the items are screened.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, WrongType
from passband.stats.checks import as_number
from passband.stats.irt.items import ItemModel, Items, check_model
from passband.types import ArrayLike, Floats, Ints

_ROUNDING = 1e-6  # of a grade: scores that were written with six digits are still exact
_MOST_GRADES = 20


@dataclass(frozen=True, eq=False)
class Responses:
    """Count each person's (row) grades above 0 on each item (column)."""

    grades: tuple[Floats, ...]  #: of grade 1, 2, ...; one matrix of sums of scores for 0/1 scores
    trials: Floats  #: 0 where an item was not asked
    steps: Ints  #: number of grades above 0 of each item

    def columns(self, index: Ints) -> Responses:
        """Return some of the items."""
        kept = tuple(grade[:, index] for grade in self.grades)
        return Responses(kept, self.trials[:, index], self.steps[index])

    def weighed(self, rho: float, phi: Floats) -> Responses:
        """Return the same with trials that are worth less, or more, than independent 0/1 ones."""
        if rho == 0.0 and (phi == 1.0).all():
            return self
        weight = 1.0 / ((1.0 + np.maximum(self.trials - 1.0, 0.0) * rho) * phi)
        grades = tuple(grade * weight for grade in self.grades)
        return Responses(grades, self.trials * weight, self.steps)

    @property
    def scores(self) -> Floats:
        """Sums of scores, in [0, trials]."""
        total: Floats = np.zeros_like(self.trials)
        for number, grade in enumerate(self.grades, start=1):
            total += number * grade
        return total / self.steps


def read_responses(
    successes: ArrayLike, trials: ArrayLike | None, model: ItemModel, grades: int | None
) -> Responses:
    """Return checked responses; without `trials` one each, and none where a score is NaN."""
    check_model(model)
    total = _matrix("successes", successes)
    if trials is None:
        count = np.where(np.isnan(total), 0.0, 1.0)
        total = np.where(np.isnan(total), 0.0, total)
    else:
        count = _matrix("trials", trials)
    _check(total, count)
    if model == "graded":
        return _graded(total, count, grades)
    if model != "continuous" and (np.abs(total - np.rint(total)) > _ROUNDING).any():
        raise InvalidInput(f"{model!r} is for scores of 0 or 1; for others use 'continuous'.")
    return Responses((total,), count, np.ones(total.shape[1], dtype=np.intp))


def _matrix(name: str, values: ArrayLike) -> Floats:
    try:
        matrix = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongType(f"{name} must be a matrix of numbers, a row per model.") from None
    if matrix.ndim != 2:
        raise InvalidInput(f"{name} must be a matrix, a row per model; got {matrix.ndim} axes.")
    return matrix


def _check(total: Floats, count: Floats) -> None:
    if total.shape != count.shape:
        raise InvalidInput(f"successes are {total.shape} and trials {count.shape}: not the same.")
    if min(total.shape) < 2 or not (count > 0).any(axis=0).any():
        raise NotEnoughData(f"calibration needs several models and items; got {total.shape}.")
    bad = ~((count >= 0) & (count == np.rint(count)) & (total >= 0) & (total <= count + _ROUNDING))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InvalidInput(
            f"row {row}, item {column}: {total[row, column]:g} of {count[row, column]:g} trials; "
            "trials must be whole numbers, and sums of scores between 0 and the trials."
        )


def _graded(total: Floats, count: Floats, grades: int | None) -> Responses:
    if (count > 1).any():
        raise InvalidInput(
            "sums over several trials do not say which grades there were: give every trial of "
            "graded items a row of its own."
        )
    steps = grades or _common_grades(total[count > 0])
    grade = np.rint(total * steps)
    if (np.abs(grade - total * steps) > _ROUNDING * steps).any():
        raise InvalidInput(f"scores of graded items must be multiples of 1/{steps}.")
    asked = count > 0
    matrices = tuple(((grade == g) & asked).astype(np.float64) for g in range(1, steps + 1))
    return Responses(matrices, count, np.full(total.shape[1], steps))


def _common_grades(scores: Floats) -> int:
    for steps in range(1, _MOST_GRADES + 1):
        if (np.abs(np.rint(scores * steps) - scores * steps) <= _ROUNDING * steps).all():
            return steps
    raise InvalidInput(f"scores are not in up to {_MOST_GRADES} equal steps; use 'continuous'.")


FLATTEST = 0.05  # slope below which an item says nothing about ability
_STEEPEST = 6.0  # slope beyond which no item is believed, even with a prior


def screened_before(data: Responses, protected: Container[int]) -> dict[int, str]:
    """Return the items whose scores do not vary, with the reason.

    Anchors are protected: their parameters are known.
    """
    trials = data.trials.sum(axis=0)
    total = data.scores.sum(axis=0)
    reasons: dict[int, str] = {}
    for item in range(len(trials)):
        if item in protected:
            continue
        if trials[item] == 0:
            reasons[item] = "no trial has a score"
        elif total[item] == 0:
            reasons[item] = "all scores are 0"
        elif total[item] == trials[item]:
            reasons[item] = "all scores are 1"
        elif len(data.grades) > 1 and (unseen := _unseen_grade(data, item)) is not None:
            reasons[item] = f"no score is {unseen:.3g}, so that the steps around it are unknown"
    return reasons


def _unseen_grade(data: Responses, item: int) -> float | None:
    steps = int(data.steps[item])
    seen = [matrix[:, item].sum() for matrix in data.grades[:steps]]
    for grade, count in enumerate([data.trials[:, item].sum() - sum(seen), *seen]):
        if count == 0:
            return grade / steps
    return None


def screened_after(slopes: Floats, kept: Ints, protected: Container[int]) -> dict[int, str]:
    """Return the items that do not discriminate, with the reason."""
    reasons: dict[int, str] = {}
    for item, slope in zip(kept.tolist(), slopes.tolist(), strict=True):
        if item in protected or FLATTEST <= slope <= _STEEPEST:
            continue
        if slope > _STEEPEST:
            reasons[item] = f"discrimination is {slope:.2f}: it repeats what the others say"
        elif slope < 0.0:
            reasons[item] = f"discrimination is {slope:.2f}: better models fail it more often"
        else:
            reasons[item] = f"discrimination is {slope:.2f}: it says nothing about ability"
    return reasons


class ItemEvidence(NamedTuple):
    """The mean score of an item over its trials.

    A mean of k/n over n trials of 0/1 scores is the evidence of k right and n - k wrong answers.
    A mean of several grades does not say what they were, so that trials of a graded item are
    evidence each, unless all are 0 or all are 1.
    """

    item: int  #: position in the bank
    score: float  #: in [0, 1]
    trials: int = 1


class Weighted(NamedTuple):
    """Hold evidence as arrays: items, scores and weights in trials."""

    items: Items
    scores: Floats
    weights: Floats


def effective_trials(trials: float, rho: float) -> float:
    """Return the effective number of independent trials of one item.

    ``n / (1 + (n - 1) ρ)`` with ρ the correlation of two trials of an item given the ability:
    a model that knows one answer by heart gives it every time.

    >>> effective_trials(8, 0.0), effective_trials(8, 1.0), effective_trials(8, 0.25)
    (8.0, 1.0, 2.909090909090909)
    """
    return trials / (1.0 + (trials - 1.0) * rho)


def as_rho(rho: object) -> float:
    """Return a correlation of repeats, which is from 0 to 1."""
    value = as_number("rho", rho)
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"rho must be between 0 and 1; got {rho!r}.")
    return value


def check_evidence(items: Items, evidence: ItemEvidence) -> None:
    """Refuse evidence about an item that is not there, or with a score that cannot be."""
    score = evidence.score
    item: object = evidence.item
    trials: object = evidence.trials
    if type(item) is not int and (isinstance(item, bool) or not isinstance(item, Integral)):
        raise WrongType(f"item must be a position in the bank; got {item!r}.")
    if not 0 <= evidence.item < len(items):
        raise InvalidInput(f"item {item} is not in the bank, which has {len(items)} items.")
    is_odd = type(trials) is not int and (
        isinstance(trials, bool) or not isinstance(trials, Integral)
    )
    if is_odd or evidence.trials < 1:
        raise InvalidInput(f"trials of item {item} must be 1 or more; got {trials!r}.")
    if not 0.0 <= (score if type(score) is float else as_number("score", score)) <= 1.0:
        raise InvalidInput(f"score of item {item} must be between 0 and 1; got {score!r}.")
    if items.steps is not None:
        _check_grade(evidence, int(np.isfinite(items.steps[evidence.item]).sum()))


def _check_grade(evidence: ItemEvidence, grades: int) -> None:
    item, score, trials = evidence
    grade = score * grades
    if abs(grade - round(grade)) > _ROUNDING:
        steps = ", ".join(f"{step / grades:.4g}" for step in range(grades + 1))
        raise InvalidInput(f"score of item {item} must be one of {steps}; got {score!r}.")
    if trials > 1 and 0 < round(grade) < grades:
        raise InvalidInput(
            f"a mean of {score!r} over {trials} trials of graded item {item} does not say which "
            "grades there were; give the evidence of each trial by itself."
        )


def weighted(items: Items, evidence: Iterable[ItemEvidence], rho: float) -> Weighted:
    """Return checked evidence as arrays, the trials of one item weighed together."""
    scores = list(evidence)
    index = np.array([one.item for one in scores], dtype=np.intp)
    trials = np.array([one.trials for one in scores], dtype=np.float64)
    of_item = np.zeros(len(items))
    np.add.at(of_item, index, trials)
    weights = trials / (1.0 + (of_item[index] - 1.0) * rho)
    return Weighted(
        items.take(index) if scores else items,
        np.array([one.score for one in scores], dtype=np.float64),
        weights,
    )
