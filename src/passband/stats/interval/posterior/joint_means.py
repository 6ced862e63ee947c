"""The joint distribution of means over problems with Beta posteriors, by Fourier transform."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from passband.stats.interval.posterior.beta_mixture import added
from passband.types import Floats, Ints

__all__ = ["JointDistribution", "beta_nodes", "joint_distribution"]

_LUMP = 1e-11  # probability at either end that is put on a single point
_FAR = 40.0  # log-odds beyond which p is as good as 0 or 1
_NODES = 1 << 15  # in all
_LEAST_NODES, _MOST_NODES = 256, 4096


def beta_nodes(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return success probabilities and their weights under Beta(alpha, beta), a row per pair.

    Evenly spaced log-odds: there the density has no poles and the trapezoidal rule converges
    faster than any power of the spacing.
    """
    from scipy.special import betainc, betaincinv, betaln, expit

    count = int(np.clip(_NODES // len(alpha), _LEAST_NODES, _MOST_NODES))
    tiny = np.finfo(np.float64).tiny
    low = np.minimum(betaincinv(alpha, beta, _LUMP), 1.0 - 1e-16)
    high = np.minimum(betaincinv(beta, alpha, _LUMP), 1.0 - 1e-16)
    first = np.clip(np.log(np.maximum(low, tiny)) - np.log1p(-low), -_FAR, _FAR)
    last = np.clip(np.log1p(-high) - np.log(np.maximum(high, tiny)), -_FAR, _FAR)
    odds = first[:, None] + (last - first)[:, None] * np.linspace(0.0, 1.0, count)
    log_p, log_q = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
    a, b = alpha[:, None], beta[:, None]
    weights = np.exp(a * log_p + b * log_q - betaln(a, b)) * ((last - first) / (count - 1))[:, None]
    weights[:, [0, -1]] /= 2.0
    weights[:, 0] += betainc(alpha, beta, expit(first))
    weights[:, -1] += betainc(beta, alpha, expit(-last))
    return expit(odds), weights / weights.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """The distribution of one or more means on a lattice, an axis for each."""

    axes: list[Floats]
    masses: Floats
    mean: Floats
    sd: Floats

    def quantiles(self, tail: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the equal-tailed quantiles of the only mean there is."""
        if self.sd[0] < 1e-9:
            return float(self.mean[0]), float(self.mean[0])
        (axis,) = self.axes
        reached = np.maximum.accumulate(np.cumsum(self.masses))
        edges = axis + (axis[1] - axis[0]) / 2.0
        low, high = np.clip(np.interp([tail, 1.0 - tail], reached, edges), *bounds)
        return float(low), float(high)


def joint_distribution(values: Floats, weights: Floats, problems: Ints) -> JointDistribution:
    """Return the distribution of the means over independent problems, by Fourier transform.

    `values` is (parts, pairs, nodes), `weights` (pairs, nodes), and `problems` the number of
    problems with each pair. Each distribution is laid out on a lattice around its own mean, so that
    the sum is centred at 0. The lattice is closed to a ring that holds the support of the sum or,
    where that is less, many standard deviations and what a single problem can add to them.
    """
    parts, count = len(values), int(problems.sum())
    centre = (values * weights).sum(axis=-1)
    away = values - centre[..., None]
    sd = np.sqrt((away**2 * weights).sum(axis=-1) @ problems)
    farthest = np.where(weights > 1e-9, np.abs(away), 0.0).max(axis=(1, 2))
    reach = 20.0 * sd + farthest if parts == 1 else np.clip(farthest, 8.0 * sd, 16.0 * sd)
    low = np.maximum(away.min(axis=-1) @ problems, -reach)
    high = np.minimum(away.max(axis=-1) @ problems, reach)
    side = _side(parts, len(problems))
    step = (high - low) / (side - 8)
    step[step <= 0.0] = 1.0
    start = np.floor(low / step).astype(np.int64) - 3
    masses = _on_ring(away / step[:, None, None], weights, problems, side)
    masses = np.roll(masses, (-start).tolist(), axis=tuple(range(parts)))
    mean = centre @ problems / count
    axes = [
        m + h * (s + np.arange(side)) / count for m, h, s in zip(mean, step, start, strict=True)
    ]
    return JointDistribution(axes, masses, mean, sd / count)


def _side(parts: int, pairs: int) -> int:
    """Return how many points an axis has, so that all pairs together do not have too many."""
    if parts == 1:
        return 4096 if pairs <= 256 else 1024
    cells = min(max((1 << 21) // pairs, 1 << 13), 1 << 18)
    return 1 << (cells.bit_length() - 1) // parts


def _on_ring(position: Floats, weights: Floats, problems: Ints, side: int) -> Floats:
    """Return the probabilities of the sum, in lattice steps, on a ring of `side` points."""
    parts = len(position)
    shape = (side,) * parts
    axes = tuple(range(1, parts + 1))
    total = np.ones((), dtype=np.complex128)
    rows = max(1, (1 << 21) // side**parts)
    for begin in range(0, len(problems), rows):
        some = slice(begin, begin + rows)
        laid = _laid_out(position[:, some], weights[some], side).reshape(-1, *shape)
        powers = problems[some].reshape(-1, *(1,) * parts)
        total = total * np.prod(np.fft.rfftn(laid, axes=axes) ** powers, axis=0)
    masses: Floats = np.fft.irfftn(total, s=shape, axes=tuple(range(parts)))
    return masses


def _laid_out(position: Floats, weights: Floats, side: int) -> Floats:
    """Spread each weight over the four nearest points per axis, exact for cubic functions."""
    parts, pairs, _ = position.shape
    base = np.floor(position)
    shares = _cubic_shares(position - base)
    row = np.arange(pairs)[:, None]
    cells, mass = [], []
    for offsets in itertools.product(range(4), repeat=parts):
        cell, share = row, weights
        for part, offset in enumerate(offsets):
            cell = cell * side + (base[part].astype(np.int64) + offset - 1) % side
            share = share * shares[offset][part]
        cells.append(cell.ravel())
        mass.append(share.ravel())
    return added(np.concatenate(cells), np.concatenate(mass), pairs * side**parts)


def _cubic_shares(x: Floats) -> list[Floats]:
    """Return Lagrange's weights of the points -1, 0, 1, 2 at 0 <= x < 1."""
    return [
        -x * (x - 1.0) * (x - 2.0) / 6.0,
        (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0,
        -(x + 1.0) * x * (x - 2.0) / 2.0,
        (x + 1.0) * x * (x - 1.0) / 6.0,
    ]
