"""Evidence on an ability: a model's score on an item, over one trial or several."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import NamedTuple

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.stats.checks import as_number
from passband.stats.irt.items import Items
from passband.types import Floats

__all__ = ["ItemEvidence", "Weighted", "as_rho", "check_evidence", "effective_trials", "weighted"]

_ROUNDING = 1e-6  # of a grade: scores that were written with six digits are still exact


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
