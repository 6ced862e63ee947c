"""Posterior intervals: the distribution of the latent value under a named prior.

The latent value of a problem with success probability p is what the metric would be after endless
trials: ``g(p) = sum_j s_j Binomial(j; k, p)`` for a credit vector s. A prior for p, the observed c
of n successes and independent problems give the mean of g over the problems a distribution. The
ends are equal-tailed quantiles of it, not its mean plus or minus z standard deviations, and no
random numbers are drawn.

Use these where a prior is part of the request. They are about the latent value: the value that goes
with them is the posterior mean, and the observed one, which they need not contain, is in the notes.
A prior on every single problem does not wear off with more problems: a
uniform one reads 30 problems that failed 8 times out of 8 as a pass@8 of 0.47. The notes of an
estimate say when that happens. The default method, "auto", keeps an unbiased centre.

Two models of the problems:

- the same Beta(a, b) for each, given or fitted: "uniform", "jeffreys", "empirical-bayes";
- a Beta with unknown parameters, and unknown shares of problems that are never and always solved,
  averaged over all that is unknown: "hierarchical".

`JointDistribution` is that of means over problems with Beta posteriors, by Fourier transform.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import ROUNDING
from passband.stats.interval.fit.beta_mixture import BetaMixture, added
from passband.stats.interval.fit.spiked_beta import MIN_WEIGHT, fit_spiked, fitted_prior
from passband.stats.interval.notes import CLUSTERS_IGNORED
from passband.stats.interval.registry import Interval, register_method
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints

ALL_TRIALS_ALIKE = Note(
    "no-interval-all-trials-alike",
    "no interval: all trials have the same outcome, so the fitted prior has no spread",
)
PRIOR_ON_EDGE = Note(
    "prior-on-edge",
    "the best-fitting prior is at the edge of the search: the data do not determine how the "
    "problems are spread, and the interval is likely too short",
    "weak",
)
ONE_TRIAL_PRIOR = Note(
    "one-trial-prior",
    "with one trial per problem, only the prior separates sampling noise from the spread of the "
    "problems",
)

_LUMP = 1e-11  # probability at either end that is put on a single point
_FAR = 40.0  # log-odds beyond which p is as good as 0 or 1
_NODES = 1 << 15  # in all
_LEAST_NODES, _MOST_NODES = 256, 4096


def beta_nodes(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return success probabilities and their weights under Beta(alpha, beta), a row per pair.

    Evenly spaced log-odds: there the density has no poles and the trapezoidal rule converges
    faster than any power of the spacing.
    """
    from passband.stats.special import betainc, betaincinv, betaln, expit

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
    """Return the points per axis that keep the number of pairs affordable."""
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


@register_method(
    "uniform", over=("trials",), summary="posterior quantiles, Beta(1, 1) for each problem"
)
def uniform(request: IntervalRequest) -> Interval:
    """Return quantiles of the posterior under a uniform prior for each problem.

    For parity with published Bayesian summaries, whose mean and standard deviation it shares. Not
    for pass@k or pass^k with few trials, where the prior outweighs them.

    Reference: Hariri et al. 2025, "Don't Pass@k" (arXiv 2510.04265).

    >>> from passband import Outcomes, estimate
    >>> one = estimate(Outcomes.from_counts([7], 10), "pass@1", over="trials", method="uniform")
    >>> round(one.low, 3), round(one.high, 3)  # those of Beta(8, 4)
    (0.39, 0.891)
    """
    return _interval(request, _under_beta(request, 1.0, 1.0))


@register_method(
    "jeffreys", over=("trials",), summary="posterior quantiles, Beta(1/2, 1/2) for each"
)
def jeffreys(request: IntervalRequest) -> Interval:
    """Return quantiles of the posterior under the Jeffreys prior for each problem.

    Pulls half as hard as "uniform" and in the same direction; the same caution applies.

    Reference: Brown, Cai & DasGupta 2001, "Interval estimation for a binomial proportion".

    >>> from passband import Outcomes, estimate
    >>> one = estimate(Outcomes.from_counts([7], 10), "pass@1", over="trials", method="jeffreys")
    >>> round(one.low, 3), round(one.high, 3)  # those of Beta(7.5, 3.5)
    (0.394, 0.907)
    """
    return _interval(request, _under_beta(request, 0.5, 0.5))


@register_method(
    "empirical-bayes", over=("trials",), summary="posterior quantiles, Beta(a, b) fitted to all"
)
def empirical_bayes(request: IntervalRequest) -> Interval:
    """Return quantiles of the posterior under the Beta prior that makes the data most likely.

    Removes most of the pull of a fixed prior. Not for fewer than about 30 problems, since the
    fitted prior is taken as known; "hierarchical" is the same idea without that. There is no
    interval where all trials have the same outcome.

    Reference: Schaeffer et al. 2025, "How do large language monkeys get their power (laws)?"
    (arXiv 2502.17578).

    >>> from passband import Outcomes, estimate
    >>> outcomes = Outcomes.from_counts([0, 0, 0, 1, 2, 5, 8, 8] * 5, 8)
    >>> result = estimate(outcomes, "pass@8", over="trials", method="empirical-bayes")
    >>> round(result.low, 2), round(result.high, 2)
    (0.54, 0.65)
    """
    _need_latent(request)
    pairs = request.outcomes.histogram.at_least(request.k)
    if not pairs.successes.any() or (pairs.successes == pairs.trials).all():
        return Interval.none(ALL_TRIALS_ALIKE)
    prior = fitted_prior(pairs)
    note = fitted_prior_note(prior.alpha, prior.beta)
    interval = _interval(request, _under_beta(request, prior.alpha, prior.beta)).with_notes(note)
    return interval.with_notes(PRIOR_ON_EDGE) if prior.on_edge else interval


@register_method(
    "hierarchical",
    over=("problems", "trials"),
    summary="posterior quantiles, prior learned from the problems and averaged over",
)
def hierarchical(request: IntervalRequest) -> Interval:
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
    >>> result = estimate(outcomes, "pass@8", method="hierarchical")
    >>> round(result.low, 2), round(result.high, 2)
    (0.47, 0.76)
    """
    _need_latent(request)
    fitted = fit_spiked(request.outcomes, request.k)
    models = [model for model in fitted if model.weight > MIN_WEIGHT]
    most = request.outcomes.most_trials()
    if request.over == "problems":
        distributions = [model.of_population(request.metric) for model in models]
    else:
        distributions = [model.of_problems(request.metric) for model in models]
    pieces = BetaMixture.together(distributions, [model.weight for model in models])
    ends = pieces.quantiles(request.tail, request.range())
    interval = _interval(request, _Posterior(pieces.mean, pieces.sd, *ends))
    if most == 1 and request.over == "trials":
        interval = interval.with_notes(ONE_TRIAL_PRIOR)
    if request.over == "problems" and request.outcomes.is_clustered:
        interval = interval.with_notes(CLUSTERS_IGNORED)
    return interval


@dataclass(frozen=True)
class _Posterior:
    mean: float
    sd: float
    low: float
    high: float


def _interval(request: IntervalRequest, posterior: _Posterior) -> Interval:
    """Return the interval around its mean, with a note where the prior outweighs the data."""
    mean, sd, seen = posterior.mean, posterior.sd, request.value
    notes = [posterior_mean(seen)]
    if abs(mean - seen) > 2.0 * sd + ROUNDING:
        notes.append(prior_dominates(mean, seen, sd))
    if not posterior.low - ROUNDING <= seen <= posterior.high + ROUNDING:
        notes.append(value_outside(seen))
    return Interval(posterior.low, posterior.high, sd, tuple(notes), value=mean)


def _need_latent(request: IntervalRequest) -> None:
    """Refuse graded scores, and metrics that include a prior already."""
    if not request.outcomes.is_binary:
        raise InvalidInput(
            "posterior intervals need scores of 0 or 1; binarize the scores or use method='auto'."
        )
    if any(part.is_posterior for part in request.metric.parts):
        raise InvalidInput(
            "posterior intervals are for success rates, and bayes is a posterior mean already; "
            f"use avg; got {request.metric.name!r}."
        )


def _under_beta(request: IntervalRequest, alpha: float, beta: float) -> _Posterior:
    """Return the posterior of the metric when each problem has the same Beta prior."""
    _need_latent(request)
    pairs, metric = request.outcomes.histogram.at_least(request.k), request.metric
    good = np.asarray(pairs.successes + alpha, dtype=np.float64)
    bad = np.asarray(pairs.trials - pairs.successes + beta, dtype=np.float64)
    p, weights = beta_nodes(good, bad)
    values = metric.latent(p)
    if not metric.is_mean and pairs.n_problems > 1:
        joint = joint_distribution(values, weights, pairs.problems)
        pieces = _blended(joint, metric)
        ends = pieces.quantiles(request.tail, request.range())
        return _Posterior(pieces.mean, pieces.sd, *ends)
    distribution = joint_distribution(
        metric.combined(np.moveaxis(values, 0, -1))[None], weights, pairs.problems
    )
    ends = distribution.quantiles(request.tail, request.range())
    return _Posterior(float(distribution.mean[0]), float(distribution.sd[0]), *ends)


def _blended(joint: JointDistribution, metric: Metric) -> BetaMixture:
    """Return the distribution of a blend from the joint distribution of its means."""
    clipped = [
        np.clip(axis, *part.bounds) for axis, part in zip(joint.axes, metric.parts, strict=True)
    ]
    grid = np.stack(np.meshgrid(*clipped, indexing="ij"), axis=-1)
    weights = np.maximum(joint.masses, 0.0)
    return BetaMixture.of_cells(metric.combined(grid), weights / weights.sum())


def posterior_mean(observed: float) -> Note:
    """Return the note that the value is a posterior mean, with the observed value.

    >>> print(posterior_mean(0.6467))
    the value is the posterior mean; the observed, unbiased value is 0.6467
    """
    return Note(
        "posterior-mean",
        f"the value is the posterior mean; the observed, unbiased value is {observed:.4g}",
    )


def fitted_prior_note(alpha: float, beta: float) -> Note:
    """Return the note that gives the fitted prior."""
    return Note(
        "fitted-prior", f"prior Beta({alpha:.3g}, {beta:.3g}), fitted by maximum likelihood"
    )


def prior_dominates(mean: float, observed: float, sd: float) -> Note:
    """Return the note on a posterior mean far from the observed value."""
    return Note(
        "prior-dominates",
        f"the prior moves the answer more than the data do: posterior mean {mean:.4g}, "
        f"observed value {observed:.4g}, posterior standard deviation {sd:.2g}",
        "weak",
    )


def value_outside(observed: float) -> Note:
    """Return the note on an observed value outside a posterior interval."""
    return Note(
        "value-outside",
        f"the observed value {observed:.4g} lies outside the interval, which is for the latent "
        "value",
        "weak",
    )
