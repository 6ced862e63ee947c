"""Posterior intervals: what is known of the latent value once a prior has been named.

The latent value of a problem with success probability p is what the metric would be after endless
trials: ``g(p) = sum_j s_j Binomial(j; k, p)`` for a credit vector s. A prior for p, the observed c
of n successes and independent problems give the mean of g over the problems a law. The ends are
equal-tailed quantiles of that law, not its mean plus or minus z standard deviations, and no random
numbers are drawn.

Use these where a prior is part of the request. They are about the latent value and need not
contain the observed one. A prior on every single problem does not wear off with more problems: a
uniform one reads 30 problems that failed 8 times out of 8 as a pass@8 of 0.47. The notes of an
estimate say when that happens. The default method, "auto", keeps an unbiased centre.

Two models of the problems:

- the same Beta(a, b) for each, given or fitted: "uniform", "jeffreys", "empirical-bayes";
- a Beta with unknown parameters, and unknown shares of problems that are never and always solved,
  averaged over all that is unknown: "hierarchical".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.notes import (
    ALL_TRIALS_ALIKE,
    CLUSTERS_IGNORED,
    ONE_TRIAL_PRIOR,
    PRIOR_ON_EDGE,
    posterior_mean,
    prior_dominates,
    value_outside,
)
from passband.notes import fitted_prior as fitted_prior_note
from passband.stats.interval.fit.spiked_beta import MIN_WEIGHT, fit_spiked, fitted_prior
from passband.stats.interval.methods import Interval, method
from passband.stats.interval.posterior.beta_mixture import BetaMixture
from passband.stats.interval.posterior.latent_values import latent_values
from passband.stats.interval.posterior.mean_law import LatentLaw, beta_nodes, law_of_mean
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.components import PosteriorMean, blend
from passband.stats.metric.registry import Metric

__all__ = ["empirical_bayes", "hierarchical", "jeffreys", "uniform"]


@method("uniform", over=("trials",), summary="posterior quantiles, Beta(1, 1) for each problem")
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
    return _told(request, _under_beta(request, 1.0, 1.0))


@method("jeffreys", over=("trials",), summary="posterior quantiles, Beta(1/2, 1/2) for each")
def jeffreys(request: IntervalRequest) -> Interval:
    """Return quantiles of the posterior under the Jeffreys prior for each problem.

    Pulls half as hard as "uniform" and in the same direction; the same caution applies.

    Reference: Brown, Cai & DasGupta 2001, "Interval estimation for a binomial proportion".

    >>> from passband import Outcomes, estimate
    >>> one = estimate(Outcomes.from_counts([7], 10), "pass@1", over="trials", method="jeffreys")
    >>> round(one.low, 3), round(one.high, 3)  # those of Beta(7.5, 3.5)
    (0.394, 0.907)
    """
    return _told(request, _under_beta(request, 0.5, 0.5))


@method(
    "empirical-bayes", over=("trials",), summary="posterior quantiles, Beta(a, b) fitted to all"
)
def empirical_bayes(request: IntervalRequest) -> Interval:
    """Return quantiles of the posterior under the Beta prior that makes the data most likely.

    Removes most of the pull of a fixed prior. Not for fewer than about 30 problems, since the
    fitted prior is taken as known; "hierarchical" is the same idea without that. There is no
    interval where all trials came out alike.

    Reference: Schaeffer et al. 2025, "How do large language monkeys get their power (laws)?"
    (arXiv 2502.17578).

    >>> from passband import Outcomes, estimate
    >>> outcomes = Outcomes.from_counts([0, 0, 0, 1, 2, 5, 8, 8] * 5, 8)
    >>> found = estimate(outcomes, "pass@8", over="trials", method="empirical-bayes")
    >>> round(found.low, 2), round(found.high, 2)
    (0.54, 0.65)
    """
    _need_latent(request)
    pairs = request.outcomes.histogram.at_least(request.k)
    if not pairs.successes.any() or (pairs.successes == pairs.trials).all():
        return Interval(None, None, None, (ALL_TRIALS_ALIKE,))
    prior = fitted_prior(pairs)
    note = fitted_prior_note(prior.alpha, prior.beta)
    told = _told(request, _under_beta(request, prior.alpha, prior.beta)).with_notes(note)
    return told.with_notes(PRIOR_ON_EDGE) if prior.on_edge else told


@method(
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
    >>> found = estimate(outcomes, "pass@8", method="hierarchical")
    >>> round(found.low, 2), round(found.high, 2)
    (0.47, 0.76)
    """
    _need_latent(request)
    fitted = fit_spiked(request.outcomes, request.k)
    models = [model for model in fitted if model.weight > MIN_WEIGHT]
    most = request.outcomes.most_trials()
    if request.over == "problems":
        laws = [model.of_population(request.metric, most) for model in models]
    else:
        laws = [model.of_problems(request.metric, most) for model in models]
    pieces = BetaMixture.together(laws, [model.weight for model in models])
    ends = pieces.quantiles(request.tail, request.range())
    told = _told(request, _Posterior(pieces.mean, pieces.sd, *ends))
    if most == 1 and request.over == "trials":
        told = told.with_notes(ONE_TRIAL_PRIOR)
    if request.over == "problems" and request.outcomes.clusters is not None:
        told = told.with_notes(CLUSTERS_IGNORED)
    return told


@dataclass(frozen=True)
class _Posterior:
    mean: float
    sd: float
    low: float
    high: float


def _told(request: IntervalRequest, posterior: _Posterior) -> Interval:
    """Return the interval, with its mean and with a warning where the prior speaks loudest."""
    mean, sd, seen = posterior.mean, posterior.sd, request.value
    notes = [posterior_mean(mean)]
    if abs(mean - seen) > 2.0 * sd + 1e-12:
        notes.append(prior_dominates(mean, seen, sd))
    if not posterior.low - 1e-12 <= seen <= posterior.high + 1e-12:
        notes.append(value_outside(seen))
    return Interval(posterior.low, posterior.high, sd, tuple(notes))


def _need_latent(request: IntervalRequest) -> None:
    """Refuse what has no latent value to be known about."""
    if not request.outcomes.is_binary:
        raise InvalidInput(
            "posterior intervals need scores of 0 or 1; binarize the scores or use method='auto'."
        )
    if any(isinstance(part, PosteriorMean) for part in request.metric.parts):
        raise InvalidInput(
            "posterior intervals are about success rates, and bayes is a posterior mean already; "
            f"ask for avg; got {request.metric.name!r}."
        )


def _under_beta(request: IntervalRequest, alpha: float, beta: float) -> _Posterior:
    """Return the posterior of the metric when each problem has the same Beta prior."""
    _need_latent(request)
    pairs, metric = request.outcomes.histogram.at_least(request.k), request.metric
    good = np.asarray(pairs.successes + alpha, dtype=np.float64)
    bad = np.asarray(pairs.trials - pairs.successes + beta, dtype=np.float64)
    p, weights = beta_nodes(good, bad)
    most = request.outcomes.most_trials()
    values = np.stack([latent_values(part, p, request.k, most) for part in metric.parts])
    if metric.powers is not None and pairs.n_problems > 1:
        pieces = _blended(law_of_mean(values, weights, pairs.problems), metric)
        ends = pieces.quantiles(request.tail, request.range())
        return _Posterior(pieces.mean, pieces.sd, *ends)
    if metric.powers is not None:
        values = blend(np.moveaxis(values, 0, -1), metric.powers)[None]
    law = law_of_mean(values, weights, pairs.problems)
    ends = law.quantiles(request.tail, request.range())
    return _Posterior(float(law.mean[0]), float(law.sd[0]), *ends)


def _blended(law: LatentLaw, metric: Metric) -> BetaMixture:
    """Return the law of a blend of means from their joint law."""
    assert metric.powers is not None
    clipped = [
        np.clip(axis, *part.bounds) for axis, part in zip(law.axes, metric.parts, strict=True)
    ]
    grid = np.stack(np.meshgrid(*clipped, indexing="ij"), axis=-1)
    weights = np.maximum(law.masses, 0.0)
    return BetaMixture.of_cells(blend(grid, metric.powers), weights / weights.sum())
