"""Slow twins: every metric straight from its definition, in exact rational arithmetic.

Nothing here uses a credit vector, a float or a closed form of the package. A metric on 0/1 trials
is a sum over the ways to pick k of n trials of which c succeeded; a latent value is an integral
over a Beta or Dirichlet posterior, written with gamma functions at 120 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations

import mpmath

DIGITS = 120


# -- k of the n recorded trials --------------------------------------------------------------


@dataclass(frozen=True)
class Draws:
    """All ways to pick k of n trials, c of which succeeded, by the number of successes picked."""

    n: int
    c: int
    k: int

    @cached_property
    def ways(self) -> list[int]:
        n, c, k = self.n, self.c, self.k
        return [math.comb(c, j) * math.comb(n - c, k - j) for j in range(k + 1)]

    @cached_property
    def ways_with_at_least(self) -> list[int]:
        return list(accumulate(reversed(self.ways)))[::-1]

    @property
    def total(self) -> int:
        return math.comb(self.n, self.k)

    def at_least(self, successes: int) -> Fraction:
        return Fraction(self.ways_with_at_least[successes], self.total)


def pass_at(draws: Draws) -> Fraction:
    return draws.at_least(1)


def pass_hat(draws: Draws) -> Fraction:
    return draws.at_least(draws.k)


def maj(draws: Draws) -> Fraction:
    return Fraction(sum(w for j, w in enumerate(draws.ways) if 2 * j > draws.k), draws.total)


def g_pass(draws: Draws, tau: Fraction) -> Fraction:
    return draws.at_least(max(1, math.ceil(tau * draws.k)))


def mg_pass(draws: Draws) -> Fraction:
    """(2/k) times the sum of g-pass at the thresholds i/k, i above ceil(k/2)."""
    least = math.ceil(Fraction(draws.k, 2)) + 1
    return Fraction(2 * sum(draws.ways_with_at_least[least:]), draws.k * draws.total)


def mg_pass_integral(draws: Draws) -> Fraction:
    """Twice the integral of g-pass over tau in [1/2, 1].

    For tau in ((i-1)/k, i/k] g-pass asks for i successes, so the integrand is a staircase. The
    part of a step that lies above 1/2 has length (2i - max(2(i-1), k)) / 2k.
    """
    k, area = draws.k, 0
    for i in range(1, k + 1):
        if 2 * i > k:
            area += (2 * i - max(2 * (i - 1), k)) * draws.ways_with_at_least[i]
    return Fraction(2 * area, 2 * k * draws.total)


def auc_curve(n: int, c: int) -> list[Fraction]:
    """The trapezoidal area under pass@1 .. pass@k over k - 1, for k = 1..n."""
    passes = [pass_at(Draws(n, c, j)) for j in range(1, n + 1)]
    areas = accumulate((passes[j] + passes[j + 1]) / 2 for j in range(n - 1))
    return [passes[0], *(area / (k - 1) for k, area in enumerate(areas, start=2))]


def auc(draws: Draws) -> Fraction:
    return auc_curve(draws.n, draws.c)[draws.k - 1]


def spectrum(draws: Draws, weights: Sequence[Fraction]) -> Fraction:
    common = math.lcm(*(w.denominator for w in weights))
    scaled = [int(w * common) for w in weights]
    area = sum(w * ways for w, ways in zip(scaled, draws.ways_with_at_least[1:], strict=True))
    return Fraction(area, common * draws.total)


def geom_squared(draws: Draws) -> Fraction:
    return pass_at(draws) * pass_hat(draws)


COUNTED: dict[str, Callable[[Draws], Fraction]] = {
    "pass@": pass_at,
    "pass^": pass_hat,
    "unanimous@": pass_hat,
    "maj@": maj,
    "g-pass@": pass_hat,
    "mg-pass@": mg_pass,
    "mg-pass-integral@": mg_pass_integral,
    "auc@": auc,
}


# -- rewards -----------------------------------------------------------------------------------


def max_at(rewards: Sequence[float], k: int) -> Fraction:
    """The expected largest of k of the rewards, by order statistics."""
    ordered = sorted(map(Fraction, rewards))
    n = len(ordered)
    ways = sum(math.comb(i - 1, k - 1) * ordered[i - 1] for i in range(k, n + 1))
    return Fraction(ways, math.comb(n, k))


def max_at_by_hand(rewards: Sequence[float], k: int) -> Fraction:
    """The same by looking at every subset."""
    best = [max(subset) for subset in combinations(map(Fraction, rewards), k)]
    return sum(best, Fraction(0)) / len(best)


def avg(rewards: Sequence[float]) -> Fraction:
    return sum(map(Fraction, rewards), Fraction(0)) / len(rewards)


# -- latent values -----------------------------------------------------------------------------

Credit = Sequence[Fraction]


def threshold_credit(k: int, least: int) -> list[Fraction]:
    return [Fraction(j >= least) for j in range(k + 1)]


def latent_credits(k: int) -> dict[str, list[Fraction]]:
    """What j successes among k draws are worth: the metric of j successes in k recorded trials."""
    names = {**COUNTED, "auc@": lambda draws: auc_curve(k, draws.c)[k - 1]}
    return {
        name: [twin(Draws(k, j, k)) for j in range(k + 1)]
        for name, twin in names.items()
        if name not in ("unanimous@", "g-pass@")
    }


def beta_moments(
    n: int, c: int, alpha: float, beta: float, *credits: Credit
) -> tuple[list[mpmath.mpf], list[list[mpmath.mpf]]]:
    """Means and covariances of ``sum_j s_j Binomial(j; k, p)`` for p ~ Beta(alpha+c, beta+n-c)."""
    with mpmath.workdps(DIGITS):
        k = len(credits[0]) - 1
        a, b = mpmath.mpf(alpha) + c, mpmath.mpf(beta) + n - c
        once = [_beta_power(a, b, j, k - j) for j in range(k + 1)]
        twice = [_beta_power(a, b, j, 2 * k - j) for j in range(2 * k + 1)]
        terms = [[math.comb(k, j) * _mpf(s) for j, s in enumerate(credit)] for credit in credits]
        means = [mpmath.fdot(term, once) for term in terms]
        covariances = [
            [_product(x, y, twice) - ex * ey for y, ey in zip(terms, means, strict=True)]
            for x, ex in zip(terms, means, strict=True)
        ]
        return means, covariances


def _beta_power(a: mpmath.mpf, b: mpmath.mpf, i: int, j: int) -> mpmath.mpf:
    """E[p^i (1-p)^j] for p ~ Beta(a, b)."""
    return mpmath.rf(a, i) * mpmath.rf(b, j) / mpmath.rf(a + b, i + j)


def _product(x: Sequence, y: Sequence, twice: Sequence) -> mpmath.mpf:
    return mpmath.fsum(
        xi * yj * twice[i + j] for i, xi in enumerate(x) if xi for j, yj in enumerate(y) if yj
    )


def _mpf(number: Fraction | float) -> mpmath.mpf:
    if isinstance(number, Fraction):
        return mpmath.mpf(number.numerator) / number.denominator
    return mpmath.mpf(float(number))


def dirichlet_mean_moments(
    counts: Sequence[int], rewards: Sequence[float]
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and variance of ``sum_j w_j p_j`` for p ~ Dirichlet(counts + 1)."""
    with mpmath.workdps(DIGITS):
        pseudo = [mpmath.mpf(count + 1) for count in counts]
        worth = [_mpf(reward) for reward in rewards]
        powers = range(len(pseudo))
        mean = mpmath.fsum(worth[i] * _dirichlet_power(pseudo, {i: 1}) for i in powers)
        square = mpmath.fsum(
            worth[i] * worth[j] * _dirichlet_power(pseudo, {i: 2} if i == j else {i: 1, j: 1})
            for i in powers
            for j in powers
        )
        return mean, square - mean**2


def dirichlet_max_moments(
    counts: Sequence[int], rewards: Sequence[float], k: int
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and variance of the expected best of k draws for p ~ Dirichlet(counts + 1).

    The best of k categories drawn from p is averaged over all category counts of the k draws,
    and its square over those of two independent sets of k draws.
    """
    with mpmath.workdps(DIGITS):
        pseudo = [mpmath.mpf(count + 1) for count in counts]
        worth = [_mpf(reward) for reward in rewards]
        picks = [
            (pick, _multinomial(pick), max(w for w, m in zip(worth, pick, strict=True) if m))
            for pick in _compositions(k, len(pseudo))
        ]
        mean = mpmath.fsum(
            ways * best * _dirichlet_power(pseudo, dict(enumerate(pick)))
            for pick, ways, best in picks
        )
        square = mpmath.fsum(
            ways
            * best
            * other_ways
            * other_best
            * _dirichlet_power(pseudo, {i: pick[i] + other[i] for i in range(len(pick))})
            for pick, ways, best in picks
            for other, other_ways, other_best in picks
        )
        return mean, square - mean**2


def _dirichlet_power(pseudo: Sequence[mpmath.mpf], powers: dict[int, int]) -> mpmath.mpf:
    """E[prod_i p_i^m_i] for p ~ Dirichlet(pseudo)."""
    above = mpmath.fprod(mpmath.rf(pseudo[i], m) for i, m in powers.items())
    return above / mpmath.rf(mpmath.fsum(pseudo), sum(powers.values()))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _multinomial(pick: Sequence[int]) -> int:
    ways, left = 1, sum(pick)
    for m in pick:
        ways *= math.comb(left, m)
        left -= m
    return ways
