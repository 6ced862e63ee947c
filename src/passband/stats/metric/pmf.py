"""The probabilities of j successes among k draws.

- k of the n trials that were recorded, drawn without replacement: hypergeometric;
- k new trials of a problem whose success probability is known: binomial;
- k new trials of a problem whose success probability is Beta distributed: beta-binomial.
"""

from __future__ import annotations

import numpy as np

from passband.stats.metric.factorials import factorials, inverse_factorials, rising
from passband.types import Floats, Ints

__all__ = ["beta_binomial_pmf", "binomial_pmf", "log_choose", "subset_pmf"]


def subset_pmf(trials: Ints, successes: Ints, k: int) -> Floats:
    """Return P(j successes among k of the recorded trials), one row per (n, c) pair.

    ``C(c, j) C(n-c, k-j) / C(n, k)`` for j = 0..k; every n must be at least k.

    >>> subset_pmf(np.array([5]), np.array([3]), 2).round(3).tolist()
    [[0.1, 0.6, 0.3]]
    """
    n, c, j = trials[:, None], successes[:, None], np.arange(k + 1)
    longest = int(trials.max(initial=k))
    whole, inverse = factorials(longest), inverse_factorials(longest)
    rows = whole.take(c) * whole.take(n - c) * whole.take(n - k) * inverse.take(n)
    columns = whole.take(np.array([k])) * inverse.take(j) * inverse.take(k - j)
    return (rows * columns * inverse.take(c - j) * inverse.take(n - c - k + j)).value()


def log_choose(n: Ints | int, j: Ints | int) -> Floats:
    """Return log C(n, j), the logarithm of the number of ways to choose j of n.

    >>> np.exp(log_choose(4, np.arange(5))).round(9).tolist()
    [1.0, 4.0, 6.0, 4.0, 1.0]
    """
    from scipy.special import gammaln

    ways: Floats = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return ways


def binomial_pmf(n: Ints | int, j: Ints, p: Floats | float) -> Floats:
    """Return P(j successes in n trials) at success probability p; the arguments broadcast.

    ``C(n, j) p^j (1-p)^(n-j)``, which is exact at p = 0 and p = 1.

    >>> binomial_pmf(2, np.arange(3), 0.5).round(9).tolist()
    [0.25, 0.5, 0.25]
    """
    from scipy.special import xlog1py, xlogy

    pmf: Floats = np.exp(log_choose(n, j) + xlogy(j, p) + xlog1py(n - j, np.negative(p)))
    return pmf


def beta_binomial_pmf(
    trials: Ints, successes: Ints, draws: int, alpha: float, beta: float
) -> Floats:
    """Return P(l successes in new draws) after c of n successes and a Beta(alpha, beta) prior.

    ``C(m, l) (alpha+c)_l (beta+n-c)_(m-l) / (alpha+beta+n)_m`` for l = 0..m, where ``(x)_l`` is
    the rising factorial and m the number of draws.

    >>> beta_binomial_pmf(np.array([0]), np.array([0]), 3, 1.0, 1.0).round(3).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    n, c, drawn = trials[:, None], successes[:, None], np.arange(draws + 1)
    longest = int(trials.max(initial=0)) + draws
    good, bad, both = rising(alpha, longest), rising(beta, longest), rising(alpha + beta, longest)
    whole, inverse = factorials(draws), inverse_factorials(draws)
    rows = both.take(n) / (good.take(c) * bad.take(n - c) * both.take(n + draws))
    columns = whole.take(np.array([draws])) * inverse.take(drawn) * inverse.take(draws - drawn)
    return (rows * columns * good.take(c + drawn) * bad.take(n - c + draws - drawn)).value()
