"""A distribution of success probabilities, fitted to the counts once for all metrics.

First a beta-binomial, averaged over 240 members of the family by their likelihood; it says what a
further problem would look like. Then, from there, a free distribution over 61 probabilities; it
gives the noise of the trials (`Law`). Where problems differ in their numbers of trials there is one
for each stratum of them (`TrialStratum`), as that number may have to do with how hard they are.

Each `Law` comes by expectation maximisation on the grid; there are three, from the same start. Two
are on purpose not the best fit. Their steps stop early: the converged fit puts every problem that
was never solved exactly at zero, and so finds too little noise. And a little of the start is mixed
in again, so that no probability is ever ruled out. How many steps, and how much of the start, was
chosen by measured coverage (docs/measured.md):

- `near` is for metrics with k up to half of n. The data measure the noise, and the fit only has
  to be near.
- `close` is for larger k. The noise has to be extrapolated; a closer fit does better, kept honest
  by more of the start.
- `sharp` is nearly the best fit, a handful of probabilities. Where the problems are of two or
  three kinds it finds noise that the smooth fits miss.

Hard problems often have fewer trials than easy ones, or more. A distribution fitted to all problems
then describes none of the strata. The strata are octaves of n (1, 2-3, 4-7, 8-15, ...), joined with
their neighbours until each has a few problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from passband.stats.interval.fit.count_grid import CountGrid, beta_masses
from passband.types import Bools, Floats

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
    """Return the factors on the weights in one step of expectation maximisation."""
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


_FEWEST = 5  # problems in a stratum


@dataclass(frozen=True, eq=False)
class TrialStratum:
    """The problems with neighbouring numbers of trials, and the distributions fitted to them."""

    ns: slice  # positions among the numbers of trials of the whole grid
    cells: slice  # positions among its pairs
    law: Law  # started at the fit to all problems, and mixed with it


def strata_of(ns: Sequence[int], problems: Sequence[float]) -> list[slice]:
    """Return positions of neighbouring numbers of trials, each with five problems or more.

    >>> strata_of([1, 2, 3, 4, 64], [9, 4, 3, 6, 2])
    [slice(0, 1, None), slice(1, 3, None), slice(3, 5, None)]
    """
    ends = list(_octave_ends(ns))
    cuts, since = [0], 0.0
    for start, end in zip([0, *ends], ends, strict=False):
        since += sum(problems[start:end])
        if since >= _FEWEST:
            cuts.append(end)
            since = 0.0
    if len(cuts) > 1:
        cuts.pop()  # what is left over goes to the last stratum
    cuts.append(len(ns))
    return [slice(start, end) for start, end in pairwise(cuts)]


def _octave_ends(ns: Sequence[int]) -> Iterator[int]:
    for at, n in enumerate(ns, start=1):
        if at == len(ns) or ns[at].bit_length() != n.bit_length():
            yield at


_FAR = -60.0  # log-likelihood ratio below which a Beta has no weight


@dataclass(frozen=True, eq=False)
class Mixture:
    """A fitted distribution of success probabilities; leading axes are data sets."""

    grid: CountGrid
    counts: Floats  # (..., pairs) problems observed at each pair
    predictive: Floats  # (..., pairs) probabilities of one further problem, n as observed
    shares: Floats  # (..., ns) share of the problems that have each n
    smooth: Floats  # (..., points) the averaged beta-binomial's success probabilities
    whole: Mixture | None = None  # of all problems, where some have too few trials for k

    @property
    def problems(self) -> int:
        """The number of problems of the first data set; coarse counts add up to it."""
        return round(float(self.counts.sum(axis=-1).flat[0]))

    @cached_property
    def pooled(self) -> Law:
        """The law fitted to all problems, whatever their number of trials."""
        return Law(self.grid, self.counts, self.smooth)

    @property
    def near(self) -> Mixing:
        return self.pooled.near

    @property
    def close(self) -> Mixing:
        return self.pooled.close

    def mixing(self, k: int) -> Mixing:
        """Return the fit to all problems to use for a metric with k draws."""
        return self.near if 2 * k <= self.grid.ns[0] else self.close

    @cached_property
    def strata(self) -> tuple[TrialStratum, ...]:
        """The problems by numbers of trials; one stratum has the law of all problems.

        The strata of many data sets are those of their average.
        """
        shares = self.shares.mean(axis=tuple(range(self.shares.ndim - 1)))
        found = strata_of(self.grid.ns, (self.pooled.problems * shares).tolist())
        if len(found) == 1:
            return (TrialStratum(found[0], slice(0, len(self.grid.trials)), self.pooled),)
        return tuple(self._stratum(ns) for ns in found)

    def _stratum(self, ns: slice) -> TrialStratum:
        grid = self.grid.part(ns)
        whole = self if self.whole is None else self.whole
        same = [] if whole is self else [s.law for s in whole.strata if s.law.grid.ns == grid.ns]
        refined = Law(grid, self.counts[..., grid.cells], whole.near.weights)
        return TrialStratum(ns, grid.cells, same[0] if same else refined)


def fit_mixture(grid: CountGrid, counts: Floats, whole: Mixture | None = None) -> Mixture:
    """Fit the distributions to counts over the pairs of a grid.

    If these are the problems with enough trials of a `whole`, their strata start at its fit.
    """
    shares = grid.per_n(counts) / counts.sum(axis=-1, keepdims=True)
    weight = posterior_of_betas(grid, counts)
    predictive = weight @ grid.beta_binomial * grid.spread(shares)
    smooth = weight @ beta_masses() + 1e-9
    smooth /= smooth.sum(axis=-1, keepdims=True)
    return Mixture(grid, counts, predictive, shares, smooth, whole)


def posterior_of_betas(grid: CountGrid, counts: Floats) -> Floats:
    """Return the posterior weights of the Betas of the grid; leading axes are data sets."""
    log_likelihood = counts @ grid.log_beta_binomial.T
    below = log_likelihood - log_likelihood.max(axis=-1, keepdims=True)
    weight: Floats = np.where(below > _FAR, np.exp(below), 0.0)  # tinier numbers are slow to add
    weight /= weight.sum(axis=-1, keepdims=True)
    return weight
