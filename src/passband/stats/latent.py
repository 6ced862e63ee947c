"""Posterior intervals: what is known of the latent value once a prior has been named.

The latent value of a problem with success probability p is what the metric would be after endless
trials: ``g(p) = sum_j s_j Binomial(j; k, p)`` for a credit vector s. A prior for p, the observed c
of n successes and independent problems give the mean of g over the problems a law. The ends are
equal-tailed quantiles of that law, not its mean plus or minus z standard deviations, and no random
numbers are drawn.

Use these where a prior is part of the question. They are about the latent value and need not
contain the observed one. A prior on every single problem does not wear off with more problems: a
uniform one reads 30 problems that failed 8 times out of 8 as a pass@8 of 0.47. The notes of an
estimate say when that happens. The default method, "auto", keeps an unbiased centre.

Two models of the problems:

- the same Beta(a, b) for each, given or fitted: "uniform", "jeffreys", "empirical-bayes";
- a Beta with unknown parameters, and unknown shares of problems that are never and always solved,
  averaged over all that is unknown: "hierarchical".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from passband.errors import InvalidInput
from passband.stats.counts import Histogram
from passband.stats.credits import all_of, at_least
from passband.stats.methods import Interval, Question, method
from passband.stats.metrics import Metric
from passband.stats.outcomes import Outcomes
from passband.stats.parts import (
    BestReward,
    Credit,
    GeometricBlend,
    MeanReward,
    Part,
    PosteriorMean,
    blend,
)
from passband.types import Bools, Floats, Ints

__all__ = [
    "Pieces",
    "SpikedBeta",
    "empirical_bayes",
    "fit_spiked",
    "fitted_prior",
    "hierarchical",
    "jeffreys",
    "latent_values",
    "uniform",
]

ON_THE_EDGE = (
    "the likelihood of the prior is largest at the edge of what is allowed: the data do not say "
    "how the problems are spread, and the interval is likely to be too short"
)
ONE_TRIAL = "with one trial per problem the prior alone tells noise from the spread of the problems"
NO_CLUSTERS = "clusters are ignored: the problems are taken as independent"

_TABLE = 1 << 20  # entries of a table that is made at once
_FEW_STEPS = 4


# -- the methods -----------------------------------------------------------------------------


@method("uniform", over=("trials",), summary="posterior quantiles, Beta(1, 1) for each problem")
def uniform(question: Question) -> Interval:
    """Return quantiles of the posterior under a uniform prior for each problem.

    For parity with published Bayesian summaries, whose mean and standard deviation it shares. Not
    for pass@k or pass^k with few trials, where the prior outweighs them.

    Reference: Hariri et al. 2025, "Don't Pass@k" (arXiv 2510.04265).

    >>> from passband import Outcomes, estimate
    >>> one = estimate(Outcomes.from_counts([7], 10), "pass@1", over="trials", method="uniform")
    >>> round(one.low, 3), round(one.high, 3)  # those of Beta(8, 4)
    (0.39, 0.891)
    """
    return _told(question, _under_beta(question, 1.0, 1.0))


@method("jeffreys", over=("trials",), summary="posterior quantiles, Beta(1/2, 1/2) for each")
def jeffreys(question: Question) -> Interval:
    """Return quantiles of the posterior under the Jeffreys prior for each problem.

    Pulls half as hard as "uniform" and in the same direction; the same caution applies.

    Reference: Brown, Cai & DasGupta 2001, "Interval estimation for a binomial proportion".

    >>> from passband import Outcomes, estimate
    >>> one = estimate(Outcomes.from_counts([7], 10), "pass@1", over="trials", method="jeffreys")
    >>> round(one.low, 3), round(one.high, 3)  # those of Beta(7.5, 3.5)
    (0.394, 0.907)
    """
    return _told(question, _under_beta(question, 0.5, 0.5))


@method(
    "empirical-bayes", over=("trials",), summary="posterior quantiles, Beta(a, b) fitted to all"
)
def empirical_bayes(question: Question) -> Interval:
    """Return quantiles of the posterior under the Beta prior that makes the data most likely.

    Removes most of the pull of a fixed prior. Not for fewer than about 30 problems, since the
    fitted prior is taken as known; "hierarchical" is the same idea without that.

    Reference: Schaeffer et al. 2025, "How do large language monkeys get their power (laws)?"
    (arXiv 2502.17578).

    >>> from passband import Outcomes, estimate
    >>> outcomes = Outcomes.from_counts([0, 0, 0, 1, 2, 5, 8, 8] * 5, 8)
    >>> found = estimate(outcomes, "pass@8", over="trials", method="empirical-bayes")
    >>> round(found.low, 2), round(found.high, 2)
    (0.54, 0.65)
    """
    _need_binary(question)
    prior = fitted_prior(question.outcomes.histogram.at_least(question.k))
    note = f"prior Beta({prior.alpha:.3g}, {prior.beta:.3g}), fitted by maximum likelihood"
    told = _told(question, _under_beta(question, prior.alpha, prior.beta)).with_notes(note)
    return told.with_notes(ON_THE_EDGE) if prior.on_edge else told


@method(
    "hierarchical",
    over=("problems", "trials"),
    summary="posterior quantiles, prior learned from the problems and averaged over",
)
def hierarchical(question: Question) -> Interval:
    """Return quantiles of the posterior when the spread of the problems is itself unknown.

    ``p ~ z0 [p = 0] + z1 [p = 1] + (1 - z0 - z1) Beta(m s, (1-m) s)``, averaged over m, over
    ``s = 1/r^2 - 1`` and over z0 and z1, each of which is nothing with prior probability 1/2. The
    prior is even in ``arcsin sqrt m``, in r and in the z. Over trials: the mean of g over these
    problems; over problems: its mean over the population, ``E g(p)``.

    Good where problems are spread as the model says. Not where they come in a few sharp levels:
    then it is off by a bias that more problems do not cure, and "auto" is not.

    Reference: Gelman et al. 2013, Bayesian Data Analysis, chapter 5.

    >>> from passband import Outcomes, estimate
    >>> outcomes = Outcomes.from_counts([0, 0, 0, 1, 2, 5, 8, 8] * 5, 8)
    >>> found = estimate(outcomes, "pass@8", method="hierarchical")
    >>> round(found.low, 2), round(found.high, 2)
    (0.47, 0.76)
    """
    _need_binary(question)
    fitted = fit_spiked(question.outcomes, question.k)
    models = [model for model in fitted if model.weight > _SLIGHT]
    most = question.outcomes.most_trials()
    if question.over == "problems":
        laws = [model.of_population(question.metric, most) for model in models]
    else:
        laws = [model.of_problems(question.metric, most) for model in models]
    pieces = Pieces.together(laws, [model.weight for model in models])
    ends = pieces.quantiles(question.tail, question.range())
    told = _told(question, _Posterior(pieces.mean, pieces.sd, *ends))
    if most == 1 and question.over == "trials":
        told = told.with_notes(ONE_TRIAL)
    if question.over == "problems" and question.outcomes.clusters is not None:
        told = told.with_notes(NO_CLUSTERS)
    return told


@dataclass(frozen=True)
class _Posterior:
    mean: float
    sd: float
    low: float
    high: float


def _told(question: Question, posterior: _Posterior) -> Interval:
    """Return the interval, with its mean and with a warning where the prior speaks loudest."""
    mean, sd, seen = posterior.mean, posterior.sd, question.value
    notes = [f"posterior mean {mean:.4g}"]
    if abs(mean - seen) > 2.0 * sd + 1e-12:
        notes.append(
            f"the prior moves the answer more than the data do: posterior mean {mean:.4g}, "
            f"observed value {seen:.4g}, posterior standard deviation {sd:.2g}"
        )
    if not posterior.low - 1e-12 <= seen <= posterior.high + 1e-12:
        notes.append(
            f"the observed value {seen:.4g} lies outside: the interval is about the latent value"
        )
    return Interval(posterior.low, posterior.high, sd, tuple(notes))


def _need_binary(question: Question) -> None:
    if not question.outcomes.is_binary:
        raise InvalidInput(
            "posterior intervals need scores of 0 or 1; binarize the scores or use method='auto'."
        )


# -- the latent value ------------------------------------------------------------------------


def latent_values(part: Part, p: Floats, k: int, n: int) -> Floats:
    """Return what a part is expected to be worth at success probabilities p.

    A part of an unknown kind is taken at the value expected of n trials.

    >>> latent_values(Credit(at_least(2, 1)), np.array([0.0, 0.5, 1.0]), 2, 8).tolist()
    [0.0, 0.75, 1.0]
    """
    if isinstance(part, Credit):
        return _bernstein(part.credit, p)
    if isinstance(part, GeometricBlend):
        both = [_bernstein(credit, p) for credit in (at_least(k, 1), all_of(k))]
        return blend(np.stack(both, axis=-1), part.powers)
    if isinstance(part, BestReward):
        return _bernstein(at_least(k, 1), p)
    if isinstance(part, (MeanReward, PosteriorMean)):
        return p
    n = max(n, k)
    return _bernstein(part.at(np.full(n + 1, n), np.arange(n + 1), k), p)


def _bernstein(credit: Floats, p: Floats) -> Floats:
    """Return ``sum_j s_j Binomial(j; k, p)``, from the steps of s where they are few."""
    steps = np.diff(credit)
    (jumps,) = steps.nonzero()
    if len(jumps) > _FEW_STEPS:
        return _by_terms(credit, p)
    value = np.full(p.shape, credit[0])
    for jump in jumps.tolist():
        value += steps[jump] * _reaches(jump + 1, len(steps), p)
    return value


def _reaches(j: int, k: int, p: Floats) -> Floats:
    """Return P(at least j of k succeed)."""
    from scipy.special import betainc, xlog1py

    if j == 1:
        found: Floats = -np.expm1(xlog1py(k, -p))
    else:
        found = p**k if j == k else betainc(j, k - j + 1, p)
    return found


def _by_terms(credit: Floats, p: Floats) -> Floats:
    from scipy.special import gammaln, xlog1py, xlogy

    k = len(credit) - 1
    j = np.arange(k + 1)
    ways = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
    flat = p.ravel()[:, None]
    value = np.empty(len(flat))
    rows = max(1, _TABLE // (k + 1))
    for start in range(0, len(flat), rows):
        some = flat[start : start + rows]
        value[start : start + rows] = np.exp(ways + xlogy(j, some) + xlog1py(k - j, -some)) @ credit
    return value.reshape(p.shape)


# -- one Beta prior for all problems ---------------------------------------------------------


def _under_beta(question: Question, alpha: float, beta: float) -> _Posterior:
    """Return the posterior of the metric when each problem has the same Beta prior."""
    _need_binary(question)
    pairs, metric = question.outcomes.histogram.at_least(question.k), question.metric
    good = np.asarray(pairs.successes + alpha, dtype=np.float64)
    bad = np.asarray(pairs.trials - pairs.successes + beta, dtype=np.float64)
    p, weights = _nodes(good, bad)
    most = question.outcomes.most_trials()
    values = np.stack([latent_values(part, p, question.k, most) for part in metric.parts])
    if metric.powers is not None and pairs.n_problems > 1:
        pieces = _blended(_law_of_mean(values, weights, pairs.problems), metric)
        ends = pieces.quantiles(question.tail, question.range())
        return _Posterior(pieces.mean, pieces.sd, *ends)
    if metric.powers is not None:
        values = blend(np.moveaxis(values, 0, -1), metric.powers)[None]
    law = _law_of_mean(values, weights, pairs.problems)
    ends = law.quantiles(question.tail, question.range())
    return _Posterior(float(law.mean[0]), float(law.sd[0]), *ends)


_LUMP = 1e-11  # probability at either end that is put on a single point
_FAR = 40.0  # log-odds beyond which p is as good as 0 or 1
_NODES = 1 << 15  # in all
_LEAST_NODES, _MOST_NODES = 256, 4096


def _nodes(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
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
class _Law:
    """The law of one or more means on a lattice, an axis for each."""

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


def _law_of_mean(values: Floats, weights: Floats, problems: Ints) -> _Law:
    """Return the law of the means over independent problems, by Fourier transform.

    `values` is (parts, pairs, nodes), `weights` (pairs, nodes), and `problems` says how many
    problems each pair stands for. Each law is laid out on a lattice around its own mean, so that
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
    at = [m + h * (s + np.arange(side)) / count for m, h, s in zip(mean, step, start, strict=True)]
    return _Law(at, masses, mean, sd / count)


def _side(parts: int, pairs: int) -> int:
    """Return how many points an axis has, so that all pairs together do not have too many."""
    if parts == 1:
        return 4096 if pairs <= 256 else 1024
    cells = min(max((1 << 21) // pairs, 1 << 13), 1 << 18)
    return 1 << (cells.bit_length() - 1) // parts


def _on_ring(position: Floats, weights: Floats, problems: Ints, side: int) -> Floats:
    """Return the law of the sum, of coordinates in lattice steps, on a ring of `side` points."""
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
    at, mass = [], []
    for offsets in itertools.product(range(4), repeat=parts):
        cell, share = row, weights
        for part, offset in enumerate(offsets):
            cell = cell * side + (base[part].astype(np.int64) + offset - 1) % side
            share = share * shares[offset][part]
        at.append(cell.ravel())
        mass.append(share.ravel())
    return _added(np.concatenate(at), np.concatenate(mass), pairs * side**parts)


def _added(at: Ints, weights: Floats, length: int = 0) -> Floats:
    """Add up weights by position."""
    return np.asarray(np.bincount(at, weights, minlength=length), dtype=np.float64)


def _cubic_shares(x: Floats) -> list[Floats]:
    """Return Lagrange's weights of the points -1, 0, 1, 2 at 0 <= x < 1."""
    return [
        -x * (x - 1.0) * (x - 2.0) / 6.0,
        (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0,
        -(x + 1.0) * x * (x - 2.0) / 2.0,
        (x + 1.0) * x * (x - 1.0) / 6.0,
    ]


def _blended(law: _Law, metric: Metric) -> Pieces:
    """Return the law of a blend of means from their joint law."""
    assert metric.powers is not None
    clipped = [
        np.clip(axis, *part.bounds) for axis, part in zip(law.axes, metric.parts, strict=True)
    ]
    grid = np.stack(np.meshgrid(*clipped, indexing="ij"), axis=-1)
    weights = np.maximum(law.masses, 0.0)
    return Pieces.of_cells(blend(grid, metric.powers), weights / weights.sum())


# -- a law made of many small ones -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pieces:
    """A law given as many narrow ones: the weight, mean and variance of each."""

    weights: Floats
    means: Floats
    variances: Floats

    @staticmethod
    def of_cells(values: Floats, weights: Floats, variances: Floats | float = 0.0) -> Pieces:
        """Take a value per cell of a grid, and let it change within a cell as to its neighbours.

        That gives each cell a variance of a twelfth of the squared change along each axis. The
        values move towards their mean by as much as keeps the variance of the whole.
        """
        within = np.zeros(values.shape)
        for axis, length in enumerate(values.shape):
            if length > 1:
                within += np.gradient(values, axis=axis) ** 2 / 12.0
        mean = float((weights * values).sum())
        between = float((weights * (values - mean) ** 2).sum())
        kept = max(between - float((weights * within).sum()), 0.0)
        moved = mean + (values - mean) * ((kept / between) ** 0.5 if between > 0.0 else 1.0)
        return Pieces(weights.ravel(), moved.ravel(), (within + variances).ravel())

    @staticmethod
    def together(laws: Sequence[Pieces], weights: Sequence[float]) -> Pieces:
        """Mix laws."""
        share = np.asarray(weights) / sum(weights)
        return Pieces(
            np.concatenate([w * law.weights for w, law in zip(share, laws, strict=True)]),
            np.concatenate([law.means for law in laws]),
            np.concatenate([law.variances for law in laws]),
        )

    @cached_property
    def mean(self) -> float:
        return float(self.weights @ self.means)

    @cached_property
    def sd(self) -> float:
        return float(np.sqrt(self.weights @ (self.variances + (self.means - self.mean) ** 2)))

    def quantiles(self, tail: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the equal-tailed quantiles; each piece is a Beta on the bounds, by moments."""
        low, high = bounds
        if high <= low or self.sd <= 1e-12 * (high - low):
            return self.mean, self.mean
        few = self._merged()
        mean = np.clip((few.means - low) / (high - low), 1e-12, 1.0 - 1e-12)
        most = mean * (1.0 - mean)
        variance = np.clip(few.variances / (high - low) ** 2, most * 1e-12, most * 0.999999)
        size = most / variance - 1.0
        ends = [
            low + (high - low) * _solved(few.weights, mean * size, (1.0 - mean) * size, share)
            for share in (tail, 1.0 - tail)
        ]
        return ends[0], ends[1]

    def _merged(self) -> Pieces:
        """Merge neighbours into a few hundred pieces, finer towards the tails."""
        seen = np.flatnonzero(self.weights > 1e-16)
        order = seen[np.argsort(self.means[seen])]
        weights, means = self.weights[order], self.means[order]
        middle = np.clip(np.cumsum(weights) - weights / 2.0, 1e-12, 1.0 - 1e-12)
        _, group = np.unique(np.floor(np.log(middle / (1.0 - middle)) / 0.15), return_inverse=True)
        total = _added(group, weights)
        mean = _added(group, weights * means) / total
        square = self.variances[order] + (means - mean[group]) ** 2
        return Pieces(total, mean, _added(group, weights * square) / total)


def _solved(weights: Floats, alpha: Floats, beta: Floats, share: float) -> float:
    """Return where a mixture of Betas reaches a share of its weight, by halving."""
    low, high = 0.0, 1.0
    for _ in range(45):
        middle = (low + high) / 2.0
        if float(weights @ _beta_cdf(alpha, beta, middle)) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _beta_cdf(alpha: Floats, beta: Floats, x: float) -> Floats:
    """Return P(Beta <= x); by Paulson's cube-root rule where both parameters exceed 10."""
    from scipy.special import betainc, ndtr

    root = (beta / alpha * (x / (1.0 - x))) ** (1.0 / 3.0)
    above = (1.0 - 1.0 / (9.0 * beta)) * root - (1.0 - 1.0 / (9.0 * alpha))
    reached: Floats = ndtr(above / np.sqrt(root**2 / (9.0 * beta) + 1.0 / (9.0 * alpha)))
    small = np.minimum(alpha, beta) <= 10.0
    reached[small] = betainc(alpha[small], beta[small], x)
    return reached


# -- how the problems are spread, on a grid ---------------------------------------------------

_LEAST_ROOT, _MOST_ROOT = 0.02, 0.99  # square root of the correlation of two trials of a problem
_SIDE = 24
_SPIKE_NODES = 8
_DEEP = 14.0  # log-likelihood below the top at which a cell no longer matters
_SLIGHT = 1e-4  # weight below which a model is left out


@dataclass(frozen=True, eq=False)
class _Tally:
    """The counts as the likelihood of a beta-binomial with spikes needs them."""

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
        at = np.searchsorted(self.ns, self.pairs.trials)
        return _added(at, np.where(keep, self.pairs.problems, 0.0), len(self.ns))

    def log_between(self, alpha: Floats, beta: Floats) -> Floats:
        """Return the log-likelihood of the problems with both successes and failures.

        It adds up over the counts of successes, of failures and of trials, whatever their pairs.
        """
        found = self.between
        failures = found.trials - found.successes
        return (
            _log_rising(alpha, found.successes, found.problems)
            + _log_rising(beta, failures, found.problems)
            - _log_rising(alpha + beta, found.trials, found.problems)
        )

    def log_ends(self, alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Return log P(no success) and log P(no failure), (cells, ns)."""
        whole = _log_gamma_ratio(alpha + beta, self.ns)
        return _log_gamma_ratio(beta, self.ns) - whole, _log_gamma_ratio(alpha, self.ns) - whole


def _log_gamma_ratio(x: Floats, counts: Ints) -> Floats:
    """Return log of the rising factorials of x: (cells, counts)."""
    from scipy.special import gammaln

    ratio: Floats = gammaln(x[:, None] + counts) - gammaln(x)[:, None]
    return ratio


def _log_rising(x: Floats, counts: Ints, problems: Ints) -> Floats:
    tally = np.bincount(counts, problems)
    (seen,) = tally.nonzero()
    return _log_gamma_ratio(x, seen) @ tally[seen]


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
    """Return the rectangle that just holds what is within `depth` of the top."""
    box = _Box()
    for _ in range(rounds):
        found = height(box)
        closer = box.around(found >= found.max() - depth)
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

    >>> found = fitted_prior(Histogram.of_counts(np.full(6, 8), np.array([0, 1, 3, 5, 8, 8])))
    >>> round(found.alpha, 3), round(found.beta, 3)
    (0.394, 0.319)
    """
    tally = _Tally(pairs)

    def height(box: _Box) -> Floats:
        alpha, beta = box.parameters(16)
        none, every = tally.log_ends(alpha, beta)
        found = tally.log_between(alpha, beta) + none @ tally.zeros + every @ tally.ones
        return found.reshape(16, 16)

    box = _zoomed(height, 0.0, 14)
    (alpha,), (beta,) = box.parameters(1)
    return FittedPrior(float(alpha), float(beta), box.touches_edge())


@dataclass(frozen=True, eq=False)
class SpikedBeta:
    """A grid of Betas with shares of problems at 0 and at 1, weighted by their likelihood.

    Axes: cells of the rectangle, share at 0, share at 1; without a spike its axis has length 1.
    """

    tally: _Tally
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
        found: Floats = np.exp(self.log_weights - self.evidence)
        return found

    @cached_property
    def rest(self) -> Floats:
        """Share of the Beta."""
        left: Floats = np.maximum(1.0 - self.zero - self.one, 1e-12)
        return left

    def of_population(self, metric: Metric, n: int) -> Pieces:
        """Return the law of the metric over all problems there could be."""
        p, masses = self._masses(metric.k)
        values = _columns(metric, p, n)
        smooth = (masses @ values)[:, None, None, :]
        ends = self.zero[..., None] * values[0] + self.one[..., None] * values[-1]
        means = self.rest[..., None] * smooth + ends
        whole = means[..., 0] if metric.powers is None else blend(means, metric.powers)
        return self._pieces(whole)

    def of_problems(self, metric: Metric, n: int) -> Pieces:
        """Return the law of the metric over the observed problems, given their counts.

        In each cell the mean and the variance are exact, and the shape is that of a Beta.
        """
        p, masses = self._masses(metric.k)
        values = _columns(metric, p, n)
        both = _with_products(values)
        pairs = self.tally.pairs
        sums = _sums(masses, p, pairs, both)
        end = np.where(pairs.successes == 0, -1, pairs.successes == pairs.trials)
        inside = sums[:, end == 0, 1:] / np.maximum(sums[:, end == 0, :1], 1e-300)
        total = _summed(inside, pairs.problems[end == 0], values.shape[1])[:, None, None]
        for at in np.flatnonzero(end).tolist():
            spike, value = (self.zero, both[0]) if end[at] < 0 else (self.one, both[-1])
            share, spike = self.rest[..., None], spike[..., None]
            expected = share * sums[:, None, None, at] + spike * np.append(1.0, value)
            expected = expected[..., 1:] / np.maximum(expected[..., :1], 1e-300)
            total = total + _summed(
                expected[..., None, :], pairs.problems[at : at + 1], values.shape[1]
            )
        return self._pieces(*_mean_and_variance(metric, total, pairs.n_problems))

    def _masses(self, k: int) -> tuple[Floats, Floats]:
        """Return success probabilities from 0 to 1, and the mass of each under each Beta."""
        from scipy.special import betaln, expit

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

    def _pieces(self, means: Floats, variances: Floats | float = 0.0) -> Pieces:
        """Return the cells as pieces of a law, on the axes of the grid."""
        side = int(len(self.alpha) ** 0.5 + 0.5)
        shape = (side, side, *self.weights.shape[1:])
        found = np.broadcast_to(means, self.weights.shape).reshape(shape)
        spread = np.broadcast_to(variances, self.weights.shape).reshape(shape)
        return Pieces.of_cells(found, self.weights.reshape(shape), spread)


def _columns(metric: Metric, p: Floats, n: int) -> Floats:
    """Return the latent value of each part: (points, parts)."""
    return np.stack([latent_values(part, p, metric.k, n) for part in metric.parts], axis=1)


def _with_products(values: Floats) -> Floats:
    """Append all products of two parts."""
    products = values[:, :, None] * values[:, None, :]
    return np.concatenate([values, products.reshape(len(values), -1)], axis=1)


def _sums(masses: Floats, p: Floats, pairs: Histogram, columns: Floats) -> Floats:
    """Return the likelihood of each pair, and each column times it, summed over p.

    (cells, pairs, 1 + columns); the likelihood is scaled to a maximum of 1 over p, which it has
    for c = 0 at p = 0 and for c = n at p = 1, so spikes there need no scaling.
    """
    from scipy.special import xlog1py, xlogy

    c, n = pairs.successes, pairs.trials
    at = p[:, None]
    best = xlogy(c, c / n) + xlog1py(n - c, -c / n)
    likelihood = np.exp(xlogy(c, at) + xlog1py(n - c, -at) - best)
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


def _mean_and_variance(metric: Metric, total: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the moments of the metric in each cell from sums over the problems.

    A blend is taken as a product of powers of jointly log-normal means, which is right to second
    order and cannot leave the positive numbers.
    """
    parts = len(metric.parts)
    mean = total[..., :parts] / count
    covariance = total[..., parts:].reshape(*mean.shape, parts) / count**2
    if metric.powers is None:
        return mean[..., 0], np.maximum(covariance[..., 0, 0], 0.0)
    power = np.asarray(metric.powers)
    safe = np.maximum(mean, 1e-150)
    relative = covariance / (safe[..., :, None] * safe[..., None, :])
    spread = np.log(np.maximum(1.0 + relative, 1e-6))
    square = np.einsum("i,...ij,j->...", power, spread, power)
    own = np.einsum("...ii,i->...", spread, power)
    found = blend(mean, metric.powers) * np.exp((square - own) / 2.0)
    return found, found**2 * np.expm1(square)


_fits: WeakKeyDictionary[Outcomes, dict[int, list[SpikedBeta]]] = WeakKeyDictionary()


def fit_spiked(outcomes: Outcomes, k: int) -> list[SpikedBeta]:
    """Fit the problems with at least k trials: without spikes, with either, and with both.

    The four have the same prior weight; the `weight` of each is its posterior one. Kept for as
    long as the outcomes are.
    """
    pairs = outcomes.histogram.at_least(k)
    kept = _fits.setdefault(outcomes, {})
    fewest = int(pairs.trials.min())
    if fewest not in kept:
        kept[fewest] = _fitted(_Tally(pairs))
    return kept[fewest]


def _fitted(tally: _Tally) -> list[SpikedBeta]:
    models = [_explored(tally, *spikes) for spikes in itertools.product((False, True), repeat=2)]
    top = max(model.evidence for model in models)
    total = sum(np.exp(model.evidence - top) for model in models)
    return [replace(m, weight=float(np.exp(m.evidence - top) / total)) for m in models]


def _explored(tally: _Tally, zero: bool, one: bool) -> SpikedBeta:
    """Return the grid of one model where its likelihood is."""

    def height(box: _Box) -> Floats:
        found = _spiked(tally, box, zero, one).log_weights
        top = found.max(axis=(1, 2))
        total: Floats = top + np.log(np.exp(found - top[:, None, None]).sum(axis=(1, 2)))
        return total.reshape(_SIDE, _SIDE)

    model = _spiked(tally, _zoomed(height, _DEEP, 10), zero, one)
    top = model.log_weights.max()
    evidence = float(top + np.log(np.exp(model.log_weights - top).sum()))
    return replace(model, evidence=evidence)


def _spiked(tally: _Tally, box: _Box, zero: bool, one: bool) -> SpikedBeta:
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
    log_rest = np.log(np.maximum(left, 1e-12))
    likelihood = tally.log_between(alpha, beta)[:, None, None]
    likelihood = likelihood + tally.between.n_problems * log_rest
    for spike, logs, seen in ((at_zero, none, tally.zeros), (at_one, every, tally.ones)):
        for at in np.flatnonzero(seen).tolist():
            with np.errstate(divide="ignore"):
                log_end = np.logaddexp(np.log(spike), log_rest + logs[:, at, None, None])
            likelihood = likelihood + seen[at] * log_end
    likelihood = np.where(left > 0.0, likelihood, -np.inf)
    prior = np.log(box.area / len(alpha)) + (np.log(2.0) if zero and one else 0.0)
    log_weights = likelihood + (np.log(wide * tall) + prior)[:, None, None]
    top = float(likelihood.max())
    return SpikedBeta(tally, alpha, beta, at_zero, at_one, log_weights, top)


def _spike_nodes(counts: Floats, ends: Floats, problems: int, both: bool) -> tuple[Floats, Floats]:
    """Return shares of a spike in each cell that can explain the problems counted at its end.

    With f the chance that the Beta leaves a problem at this end, a share z puts
    ``q = z + (1 - z - z') f`` of the problems there, where z' is the share of the other spike.
    The data fix q, and so z where f is known. Also returned is the width that a node stands for.
    """
    from scipy.special import betaincinv

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
