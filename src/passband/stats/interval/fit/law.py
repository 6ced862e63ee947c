"""Distributions of success probabilities on a grid, by expectation maximisation from a start.

Three of them, from the same start. Two are on purpose not the best fit. Their steps stop early: the
converged fit puts every problem that was never solved exactly at zero, and so finds too little
noise. And a little of the start is mixed in again, so that no probability is ever ruled out. How
many steps, and how much of the start, was chosen by measured coverage (docs/measured.md):

- `near` is for metrics with k up to half of n. The data measure the noise, and the fit only has
  to be near.
- `close` is for larger k. The noise has to be extrapolated; a closer fit does better, kept honest
  by more of the start.
- `sharp` is nearly the best fit, a handful of probabilities. Where the problems are of two or
  three kinds it finds noise that the smooth fits miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.interval.fit.count_grid import CountGrid
from passband.types import Bools, Floats

__all__ = ["LEAST", "Law", "Mixing", "maximised", "sharpened"]

LEAST = 1e-300  # a pair between two grid points may be out of reach of both
_TINY = 1e-37  # in reach of single precision
_CYCLES = 12  # of three steps each; they go about as far as 400 plain steps
_FARTHEST = 64.0  # times the length of two steps
_DEEPEST = -60.0  # fall of the logarithm of a weight in a cycle; from further it could not return
_FEWEST_DROPPED = 64  # pairs without a problem: dropping fewer costs more than it saves


@dataclass(frozen=True, eq=False)
class Mixing:
    """Weights of the success probabilities, and the probabilities of c given n that they imply."""

    weights: Floats  # (..., points)
    marginal: Floats  # (..., pairs)


@dataclass(frozen=True, eq=False)
class Law:
    """Fits to the counts over a grid, each made when it is first used; leading axes are data sets.

    All data sets are taken to have as many problems as the first.
    """

    grid: CountGrid
    counts: Floats  # (..., pairs)
    start: Floats  # (..., points)

    @cached_property
    def problems(self) -> float:
        return float(self.counts.sum(axis=-1).flat[0])

    @cached_property
    def near(self) -> Mixing:
        return self._blended(self._early, 1.0)

    @cached_property
    def close(self) -> Mixing:
        rest = self._steps(2, 10, 150) - self._steps(5, 5, 100)
        return self._blended(self._maximised(self._early, rest), self.problems**0.5)

    @cached_property
    def sharp(self) -> Mixing:
        table, frequencies = self._seen
        return self._mixing(sharpened(table, frequencies, self.close.weights))

    @cached_property
    def _early(self) -> Floats:
        return self._maximised(self.start, self._steps(5, 5, 100))

    @cached_property
    def _seen(self) -> tuple[Floats, Floats]:
        """The table of the pairs that occur, and their frequencies."""
        table, counts = self.grid.binomial, self.counts
        occurs: Bools = np.asarray(counts.any(axis=tuple(range(counts.ndim - 1))))
        if len(occurs) - np.count_nonzero(occurs) >= _FEWEST_DROPPED:
            table, counts = table[:, occurs], counts[..., occurs]
        return table, counts / np.maximum(counts.sum(axis=-1, keepdims=True), LEAST)

    def _steps(self, divisor: int, least: int, most: int) -> int:
        return min(max(round(self.problems / divisor), least), most)

    def _maximised(self, weights: Floats, steps: int) -> Floats:
        table, frequencies = self._seen
        return maximised(table, frequencies, weights, steps)

    def _blended(self, weights: Floats, extra: float) -> Mixing:
        return self._mixing(
            (self.problems * weights + extra * self.start) / (self.problems + extra)
        )

    def _mixing(self, weights: Floats) -> Mixing:
        return Mixing(weights, np.maximum(weights @ self.grid.binomial, LEAST))


def maximised(table: Floats, frequencies: Floats, weights: Floats, steps: int) -> Floats:
    """Return the weights after some steps of expectation maximisation."""
    for _ in range(steps):
        weights = weights * _factors(table, frequencies, weights)
    return weights


def _factors(table: Floats, frequencies: Floats, weights: Floats) -> Floats:
    """Return what a step of expectation maximisation multiplies the weights by."""
    ratio = frequencies / np.maximum(weights @ table, LEAST)
    factors: Floats = ratio @ table.T
    return factors


def sharpened(table: Floats, frequencies: Floats, weights: Floats) -> Floats:
    """Return the weights after expectation maximisation that is nearly complete.

    Two steps show where the logarithms of the weights go; a cycle goes there at once, and takes a
    step from where it arrives (SQUAREM; Varadhan and Roland 2008, Scandinavian Journal of
    Statistics 35, 335-353). If a cycle goes too far, the next one brings it back.

    A cycle enlarges rounding errors some thousand times, and they differ between one data set and
    many. So each ends with the weights rounded to single precision, where they are the same again.
    """
    for _ in range(_CYCLES):
        first = np.maximum(_factors(table, frequencies, weights), LEAST)
        after = weights * first
        speed = np.log(first)
        bend = np.log(np.maximum(_factors(table, frequencies, after), LEAST)) - speed
        ratio = (after * speed**2).sum(axis=-1, keepdims=True) / np.maximum(
            (after * bend**2).sum(axis=-1, keepdims=True), LEAST
        )
        length = np.sqrt(np.minimum(np.maximum(ratio, 1.0), _FARTHEST**2))
        far = length * (2.0 * speed + length * bend)
        far = weights * np.exp(np.maximum(far - far.max(axis=-1, keepdims=True), _DEEPEST))
        weights = np.maximum(far / far.sum(axis=-1, keepdims=True), _TINY)
        weights = weights * _factors(table, frequencies, weights)
        weights = np.maximum(weights, _TINY).astype(np.float32).astype(np.float64)
    return weights
