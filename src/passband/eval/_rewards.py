"""Rewards by category: the posterior mean, the plain mean, and the best of k."""

from __future__ import annotations

from passband.eval import _checks
from passband.eval._checks import Four, Two
from passband.stats.metric import posterior
from passband.types import ArrayLike


def bayes(R: ArrayLike, w: ArrayLike | None = None, R0: ArrayLike | None = None) -> Two:
    r"""Return posterior mean and standard deviation of the expected reward of one trial.

    Entries of R are categories 0..C, worth ``w[category]``. Every category starts with one
    pseudo-outcome per problem, to which the outcomes in R0 are added. With
    :math:`\nu_{ij}` the outcomes and pseudo-outcomes of problem i in category j, and T their sum,

    .. math:: \mu = \frac{1}{M} \sum_i \sum_j \frac{\nu_{ij}}{T} w_j, \qquad
              \sigma^2 = \frac{1}{M^2} \sum_i \frac{\mathrm{Var}_{\nu_i / T}(w)}{T + 1}

    Reference: Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265.

    >>> R, w = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0]
    >>> tuple(round(x, 6) for x in bayes(R, w, R0=[[0, 2], [1, 2]]))
    (0.575, 0.084275)
    """
    counts, rewards = _checks.categories(R, w, R0)
    moments = posterior.mean_moments(counts, rewards)
    return moments.mean, moments.sd


def bayes_ci(
    R: ArrayLike,
    w: ArrayLike | None = None,
    R0: ArrayLike | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Four:
    """Return `bayes` with a normal credible interval, clipped to `bounds` if given.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in bayes_ci(R, bounds=(0.0, 1.0)))
    (0.6429, 0.1185, 0.4107, 0.875)
    """
    mean, sd = bayes(R, w, R0)
    return _checks.interval(mean, sd, confidence, bounds)


def avg(R: ArrayLike, w: ArrayLike | None = None) -> Two:
    r"""Return the mean reward, with the uncertainty of `bayes` scaled by :math:`T / N`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in avg(R))
    (0.7, 0.1658)
    """
    counts, rewards = _checks.categories(R, w, averaging=True)
    moments = posterior.observed_mean_moments(counts, rewards)
    return moments.mean, moments.sd


def avg_ci(
    R: ArrayLike,
    w: ArrayLike | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Four:
    """Return `avg` with a normal credible interval, clipped to `bounds` if given.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in avg_ci(R, bounds=(0.0, 1.0)))
    (0.7, 0.1658, 0.375, 1.0)
    """
    mean, sd = avg(R, w)
    return _checks.interval(mean, sd, confidence, bounds)


def max_at_k(R: ArrayLike, k: int, w: ArrayLike | None = None) -> float:
    r"""Return the expected best reward among k trials, averaged over problems.

    With rewards :math:`g_1 \le \dots \le g_n` of a problem,

    .. math:: \binom{n}{k}^{-1} \sum_{i=k}^{n} \binom{i-1}{k-1}\, g_i

    which is pass@k for rewards 0 and 1. For rewards that are not categories use
    ``Outcomes.from_array`` and the metric ``max@k``.

    Reference: Bagirov et al. (2025), The Best of N Worlds, arXiv:2510.23393.

    >>> round(max_at_k([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], 2, w=[0.0, 0.5, 1.0]), 6)
    0.85
    """
    counts, rewards = _checks.categories(R, w, prior=False)
    k = _checks.draws(k, counts.vectors.sum(axis=1))
    return posterior.max_at_k(counts, rewards, k)


def max_at_k_ci(
    R: ArrayLike,
    k: int,
    w: ArrayLike | None = None,
    R0: ArrayLike | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Four:
    """Return posterior mean, sd and normal credible interval of latent max@k.

    The prior is that of `bayes`. k may exceed the recorded trials. Without `bounds` the interval
    is clipped to the smallest and largest reward, except at k = 1, which is `bayes_ci`.

    >>> R, w = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0]
    >>> tuple(round(x, 4) for x in max_at_k_ci(R, 2, w))
    (0.75, 0.0881, 0.5773, 0.9227)
    """
    k = _checks.draws(k)
    counts, rewards = _checks.categories(R, w, R0)
    moments = posterior.max_moments(counts, rewards, k)
    limits = bounds
    if bounds is None and k > 1:
        limits = (float(rewards.min()), float(rewards.max()))
    return _checks.interval(moments.mean, moments.sd, confidence, limits)
