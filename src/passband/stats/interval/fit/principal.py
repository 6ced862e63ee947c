"""The laws with the fewest success probabilities that explain the counts as well as a fit does.

The counts of n trials depend on a law of success probabilities by its first n moments alone. Of all
laws with these moments two are extreme, the principal representations: with n odd, Gauss's rule of
(n + 1) / 2 nodes; with n even, Radau's rules of n / 2 nodes and one more at 0, or at 1. Between
them lies whatever the counts leave open: 1, p, ..., p^n, p^(2k) being a Chebyshev system, no other
law with these moments has a smaller mean of p^(2k), or of (1 - p)^(2k), for k > n / 2.

Karlin and Studden (1966), Tchebycheff Systems, ch. 4; Golub (1973), SIAM Review 15, 318-334.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.types import Floats

__all__ = ["FewLevels", "principal_laws"]

_NO_MORE = 1e-9  # a coefficient at which a law has no further points, but for rounding


@dataclass(frozen=True, eq=False)
class FewLevels:
    """A law of a few success probabilities; leading axes are data sets."""

    points: Floats
    weights: Floats


def principal_laws(points: Floats, weights: Floats, n: int) -> tuple[FewLevels, ...]:
    """Return the laws with the first n moments of a law on points, whose axis is the last.

    >>> (law,) = principal_laws(np.linspace(0.0, 1.0, 9), np.full(9, 1 / 9), 3)
    >>> law.points.round(3).tolist(), law.weights.round(3).tolist()
    ([0.177, 0.823], [0.5, 0.5])
    """
    steps = (n + 1) // 2
    diagonal, beside = _jacobi(points, weights, steps)
    inner = _matrix(diagonal, beside[..., :-1])
    if n % 2:
        return (_rule(inner),)
    size, vectors = np.linalg.eigh(inner)
    last = beside[..., -1:] ** 2 * vectors[..., -1, :] ** 2
    laws = []
    for end, away in ((0.0, np.maximum(size, _NO_MORE)), (1.0, np.minimum(size - 1.0, -_NO_MORE))):
        node = end + (last / away).sum(axis=-1, keepdims=True)
        laws.append(_rule(_matrix(np.concatenate([diagonal, node], axis=-1), beside)))
    return tuple(laws)


def _rule(matrix: Floats) -> FewLevels:
    points, vectors = np.linalg.eigh(matrix)
    return FewLevels(np.clip(points, 0.0, 1.0), vectors[..., 0, :] ** 2)


def _matrix(diagonal: Floats, beside: Floats) -> Floats:
    size = diagonal.shape[-1]
    matrix = np.zeros((*diagonal.shape, size))
    at = np.arange(size)
    matrix[..., at, at] = diagonal
    matrix[..., at[1:], at[:-1]] = matrix[..., at[:-1], at[1:]] = beside
    return matrix


def _jacobi(points: Floats, weights: Floats, steps: int) -> tuple[Floats, Floats]:
    """Return the recurrence coefficients of the law's orthogonal polynomials, by Lanczos.

    A law of fewer points than steps has zeros for the rest.
    """
    current = np.sqrt(weights / weights.sum(axis=-1, keepdims=True))
    basis = np.zeros((*weights.shape[:-1], steps, weights.shape[-1]))
    diagonal, beside = np.zeros(basis.shape[:-1]), np.zeros(basis.shape[:-1])
    for step in range(steps):
        basis[..., step, :] = current
        moved = points * current
        diagonal[..., step] = (moved * current).sum(axis=-1)
        for _ in range(2):  # against rounding, which would bring back what was taken out
            known = (basis @ moved[..., None])[..., 0]
            moved = moved - (known[..., None, :] @ basis)[..., 0, :]
        length = np.sqrt((moved**2).sum(axis=-1))
        goes_on = length > _NO_MORE
        beside[..., step] = np.where(goes_on, length, 0.0)
        current = np.where(goes_on[..., None], moved / np.maximum(length, _NO_MORE)[..., None], 0.0)
    return diagonal, beside
