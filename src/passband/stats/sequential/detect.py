"""Detectors of trials that were stopped by their own outcome, with a bounded rate of false alarms.

*By counts.* Every problem with fewer trials than the most has exactly one success, and none with
the most has more: see `passband.stats.data.stopping`.

*By order.* Among problems that succeeded in some trials and failed in others, the last trial is a
success too often. With n fixed beforehand and trials alike, each order of c successes among n is as
likely as any other, so the last is one with probability c/n, and the number of such problems has a
Poisson-binomial distribution: the test is exact. A model that gets better over time sets it off
too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import check_outcomes
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.stopping import STOPPING_LEVEL, stopping_of
from passband.types import ArrayLike, Bools, Floats

__all__ = ["LEVEL", "Detection", "detect_by_counts", "detect_by_order", "poisson_binomial"]

LEVEL = STOPPING_LEVEL  #: at which a table is taken to be stopped by its outcomes


@dataclass(frozen=True)
class Detection:
    """The p-value of "the outcomes had no say in the number of trials", and how it was found."""

    by: Literal["counts", "order"]
    p_value: float
    problems: int  #: that it rests on

    @property
    def is_alarm(self) -> bool:
        """Whether the trials look stopped by their own outcome."""
        return self.p_value <= LEVEL


def detect_by_counts(outcomes: Outcomes) -> Detection:
    """Test whether every problem was tried until its first success, up to the most trials.

    >>> tried_until_solved = Outcomes.from_counts([1] * 8 + [0], [2, 3, 2, 4, 3, 2, 5, 2, 8])
    >>> detection = detect_by_counts(tried_until_solved)
    >>> round(detection.p_value, 4), detection.is_alarm
    (0.0021, True)
    """
    check_outcomes("outcomes", outcomes)
    if outcomes.successes is None or not outcomes.most_trials():
        return Detection("counts", 1.0, 0)
    found = stopping_of(outcomes.histogram)
    return Detection("counts", found.p_value, found.problems)


def detect_by_order(scores: ArrayLike) -> Detection:
    """Test whether the last trial of a problem succeeds more often than its share of successes.

    `scores` has a row per problem and a column per trial, in the order in which they were made;
    NaN where there was none.

    >>> detect_by_order([[0, 1], [0, 0, 1], [0, 1], [0, 0, 0, 1], [1, 1]]).p_value
    0.020833333333333332
    """
    matrix, present = _matrix(scores)
    n = present.sum(axis=1)
    c = np.where(present, matrix, 0.0).sum(axis=1)
    mixed = (c > 0) & (c < n)
    if not mixed.any():
        return Detection("order", 1.0, 0)
    last = matrix.shape[1] - 1 - np.argmax(present[mixed][:, ::-1], axis=1)
    ended = int((matrix[mixed][np.arange(len(last)), last] == 1.0).sum())
    tail = poisson_binomial(c[mixed] / n[mixed])[ended:].sum()
    return Detection("order", min(float(tail), 1.0), int(mixed.sum()))


def poisson_binomial(rates: Floats) -> Floats:
    """Return the probabilities of 0, 1, ... successes of trials with these rates."""
    result = np.ones(1)
    for rate in rates.tolist():
        result = np.convolve(result, [1.0 - rate, rate])
    return result


def _matrix(scores: ArrayLike) -> tuple[Floats, Bools]:
    """Return the scores, and which of them there are; rows of a list may differ in length."""
    rows = [np.array(row, dtype=np.float64).ravel() for row in scores]  # type: ignore[union-attr]
    if not rows:
        raise InvalidInput("there must be at least one problem; got none.")
    matrix = np.full((len(rows), max(1, *map(len, rows))), np.nan)
    for index, row in enumerate(rows):
        matrix[index, : len(row)] = row
    present = ~np.isnan(matrix)
    odd = present & (matrix != 0.0) & (matrix != 1.0)
    if odd.any():
        raise InvalidInput(f"scores must be 0 or 1; got {matrix[odd][0]:g}.")
    return matrix, present
