"""Rising factorials far beyond the range of a float, as mantissa times a power of two.

10,000! has 35,660 digits. Products and quotients of such numbers, which is what every
probability of this package is made of, are taken on the mantissas, while the exponents are
added as integers. No logarithm is taken, so no digit is lost to one: a factorial of n carries
a relative error of at most n/2 units in the last place, and a probability built from nine of
them stays within 1e-12 far beyond n = 1,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from passband.types import Floats, Ints

__all__ = ["Scaled", "factorials", "inverse_factorials", "rising"]

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
    exponent = exponent.astype(np.int32)
    mantissa.flags.writeable = exponent.flags.writeable = False
    return Scaled(mantissa, exponent)
