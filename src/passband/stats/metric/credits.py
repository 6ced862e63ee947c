"""Credit vectors: the one shape that every pass-like metric has.

A credit vector ``s_0 .. s_k`` is the credit earned by j successes among k draws. From it follow

- the observed value of a problem with c of n successes: ``sum_j s_j P(j | k of the n trials)``;
- the latent value at success probability p: ``g(p) = sum_j s_j Binomial(j; k, p)``, a Bernstein
  polynomial, with posterior moments under a Beta prior;
- the curve over every k.

All sums are of non-negative terms, so nothing cancels and relative accuracy is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import ROUNDING
from passband.stats.data.counts import Histogram
from passband.stats.metric.pmf import subset_pmf
from passband.types import ArrayLike, Floats, Ints


def at_least(k: int, threshold: int) -> Floats:
    """Return a credit of 1 for `threshold` successes or more.

    >>> at_least(3, 2).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    return (np.arange(k + 1) >= threshold).astype(np.float64)


def all_of(k: int) -> Floats:
    """Return a credit of 1 when every draw succeeds."""
    return at_least(k, k)


def majority(k: int) -> Floats:
    """Return a credit of 1 for more than half of the draws; a tie earns nothing."""
    return at_least(k, k // 2 + 1)


def share(k: int) -> Floats:
    """Return a credit of j/k, which gives the mean."""
    return np.arange(k + 1) / k


def success_threshold(k: int, tau: float | Fraction) -> int:
    """Return the least number of successes that is a share of at least tau of k.

    This is max(1, ceil(tau k)) in the sense a person means: 0.28 of 25 is 7, although the float
    product 0.28 * 25 is 7.000000000000001. A float is compared with j/k rounded the same way, so
    both decimals and computed quotients hit the threshold that is meant. A Fraction is exact.

    >>> success_threshold(25, 0.28), success_threshold(6, 5 / 6), success_threshold(8, 0)
    (7, 5, 1)
    """
    if isinstance(tau, Fraction):
        return max(1, math.ceil(tau * k))
    near = math.floor(tau * k)
    return max(1, next(j for j in range(max(0, near - 1), k + 1) if j / k >= tau))


def at_least_share(k: int, tau: float | Fraction) -> Floats:
    """Return a credit of 1 for a share of at least tau of the draws."""
    return at_least(k, success_threshold(k, tau))


def mean_over_shares(k: int) -> Floats:
    """Return the credit of mG-Pass@k as published: the mean of G-Pass@k above one half.

    ``(2/k) max(0, j - ceil(k/2))``. At odd k the largest credit is (k-1)/k, so a perfect model
    does not reach 1, and at k = 1 everything is 0; `mean_over_shares_integral` has no such gap.

    >>> mean_over_shares(4).tolist(), mean_over_shares(1).tolist()
    ([0.0, 0.0, 0.0, 0.5, 1.0], [0.0, 0.0])
    """
    credit: Floats = 2.0 * np.maximum(np.arange(k + 1) - (k + 1) // 2, 0) / k
    return credit


def mean_over_shares_integral(k: int) -> Floats:
    """Return the credit of mG-Pass@k as an integral: 2 times G-Pass@k over tau from 1/2 to 1.

    ``max(0, 2j/k - 1)``; the same as `mean_over_shares` at even k, and 1 for a perfect model.

    >>> mean_over_shares_integral(1).tolist(), mean_over_shares_integral(4).tolist()
    ([0.0, 1.0], [0.0, 0.0, 0.0, 0.5, 1.0])
    """
    credit: Floats = np.maximum(2.0 * np.arange(k + 1) - k, 0.0) / k
    return credit


def auc(k: int) -> Floats:
    """Return the credit of the area under pass@1 .. pass@k by the trapezoidal rule.

    The area is divided by k - 1. With j successes among k draws the sum of pass@1 .. pass@k is
    (k+1) j/(j+1).

    >>> auc(1).tolist(), auc(2).tolist()
    ([0.0, 1.0], [0.0, 0.75, 1.0])
    """
    if k == 1:
        return share(1)
    j = np.arange(1, k + 1)
    whole = (k + 1) * (j / (j + 1)) - (j / k + 1) / 2
    return np.concatenate([[0.0], whole / (k - 1)])


def spectrum(weights: ArrayLike) -> Floats:
    """Return the credit of a threshold spectrum: j successes pass the first j thresholds.

    >>> spectrum([0.5, 0.0, 0.25]).tolist()
    [0.0, 0.5, 0.5, 0.75]
    """
    return np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=np.float64))])


def upper_half_weights(k: int) -> Floats:
    """Return the spectrum weights of mG-Pass@k: 2/k on every threshold above ceil(k/2)."""
    return np.where(np.arange(1, k + 1) > (k + 1) // 2, 2.0 / k, 0.0)


def spectrum_weights(weights: ArrayLike, k: int) -> Floats:
    """Check custom spectrum weights: k of them, finite, not negative, of sum at most 1."""
    if np.ma.is_masked(weights):
        raise InvalidInput(f"weights must not be masked; got {weights!r}")
    try:
        raw = np.asarray(weights)
    except ValueError:
        raise InvalidInput(f"weights must be a length-{k} 1D array; got {weights!r}") from None
    if raw.shape != (k,):
        raise InvalidInput(f"weights must be a length-{k} 1D array; got shape {raw.shape}")
    if raw.dtype.kind == "c":
        raise InvalidInput("weights must contain real values, not complex values")
    if raw.dtype.kind not in "biuf":
        raise InvalidInput(f"weights must contain only numeric values; got {weights!r}")
    with np.errstate(over="ignore"):
        values: Floats = raw.astype(np.float64)
    if not np.isfinite(values).all():
        raise InvalidInput(f"weights must be finite; got {values.tolist()}")
    if (values < 0).any():
        raise InvalidInput(f"weights must be non-negative; got {values.tolist()}")
    if (total := float(values.sum())) > 1.0 + ROUNDING:
        raise InvalidInput(f"weights must satisfy sum(weights) <= 1; got sum={total}")
    return values


_LARGEST_TABLE = 1 << 21  # entries; beyond, degree elevation is faster and needs no table
_LARGEST_KEPT = 1 << 14


def expected_credit(trials: Ints, successes: Ints, credit: Floats) -> Floats:
    """Return the mean credit over all ways to pick k of the n trials, for each (n, c) pair.

    Values above half of the largest credit are computed from what they lack, so that a problem
    which cannot miss gets exactly the largest credit, and one which cannot hit exactly zero.

    >>> at_least_one = np.array([0.0, 1.0, 1.0])
    >>> expected_credit(np.array([5, 5]), np.array([3, 5]), at_least_one).round(6).tolist()
    [0.9, 1.0]
    """
    if len(trials) * len(credit) > _LARGEST_KEPT:
        stepped = _step_credit(trials, successes, credit)
        if stepped is not None:
            return stepped
    top = credit.max()
    both = np.stack([credit, top - credit], axis=1)
    if len(trials) * len(credit) > _LARGEST_TABLE:
        earned, lacking = _by_elevation(trials, successes, both).T
    else:
        earned, lacking = (_subset_table(trials, successes, len(credit) - 1) @ both).T
    result: Floats = np.where(earned <= top / 2, earned, top - lacking)
    return result


def elevate(credit: Floats) -> Floats:
    """Return the same metric as a credit vector over one more draw.

    With j successes among k+1 draws, leaving one out at random leaves j-1 with probability
    j/(k+1). This is the degree elevation of Bernstein polynomials. `credit` may have columns.
    """
    draws = len(credit)
    j = np.arange(1, draws + 1).reshape(-1, *[1] * (credit.ndim - 1))
    longer = np.zeros((draws + 1, *credit.shape[1:]))
    longer[1:] = credit * (j / draws)
    longer[:-1] += credit * (j[::-1] / draws)
    return longer


def products(credits: Floats) -> tuple[Floats, Floats]:
    """Return latent values and all their pairwise products as credits over 2k draws.

    `credits` has a column per metric; the results have a row per number l of successes among 2k
    draws: (rows, metrics) and (rows, metrics, metrics). Split the draws in half at random: a
    value is the mean credit of one half, a product that of one half times the other's.
    """
    k, count = len(credits) - 1, credits.shape[1]
    single, double = np.empty((2 * k + 1, count)), np.empty((2 * k + 1, count, count))
    step = max(1, _LARGEST_TABLE // (k + 1))
    for start in range(0, 2 * k + 1, step):
        rows = slice(start, min(start + step, 2 * k + 1))
        weights, other = _halves(k, rows.start, rows.stop)
        single[rows] = weights @ credits
        for column in range(count):
            double[rows, column] = (weights * credits[other, column]) @ credits
    return single, double


def none_of_first(trials: Ints, hits: Ints) -> Floats:
    """Return P(no hit among k of the n trials) for k = 1, 2, ..., a row per pair.

    Where k exceeds n the entry means nothing and is zero.
    """
    drawn = np.arange(int(trials.max()))
    left = np.maximum(trials[:, None] - drawn, 1)
    return np.cumprod(np.maximum(trials[:, None] - hits[:, None] - drawn, 0) / left, axis=1)


def subset_histograms(histogram: Histogram) -> Iterator[tuple[int, Floats, int]]:
    """Yield, for k from the largest n down to 1, the probabilities of j successes, summed.

    Each item is (k, totals over j = 0..k of P(j | k draws), problems with n >= k). Leaving one
    draw out at random leads from k+1 to k; problems with exactly k trials join as k comes by.
    The whole curve of every metric is a dot product with these, in O(n**2) for any number of
    problems.
    """
    longest = int(histogram.trials.max(initial=0))
    totals: Floats = np.zeros(longest + 2)
    problems = 0
    for k in range(longest, 0, -1):
        j = np.arange(k + 1)
        # P(j of k) = P(j of k+1) (k+1-j) / (k+1) + P(j+1 of k+1) (j+1) / (k+1)
        totals = totals[:-1] * ((k + 1 - j) / (k + 1)) + totals[1:] * ((j + 1) / (k + 1))
        joining = histogram.trials == k
        if joining.any():
            totals[histogram.successes[joining]] += histogram.problems[joining]
            problems += int(histogram.problems[joining].sum())
        yield k, totals, problems


def _step_credit(trials: Ints, successes: Ints, credit: Floats) -> Floats | None:
    """Return the expected credit where it is 1 for any success or for all; None for others.

    With h hits among n trials, no draw of k is a hit with probability
    ``prod_(i<h) (1 - k / (n - i))``; its logarithm is a running sum, so large n cost little.
    """
    k = len(credit) - 1
    if np.array_equal(credit, np.arange(k + 1) >= 1):
        hits = successes
    elif np.array_equal(credit, np.arange(k + 1) >= k):
        hits = trials - successes
    else:
        return None
    logs = np.empty(len(trials))
    for n in np.unique(trials).tolist():
        rows = trials == n
        running = np.full(n + 1, -np.inf)
        running[: n - k + 1] = np.concatenate(
            [[0.0], np.cumsum(np.log1p(-k / (n - np.arange(n - k))))]
        )
        logs[rows] = running[hits[rows]]
    missed: Floats = np.exp(logs)
    return missed if hits is not successes else -np.expm1(logs)


def _subset_table(trials: Ints, successes: Ints, k: int) -> Floats:
    """Return `subset_pmf`, from a kept table where every problem has the same n."""
    n = int(trials[0]) if len(trials) else k
    if (n + 1) * (k + 1) <= _LARGEST_KEPT and (trials == n).all():
        return _whole_table(n, k)[successes]
    return subset_pmf(trials, successes, k)


@lru_cache(maxsize=128)
def _whole_table(n: int, k: int) -> Floats:
    return subset_pmf(np.full(n + 1, n), np.arange(n + 1), k)


def _halves(k: int, start: int, stop: int) -> tuple[Floats, Ints]:
    """Return P(i successes in one half | l of 2k draws) for l in a range, and the other half's."""
    kept = (stop - start) * (k + 1) <= _LARGEST_KEPT
    return _kept_halves(k, start, stop) if kept else _made_halves(k, start, stop)


def _made_halves(k: int, start: int, stop: int) -> tuple[Floats, Ints]:
    successes = np.arange(start, stop)
    other = successes[:, None] - np.arange(k + 1)
    weights = subset_pmf(np.full(len(successes), 2 * k), successes, k)
    return weights, np.clip(other, 0, k)  # where it was out of range, the weight is zero


_kept_halves = lru_cache(maxsize=64)(_made_halves)


def _by_elevation(trials: Ints, successes: Ints, credits: Floats) -> Floats:
    """Return the expected credits by raising the number of draws from k to n, one by one."""
    values = np.empty((len(trials), credits.shape[1]))
    for n in range(len(credits) - 1, int(trials.max()) + 1):
        rows = trials == n
        values[rows] = credits[successes[rows]]
        credits = elevate(credits)
    return values
