"""Screening: items that a bank cannot use, each with the reason."""

from __future__ import annotations

from collections.abc import Container

from passband.stats.irt.responses import Responses
from passband.types import Floats, Ints

__all__ = ["FLATTEST", "screened_after", "screened_before"]

FLATTEST = 0.05  # slope below which an item says nothing about ability
_STEEPEST = 6.0  # slope beyond which no item is believed, even with a prior


def screened_before(data: Responses, protected: Container[int]) -> dict[int, str]:
    """Return the items whose scores show no differences, with the reason.

    Anchors are protected: their parameters are known.
    """
    asked = data.trials.sum(axis=0)
    total = data.scores.sum(axis=0)
    reasons: dict[int, str] = {}
    for item in range(len(asked)):
        if item in protected:
            continue
        if asked[item] == 0:
            reasons[item] = "no trial has a score"
        elif total[item] == 0:
            reasons[item] = "all scores are 0"
        elif total[item] == asked[item]:
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
    """Return the items that do not tell good models from bad ones, with the reason."""
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
