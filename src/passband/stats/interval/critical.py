"""The critical value of a band: the quantile of the largest of several correlated errors."""

from __future__ import annotations

import numpy as np

from passband.stats.interval.default.wilson import normal_quantile
from passband.types import Floats

__all__ = ["critical_value"]

_DRAWS = 1 << 13


def critical_value(covariance: Floats, level: float) -> float:
    """Return the quantile that the largest of correlated standard normals stays within.

    By simulation from a fixed seed: the same number in every run. Bonferroni's is the most.
    """
    sd = np.sqrt(np.diagonal(covariance))
    kept = sd > 1e-9 * max(float(sd.max(initial=0.0)), 1e-300)
    if not kept.any():
        return normal_quantile(level)
    correlation = covariance[np.ix_(kept, kept)] / np.outer(sd[kept], sd[kept])
    size, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(size, 0.0))
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(root)))
    largest = np.abs(draws @ root.T).max(axis=1)
    most = normal_quantile(1.0 - (1.0 - level) / len(root))
    return min(max(float(np.quantile(largest, level)), normal_quantile(level)), most)
