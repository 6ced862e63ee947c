"""The probabilities of j successes among k draws.

- k of the n trials that were recorded, drawn without replacement: hypergeometric;
- k new trials of a problem whose success probability is known: binomial;
- k new trials of a problem whose success probability is Beta distributed: beta-binomial.

They are made of rising factorials far beyond the range of a float, kept as mantissa times a power
of two. 10,000! has 35,660 digits. Products and quotients of such numbers, which is what every
probability of this package is made of, are taken on the mantissas, while the exponents are added as
integers. No logarithm is taken, so no digit is lost to one: a factorial of n carries a relative
error of at most n/2 units in the last place, and a probability built from nine of them stays within
1e-12 far beyond n = 1,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passband.types import Floats, Ints

_BLOCK = 512  # 512 mantissas of at least 1/2 multiply to no less than 2**-512


@dataclass(frozen=True, eq=False)
class Scaled:
    """The numbers ``mantissa * 2**exponent``."""

    mantissa: Floats
    exponent: Ints

    def take(self, index: Ints) -> Scaled:
        return Scaled(self.mantissa[index], self.exponent[index])

    def __mul__(self, other: Scaled) -> Scaled:
        return Scaled(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __truediv__(self, other: Scaled) -> Scaled:
        return Scaled(self.mantissa / other.mantissa, self.exponent - other.exponent)

    def value(self) -> Floats:
        """Return plain floats; numbers too small for one become zero."""
        result: Floats = np.ldexp(self.mantissa, self.exponent)
        return result


def rising(start: float, length: int) -> Scaled:
    """Return ``start (start+1) ... (start+m-1)`` for m = 0, 1, ..., at least up to `length`."""
    return _rising(float(start), _roomy(length))


def factorials(length: int) -> Scaled:
    """Return 0!, 1!, ..., at least up to `length`!."""
    return _rising(1.0, _roomy(length))


def inverse_factorials(length: int) -> Scaled:
    """Return 1/0!, 1/1!, ..., followed by as many zeros.

    An index of -1, -2, ... reads from the far end of a numpy array and so meets a zero, which is
    the value of 1/m! at negative m. Binomial coefficients outside their range are zero for free.
    """
    return _inverse_factorials(_roomy(length))


def _roomy(length: int) -> int:
    """Round up to a power of two, so that few tables are ever built."""
    return max(256, 1 << int(length).bit_length())


@lru_cache(maxsize=32)
def _rising(start: float, length: int) -> Scaled:
    # Mantissas are at least 1/2, so the product of a block cannot underflow.
    mantissa, exponent = np.frexp(start + np.arange(length, dtype=np.float64))
    padding = -length % _BLOCK
    blocks = np.pad(mantissa, (0, padding), constant_values=1.0).reshape(-1, _BLOCK)
    products, shift = np.frexp(np.cumprod(blocks, axis=1))
    exponent = np.pad(exponent, (0, padding)).reshape(-1, _BLOCK).cumsum(axis=1) + shift
    carried, carried_exponent = 1.0, 0
    for row in range(len(products)):
        products[row] *= carried
        exponent[row] += carried_exponent
        carried, carried_exponent = float(products[row, -1]), int(exponent[row, -1])
        fraction, extra = np.frexp(carried)
        carried, carried_exponent = float(fraction), carried_exponent + int(extra)
    return _frozen(
        np.concatenate([[1.0], products.ravel()[:length]]),
        np.concatenate([[0], exponent.ravel()[:length]]),
    )


@lru_cache(maxsize=8)
def _inverse_factorials(length: int) -> Scaled:
    table = _rising(1.0, length)
    zeros = np.zeros(length + 1)
    return _frozen(
        np.concatenate([1.0 / table.mantissa, zeros]),
        np.concatenate([-table.exponent, zeros]),
    )


def _frozen(mantissa: Floats, exponent: Ints) -> Scaled:
    # The tables are cached and shared by all callers.
    exponent = exponent.astype(np.int32)
    mantissa.flags.writeable = exponent.flags.writeable = False
    return Scaled(mantissa, exponent)


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
    from passband.stats.special import gammaln

    ways: Floats = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return ways


def binomial_pmf(n: Ints | int, j: Ints, p: Floats | float) -> Floats:
    """Return P(j successes in n trials) at success probability p; the arguments broadcast.

    ``C(n, j) p^j (1-p)^(n-j)``, which is exact at p = 0 and p = 1.

    >>> binomial_pmf(2, np.arange(3), 0.5).round(9).tolist()
    [0.25, 0.5, 0.25]
    """
    from passband.stats.special import xlog1py, xlogy

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
