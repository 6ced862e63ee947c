"""P-values adjusted for their number: Holm, and Benjamini and Hochberg."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from passband.types import Floats, Ints

__all__ = ["benjamini_hochberg", "holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of any false finding is at most the chosen one.

    The i-th smallest of m is multiplied by m - i + 1, and none falls below a smaller one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _back(order, raised)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that, on average, at most the chosen share of findings is false.

    The i-th smallest of m is multiplied by m / i, and none exceeds a larger one.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (len(p) / np.arange(1, len(p) + 1))
    return _back(order, np.minimum.accumulate(raised[::-1])[::-1])


def _back(order: Ints, raised: Floats) -> list[float]:
    adjusted = np.empty(len(raised))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
