"""A Beta distribution of success probabilities with spikes at 0 and 1, fitted on a grid.

`BetaCounts` is the likelihood of counts under it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.fit.beta_mixture import BetaMixture, added
from passband.stats.metric.metric import Metric
from passband.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class BetaCounts:
    """Counts, in the shape that the likelihood of a beta-binomial with spikes needs."""

    pairs: Histogram

    @cached_property
    def ns(self) -> Ints:
        return np.unique(self.pairs.trials)

    @cached_property
    def shares(self) -> Floats:
        return self._per_n(self.pairs.trials > 0) / self.pairs.n_problems

    @cached_property
    def zeros(self) -> Floats:
        """Problems without a success, for each n."""
        return self._per_n(self.pairs.successes == 0)

    @cached_property
    def ones(self) -> Floats:
        """Problems without a failure, for each n."""
        return self._per_n(self.pairs.successes == self.pairs.trials)

    @cached_property
    def between(self) -> Histogram:
        c, n = self.pairs.successes, self.pairs.trials
        return self.pairs.where((c > 0) & (c < n))

    def _per_n(self, keep: Bools) -> Floats:
        place = np.searchsorted(self.ns, self.pairs.trials)
        return added(place, np.where(keep, self.pairs.problems, 0.0), len(self.ns))

    def log_between(self, alpha: Floats, beta: Floats) -> Floats:
        """Return the log-likelihood of the problems with both successes and failures.

        It adds up over the counts of successes, of failures and of trials, whatever their pairs.
        """
        mixed = self.between
        failures = mixed.trials - mixed.successes
        return (
            _log_rising(alpha, mixed.successes, mixed.problems)
            + _log_rising(beta, failures, mixed.problems)
            - _log_rising(alpha + beta, mixed.trials, mixed.problems)
        )

    def log_ends(self, alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Return log P(no success) and log P(no failure), (cells, ns)."""
        whole = _log_gamma_ratio(alpha + beta, self.ns)
        return _log_gamma_ratio(beta, self.ns) - whole, _log_gamma_ratio(alpha, self.ns) - whole


def _log_gamma_ratio(x: Floats, counts: Ints) -> Floats:
    """Return log of the rising factorials of x: (cells, counts)."""
    from passband.stats.special import gammaln

    ratio: Floats = gammaln(x[:, None] + counts) - gammaln(x)[:, None]
    return ratio


def _log_rising(x: Floats, counts: Ints, problems: Ints) -> Floats:
    tally = np.bincount(counts, problems)
    (seen,) = tally.nonzero()
    return _log_gamma_ratio(x, seen) @ tally[seen]


_LEAST_ROOT, _MOST_ROOT = 0.02, 0.99  # square root of the correlation of two trials of a problem
_SIDE = 24
_SPIKE_NODES = 8
_DEEP = 14.0  # log-likelihood below the top at which a cell no longer matters
_LEAST_SHARE = 1e-12  # of the Beta, so that its logarithm is finite
MIN_WEIGHT = 1e-4  # weight below which a model is left out


@dataclass(frozen=True)
class _Box:
    """A rectangle of ``arcsin sqrt mean`` and root of correlation."""

    low: tuple[float, float] = (0.0, _LEAST_ROOT)
    high: tuple[float, float] = (np.pi / 2.0, _MOST_ROOT)

    def parameters(self, side: int) -> tuple[Floats, Floats]:
        """Return alpha and beta in the middle of each cell, angle by angle."""
        middle = (np.arange(side) + 0.5) / side
        angle, root = (a + (b - a) * middle for a, b in zip(self.low, self.high, strict=True))
        size = 1.0 / root**2 - 1.0
        mean, rest = np.sin(angle)[:, None] ** 2, np.cos(angle)[:, None] ** 2
        return (mean * size).ravel(), (rest * size).ravel()

    @property
    def area(self) -> float:
        return (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])

    def around(self, keep: Bools) -> _Box:
        """Return the cells kept and two more on each side, as far as there may be any."""
        whole, lows, highs = _Box(), [], []
        for axis in range(2):
            kept = np.flatnonzero(keep.any(axis=1 - axis))
            step = (self.high[axis] - self.low[axis]) / keep.shape[axis]
            lows.append(max(whole.low[axis], self.low[axis] + step * (int(kept[0]) - 2)))
            highs.append(min(whole.high[axis], self.low[axis] + step * (int(kept[-1]) + 3)))
        return _Box((lows[0], lows[1]), (highs[0], highs[1]))

    def touches_edge(self) -> bool:
        whole = _Box()
        pairs = [*zip(self.low, whole.low, strict=True), *zip(self.high, whole.high, strict=True)]
        return any(abs(here - edge) < 1e-9 for here, edge in pairs)


Height = Callable[[_Box], Floats]


def _zoomed(height: Height, depth: float, rounds: int) -> _Box:
    """Return the smallest rectangle with all points within `depth` of the maximum."""
    box = _Box()
    for _ in range(rounds):
        heights = height(box)
        closer = box.around(heights >= heights.max() - depth)
        if closer.area > 0.5 * box.area:
            break
        box = closer
    return box


@dataclass(frozen=True)
class FittedPrior:
    """The Beta that makes the counts most likely, and whether it lies at the edge of the search."""

    alpha: float
    beta: float
    on_edge: bool


def fitted_prior(pairs: Histogram) -> FittedPrior:
    """Fit a Beta to counts by maximum likelihood of the beta-binomial.

    A search by zooming in, on the mean and the correlation of two trials of a problem; the
    square root of the latter is kept between 0.02 and 0.99, since without spread, or without
    anything else, the largest likelihood is at infinity.

    >>> prior = fitted_prior(Histogram.of_counts(np.full(6, 8), np.array([0, 1, 3, 5, 8, 8])))
    >>> round(prior.alpha, 3), round(prior.beta, 3)
    (0.394, 0.319)
    """
    tally = BetaCounts(pairs)

    def height(box: _Box) -> Floats:
        alpha, beta = box.parameters(16)
        none, every = tally.log_ends(alpha, beta)
        likelihood = tally.log_between(alpha, beta) + none @ tally.zeros + every @ tally.ones
        return likelihood.reshape(16, 16)

    box = _zoomed(height, 0.0, 14)
    (alpha,), (beta,) = box.parameters(1)
    return FittedPrior(float(alpha), float(beta), box.touches_edge())


@dataclass(frozen=True, eq=False)
class SpikedBeta:
    """A grid of Betas with shares of problems at 0 and at 1, weighted by their likelihood.

    Axes: cells of the rectangle, share at 0, share at 1; without a spike its axis has length 1.
    """

    tally: BetaCounts
    alpha: Floats  # (cells,)
    beta: Floats
    zero: Floats  # (cells, nodes, 1)
    one: Floats  # (cells, 1, nodes)
    log_weights: Floats  # (cells, nodes, nodes) with the size of each cell and the prior
    top: float  # largest log-likelihood
    evidence: float = 0.0  # log of the sum of the weights
    weight: float = 1.0  # posterior share of this model among those it is averaged with

    @property
    def has_zero(self) -> bool:
        return bool(self.zero.shape[1] > 1)

    @cached_property
    def weights(self) -> Floats:
        weights: Floats = np.exp(self.log_weights - self.evidence)
        return weights

    @cached_property
    def rest(self) -> Floats:
        """Share of the Beta."""
        left: Floats = np.maximum(1.0 - self.zero - self.one, _LEAST_SHARE)
        return left

    def of_population(self, metric: Metric) -> BetaMixture:
        """Return the distribution of the metric over all problems there could be."""
        p, masses = self._masses(metric.k)
        values = np.ascontiguousarray(metric.latent(p).T)
        smooth = (masses @ values)[:, None, None, :]
        ends = self.zero[..., None] * values[0] + self.one[..., None] * values[-1]
        means = self.rest[..., None] * smooth + ends
        return self._pieces(metric.combined(means))

    def of_problems(self, metric: Metric) -> BetaMixture:
        """Return the distribution of the metric over the observed problems, given their counts.

        In each cell the mean and the variance are exact, and the shape is that of a Beta.
        """
        p, masses = self._masses(metric.k)
        values = np.ascontiguousarray(metric.latent(p).T)
        both = _with_products(values)
        pairs = self.tally.pairs
        sums = _sums(masses, p, pairs, both)
        end = np.where(pairs.successes == 0, -1, pairs.successes == pairs.trials)
        inside = sums[:, end == 0, 1:] / np.maximum(sums[:, end == 0, :1], 1e-300)
        total = _summed(inside, pairs.problems[end == 0], values.shape[1])[:, None, None]
        for index in np.flatnonzero(end).tolist():
            spike, value = (self.zero, both[0]) if end[index] < 0 else (self.one, both[-1])
            share, spike = self.rest[..., None], spike[..., None]
            expected = share * sums[:, None, None, index] + spike * np.append(1.0, value)
            expected = expected[..., 1:] / np.maximum(expected[..., :1], 1e-300)
            total = total + _summed(
                expected[..., None, :], pairs.problems[index : index + 1], values.shape[1]
            )
        parts, count = len(metric.parts), pairs.n_problems
        mean = total[..., :parts] / count
        covariance = total[..., parts:].reshape(*mean.shape, parts) / count**2
        return self._pieces(*metric.moments(mean, covariance))

    def _masses(self, k: int) -> tuple[Floats, Floats]:
        """Return success probabilities from 0 to 1, and the mass of each under each Beta."""
        from passband.stats.special import betaln, expit

        longest = int(self.tally.ns[-1])
        far = max(16.0, 10.0 + np.log(k))
        step = 2.5 / (longest + _LEAST_ROOT**-2) ** 0.5
        count = int(np.ceil(2.0 * far / step))
        odds = np.linspace(-far, far, count)
        a, b = self.alpha[:, None], self.beta[:, None]
        log_p, log_q = -np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)
        density = np.exp(a * log_p + b * log_q - betaln(a, b))
        masses = np.concatenate([density[:, :1] / a, density, density[:, -1:] / b], axis=1)
        masses[:, 1:-1] *= odds[1] - odds[0]
        masses[:, [1, -2]] /= 2.0
        masses /= masses.sum(axis=1, keepdims=True)
        return np.concatenate([[0.0], expit(odds), [1.0]]), masses

    def _pieces(self, means: Floats, variances: Floats | float = 0.0) -> BetaMixture:
        """Return the cells as pieces of a distribution, on the axes of the grid."""
        side = int(len(self.alpha) ** 0.5 + 0.5)
        shape = (side, side, *self.weights.shape[1:])
        values = np.broadcast_to(means, self.weights.shape).reshape(shape)
        spread = np.broadcast_to(variances, self.weights.shape).reshape(shape)
        return BetaMixture.of_cells(values, self.weights.reshape(shape), spread)


def _with_products(values: Floats) -> Floats:
    """Append all products of two parts."""
    products = values[:, :, None] * values[:, None, :]
    return np.concatenate([values, products.reshape(len(values), -1)], axis=1)


def _sums(masses: Floats, p: Floats, pairs: Histogram, columns: Floats) -> Floats:
    """Return the likelihood of each pair, and each column times it, summed over p.

    (cells, pairs, 1 + columns); the likelihood is scaled to a maximum of 1 over p, which it has
    for c = 0 at p = 0 and for c = n at p = 1, so spikes there need no scaling.
    """
    from passband.stats.special import xlog1py, xlogy

    c, n = pairs.successes, pairs.trials
    column = p[:, None]
    best = xlogy(c, c / n) + xlog1py(n - c, -c / n)
    likelihood = np.exp(xlogy(c, column) + xlog1py(n - c, -column) - best)
    with_one = np.concatenate([np.ones((len(p), 1)), columns], axis=1)
    table = (likelihood[:, :, None] * with_one[:, None, :]).reshape(len(p), -1)
    sums: Floats = (masses @ table).reshape(len(masses), len(c), -1)
    return sums


def _summed(expected: Floats, problems: Ints, parts: int) -> Floats:
    """Add up means and covariances over problems, the axis before the last."""
    mean, square = np.split(expected, [parts], axis=-1)
    outer = mean[..., :, None] * mean[..., None, :]
    covariance = square - outer.reshape(square.shape)
    both = np.concatenate([mean, covariance], axis=-1)
    total: Floats = np.moveaxis(both, -2, -1) @ problems.astype(np.float64)
    return total


def fit_spiked(outcomes: Outcomes, k: int) -> list[SpikedBeta]:
    """Fit the problems with at least k trials: without spikes, with either, and with both.

    The four have the same prior weight; the `weight` of each is its posterior one. Kept for as
    long as the outcomes are.
    """
    pairs = outcomes.histogram.at_least(k)
    key = ("spiked-beta", int(pairs.trials.min()))
    if key not in outcomes.memo:
        outcomes.memo[key] = _fitted(BetaCounts(pairs))
    models: list[SpikedBeta] = outcomes.memo[key]
    return models


def _fitted(tally: BetaCounts) -> list[SpikedBeta]:
    models = [_explored(tally, *spikes) for spikes in itertools.product((False, True), repeat=2)]
    top = max(model.evidence for model in models)
    total = sum(np.exp(model.evidence - top) for model in models)
    return [replace(m, weight=float(np.exp(m.evidence - top) / total)) for m in models]


def _explored(tally: BetaCounts, zero: bool, one: bool) -> SpikedBeta:
    """Return the grid of one model where its likelihood is."""

    def height(box: _Box) -> Floats:
        weights = _spiked(tally, box, zero, one).log_weights
        top = weights.max(axis=(1, 2))
        total: Floats = top + np.log(np.exp(weights - top[:, None, None]).sum(axis=(1, 2)))
        return total.reshape(_SIDE, _SIDE)

    model = _spiked(tally, _zoomed(height, _DEEP, 10), zero, one)
    top = model.log_weights.max()
    evidence = float(top + np.log(np.exp(model.log_weights - top).sum()))
    return replace(model, evidence=evidence)


def _spiked(tally: BetaCounts, box: _Box, zero: bool, one: bool) -> SpikedBeta:
    """Lay a grid over a rectangle, and over the shares of the spikes that suit each cell."""
    alpha, beta = box.parameters(_SIDE)
    none, every = tally.log_ends(alpha, beta)
    ends = np.stack([np.exp(none) @ tally.shares, np.exp(every) @ tally.shares])
    counts = np.array([tally.zeros.sum(), tally.ones.sum()])
    problems = tally.pairs.n_problems
    nothing = np.zeros((len(alpha), 1)), np.ones(len(alpha))
    at_zero, wide = _spike_nodes(counts, ends, problems, one) if zero else nothing
    at_one, tall = _spike_nodes(counts[::-1], ends[::-1], problems, zero) if one else nothing
    at_zero, at_one = at_zero[:, :, None], at_one[:, None, :]
    left = 1.0 - at_zero - at_one
    log_rest = np.log(np.maximum(left, _LEAST_SHARE))
    likelihood = tally.log_between(alpha, beta)[:, None, None]
    likelihood = likelihood + tally.between.n_problems * log_rest
    for spike, logs, seen in ((at_zero, none, tally.zeros), (at_one, every, tally.ones)):
        likelihood = likelihood + _log_end(spike, log_rest, logs, seen)
    likelihood = np.where(left > 0.0, likelihood, -np.inf)
    prior = np.log(box.area / len(alpha)) + (np.log(2.0) if zero and one else 0.0)
    log_weights = likelihood + (np.log(wide * tall) + prior)[:, None, None]
    top = float(likelihood.max())
    return SpikedBeta(tally, alpha, beta, at_zero, at_one, log_weights, top)


def _log_end(spike: Floats, log_rest: Floats, logs: Floats, seen: Floats) -> Floats:
    """Return the log-likelihood of the problems at one end, `seen` of them for each n."""
    if spike.shape[1:] == (1, 1):  # there is no spike
        return float(seen.sum()) * log_rest + (logs @ seen)[:, None, None]
    rest, chances = np.exp(log_rest), np.exp(logs)
    total = np.zeros_like(rest)
    for at in np.flatnonzero(seen).tolist():
        total += seen[at] * np.log(spike + rest * chances[:, at, None, None])
    return total


def _spike_nodes(counts: Floats, ends: Floats, problems: int, both: bool) -> tuple[Floats, Floats]:
    """Return shares of a spike in each cell that can explain the problems counted at its end.

    With f the chance that the Beta leaves a problem at this end, a share z puts
    ``q = z + (1 - z - z') f`` of the problems there, where z' is the share of the other spike.
    The data fix q, and so z where f is known. The width of a node is returned as well.
    """
    from passband.stats.special import betaincinv

    seen, (here, there) = counts[0], ends
    q = betaincinv(seen + 0.5, problems - seen + 0.5, [[1e-7], [1.0 - 1e-7]])
    other = counts[1] / problems - there if both else 0.0
    room = np.maximum(1.0 - here - (there if both else 0.0), 1e-9)
    shares = ((1.0 - (there if both else 0.0)) * (q - here) + here * other) / room
    least = 1.0 / (problems + 2.0)
    first = np.clip(shares[0], 0.0, 1.0 - least)
    last = np.clip(shares[1], first + least, 1.0)
    width = (last - first) / _SPIKE_NODES
    return first[:, None] + width[:, None] * (np.arange(_SPIKE_NODES) + 0.5), width
