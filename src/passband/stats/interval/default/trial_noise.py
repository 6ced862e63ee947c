"""The noise of sampling: how much these problems' values vary if the model is sampled again.

For every number of trials n the variance of a problem's value is averaged over the success
probabilities that were fitted to the problems with about as many trials. Where n is at least 2k the
data also measure it without any model, and the more problems there are the more that counts. Where
n is less it is extrapolated: the larger of a smooth and of a sharp fit is taken, and the largest
that the counts of the sharp one leave open.

All arrays may have leading axes, one entry per data set. Values are scaled to [0, 1].

`principal_laws` are the laws with the fewest success probabilities that explain the counts as well
as a fit does. The counts of n trials depend on a law of success probabilities by its first n
moments alone. Of all laws with these moments two are extreme, the principal representations: with n
odd, Gauss's rule of (n + 1) / 2 nodes; with n even, Radau's rules of n / 2 nodes and one more at 0,
or at 1. Between them lies whatever the counts leave open: 1, p, ..., p^n, p^(2k) being a Chebyshev
system, no other law with these moments has a smaller mean of p^(2k), or of (1 - p)^(2k), for k > n
/ 2.

Karlin and Studden (1966), Tchebycheff Systems, ch. 4; Golub (1973), SIAM Review 15, 318-334.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import LEAST, Law, Mixing, Mixture
from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats

_NO_MORE = 1e-9  # a coefficient at which a law has no further points, but for rounding


@dataclass(frozen=True, eq=False)
class FewLevels:
    """A law of a few success probabilities; leading axes are data sets."""

    points: Floats
    weights: Floats


def principal_laws(points: Floats, weights: Floats, n: int) -> tuple[FewLevels, ...]:
    """Return the laws that match the first n moments of a law; points are the last axis.

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


_LEAST_VARIANCE = 1e-13
_TRUST = 50.0  # problems at which the measured variance counts as much as the fitted one ...
_TRUST_STRATUM = 10.0  # ... which of a stratum is partly that of the others
_FREEDOM = 8.0  # degrees of freedom of a problem that carries its share of the variance ...
_FREEDOM_STRATA = 4.0  # ... where strata have a law each ...
_FREEDOM_EXTRAPOLATED = 2.0  # ... and where n is mostly less than 2k
_LEAST_FACTOR = 0.85  # of the fitted variance, however little noise was measured
_LEAST_CARRIERS = 3.0
_MOST_LEVELS = 32  # trials beyond which the counts leave next to nothing open
_PART_OF_TWO = 0.6  # of the way to the largest noise: two trials leave much open, few laws reach it


@dataclass(frozen=True, eq=False)
class TrialNoise:
    """Moments of the noise of a problem's value, averaged over the problems."""

    variance: Floats
    tilt: Floats  # how the variance goes along with the value
    lean: Floats  # the tilt, enlarged: it is an average of shrunken quantities
    freedom: Floats  # degrees of freedom of the variance, chosen by measured coverage


@dataclass(frozen=True, eq=False)
class _Segment:
    """Neighbouring numbers of trials that share a fit and lie on one side of 2k."""

    grid: CountGrid  # a part of the whole grid
    ns: slice
    cells: slice  # its pairs in the whole grid
    mixing: Mixing
    sharp: Mixing | None  # where the variance has to be extrapolated


@dataclass(frozen=True, eq=False)
class _Part:
    """The sums of one segment over its problems, divided by the number of all problems."""

    variance: Floats
    tilt: Floats
    squares: Floats  # of the problems' own variances
    is_measured: bool


def trial_noise(mixture: Mixture, values: Floats, k: int, squares: Floats | None) -> TrialNoise:
    """Return the noise of a value per pair; `squares` are unbiased squares of its expectation."""
    return _joined(
        mixture,
        [_part(mixture, segment, values, squares) for segment in _segments(mixture, k)],
    )


def pooled_variance(mixture: Mixture, values: Floats, k: int, squares: Floats | None) -> Floats:
    """Return the variance if the number of trials had nothing to do with the problems."""
    segment = _Segment(mixture.grid, slice(None), slice(None), mixture.mixing(k), None)
    usable = squares if 2 * k <= mixture.grid.ns[0] else None
    return _part(mixture, segment, values, usable).variance


def _segments(mixture: Mixture, k: int) -> Iterator[_Segment]:
    for stratum in mixture.strata:
        law, ns = stratum.law, stratum.ns
        short = bisect_left(law.grid.ns, 2 * k)
        if short in (0, len(law.grid.ns)):
            yield _segment(law, law.grid, ns, stratum.cells, short == 0)
        else:
            cut = ns.start + short
            for span in (slice(ns.start, cut), slice(cut, ns.stop)):
                part = mixture.grid.part(span)
                yield _segment(law, part, span, part.cells, span.start == cut)


def _segment(law: Law, grid: CountGrid, ns: slice, cells: slice, is_measured: bool) -> _Segment:
    if is_measured:
        return _Segment(grid, ns, cells, law.near, None)
    return _Segment(grid, ns, cells, law.close, law.sharp)


def _part(mixture: Mixture, segment: _Segment, values: Floats, squares: Floats | None) -> _Part:
    grid, weights = segment.grid, segment.mixing.weights
    cells = segment.cells
    values, counts = values[cells], mixture.counts[..., cells]
    shares = mixture.shares[..., segment.ns]
    problems = mixture.counts.sum(axis=-1)
    centre = grid.per_n(grid.binomial * values)  # (points, ns)
    within = np.maximum(grid.per_n(grid.binomial * values**2) - centre**2, 0.0)
    by_n = weights @ within  # (..., ns)
    if grid.ns[-1] == 1:
        by_n = by_n + weights @ centre**2 - (weights @ centre) ** 2
    elif segment.sharp is not None:
        by_n = np.maximum(by_n, segment.sharp.weights @ within)
        largest = _widened(grid, segment.sharp, values, by_n)
        shares = shares * largest / np.maximum(by_n, LEAST)
    variance = (shares * by_n).sum(axis=-1)
    if segment.sharp is None and squares is not None:
        free = counts @ (values**2 - squares[cells]) / problems
        here = counts.sum(axis=-1)
        trust = here / (here + (_TRUST if len(mixture.strata) == 1 else _TRUST_STRATUM))
        variance = np.maximum(variance + trust * (free - variance), _LEAST_FACTOR * variance)
    joint = weights @ (grid.binomial * grid.spread(within))  # (..., pairs)
    marginal = segment.mixing.marginal
    if marginal.shape[-1] != len(values):  # a part of a stratum
        marginal = np.maximum(weights @ grid.binomial, LEAST)
    expected = joint / marginal  # variance of a value, given the pair that was observed
    apart = expected * (weights @ (grid.binomial * grid.spread(centre)))
    tilt = (grid.spread(shares) * (joint * values - apart)).sum(axis=-1)
    total = np.maximum((counts * expected).sum(axis=-1), LEAST)
    own = (counts * expected**2).sum(axis=-1) / total * (problems / total)
    return _Part(variance, tilt, own * variance**2, segment.sharp is None)


def _widened(grid: CountGrid, law: Mixing, values: Floats, fitted: Floats) -> Floats:
    """Return the largest variance of a value at each n that laws with the same counts have.

    The variance is E[v^2] - E[g(p)^2], with g(p) the mean of v given p. The first is known by the
    counts that the fit expects. The second is least for a principal representation of the fit
    (`principal_laws`) if the value is pass@k or pass^k, and at most that for any other.
    """
    squares = grid.per_n(law.weights @ grid.binomial * values**2)
    result = fitted.copy()
    for index, (n, start) in enumerate(zip(grid.ns, grid.starts.tolist(), strict=True)):
        if 1 < n <= _MOST_LEVELS:
            own = values[start : start + n + 1]
            laws = principal_laws(points(), law.weights, n)
            least = np.min([_mean_square(few, own) for few in laws], axis=0)
            room = np.maximum(squares[..., index] - least - fitted[..., index], 0.0)
            result[..., index] += (_PART_OF_TWO if n == 2 else 1.0) * room
    return result


def _mean_square(law: FewLevels, values: Floats) -> Floats:
    """Return the mean square of a value's expectation given p; there is a value for each count."""
    n = len(values) - 1
    centre = binomial_pmf(n, np.arange(n + 1), law.points[..., None]) @ values
    mean: Floats = (law.weights * centre**2).sum(axis=-1)
    return mean


def _joined(mixture: Mixture, parts: Iterable[_Part]) -> TrialNoise:
    parts = list(parts)
    problems = mixture.counts.sum(axis=-1)
    variance = np.maximum(sum(part.variance for part in parts), _LEAST_VARIANCE)
    tilt = sum(part.tilt for part in parts) / variance
    lean = sum((2.0 if part.is_measured else 3.0) * part.tilt for part in parts) / variance
    guessed = sum(part.variance for part in parts if not part.is_measured) / variance
    # As many problems with equal variances would be as noisy a basis as these.
    carriers = problems * variance**2 / np.maximum(sum(part.squares for part in parts), LEAST)
    carriers = np.minimum(np.maximum(carriers, _LEAST_CARRIERS), problems)
    measured = _FREEDOM if len(mixture.strata) == 1 else _FREEDOM_STRATA
    each = np.where(guessed > 0.5, _FREEDOM_EXTRAPOLATED, measured)
    return TrialNoise(variance, tilt, lean, each * carriers)
