"""Exact coverage of intervals for one proportion: n problems, one trial each. Nothing is simulated.

Of n problems k are solved. The interval [low(k), high(k)] contains the true rate theta for some k
and not for others, and the probabilities of those k add up to its coverage at theta. With theta
uniform on [0, 1] the mean coverage has a closed form,

    1/(n+1) * sum over k of [ I(high; k+1, n-k+1) - I(low; k+1, n-k+1) ],

I being the distribution function of the Beta distribution. In brackets the least coverage for
theta = 0.01, 0.011, ..., 0.99. The nominal level is 95 %.

    python benchmarks/proportions.py
    python benchmarks/proportions.py --beside    also at theta just beside the end of an interval,
                                                 where coverage jumps: the least there is

The textbook interval needs hundreds of problems, and so does the bootstrap; see Bowyer, Aitchison
and Ivanova (2025), "Position: Don't use the CLT in LLM evals with fewer than a few hundred
datapoints". The last column is what `passband.estimate` returns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betainc, betaincinv, gammaln, ndtri, stdtrit, xlog1py, xlogy

from passband import Outcomes, estimate

Floats = NDArray[np.float64]
Intervals = tuple[Floats, Floats]  # low and high ends for k = 0, ..., n
SIZES = (3, 10, 30, 100, 300)
TAIL = 0.025
RATES: Floats = np.linspace(0.01, 0.99, 981)
SLACK = 1e-12


def wald(n: int) -> Intervals:
    """Estimate plus and minus 1.96 sqrt(p (1-p) / n)."""
    rate = np.arange(n + 1) / n
    reach = -ndtri(TAIL) * np.sqrt(rate * (1 - rate) / n)
    return rate - reach, rate + reach


def student(n: int) -> Intervals:
    """Estimate plus and minus Student's t times the standard error with n - 1 in it."""
    rate = np.arange(n + 1) / n
    reach = -stdtrit(n - 1, TAIL) * np.sqrt(rate * (1 - rate) / (n - 1))
    return rate - reach, rate + reach


def bootstrap(n: int) -> Intervals:
    """Quantiles of Binomial(n, k/n) / n: the percentile bootstrap with endless resamples."""
    k = np.arange(n + 1)
    below = bdtr(k, n, k[:, None] / n)  # row: observed, column: at most so many in a resample
    below[:, -1] = 1.0
    low, high = ((below >= share - SLACK).argmax(axis=1) / n for share in (TAIL, 1 - TAIL))
    return low, high


def wilson(n: int) -> Intervals:
    """Every rate within 1.96 of its own standard errors from the estimate."""
    rate = np.arange(n + 1) / n
    square = ndtri(TAIL) ** 2 / n
    centre = (rate + square / 2) / (1 + square)
    reach = np.sqrt(square * (rate * (1 - rate) + square / 4)) / (1 + square)
    return centre - reach, centre + reach


def clopper_pearson(n: int) -> Intervals:
    """Every rate that neither tail of the binomial rejects at 2.5 %."""
    k = np.arange(n + 1)
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 1), n - k + 1, TAIL))
    high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 1), 1 - TAIL))
    return low, high


def posterior(prior: float) -> Callable[[int], Intervals]:
    """Equal-tailed quantiles under a Beta(prior, prior)."""

    def ends(n: int) -> Intervals:
        k = np.arange(n + 1)
        a, b = k + prior, n - k + prior
        return betaincinv(a, b, TAIL), betaincinv(a, b, 1 - TAIL)

    return ends


def uniform_normal(n: int) -> Intervals:
    """Mean plus and minus 1.96 sd under a Beta(1, 1), cut to [0, 1]."""
    k = np.arange(n + 1)
    mean = (k + 1) / (n + 2)
    reach = -ndtri(TAIL) * np.sqrt(mean * (1 - mean) / (n + 3))
    return np.clip(mean - reach, 0, 1), np.clip(mean + reach, 0, 1)


def passband(n: int) -> Intervals:
    """Return the default over problems."""
    data = [Outcomes.from_counts([1] * k + [0] * (n - k), 1) for k in range(n + 1)]
    found = [estimate(outcomes, "pass@1") for outcomes in data]
    low = np.array([at.low for at in found], dtype=np.float64)
    return low, np.array([at.high for at in found], dtype=np.float64)


METHODS: dict[str, Callable[[int], Intervals]] = {
    "Wald": wald,
    "t": student,
    "percentile bootstrap": bootstrap,
    "Wilson": wilson,
    "Clopper-Pearson": clopper_pearson,
    "Beta(1,1)": posterior(1.0),
    "Jeffreys": posterior(0.5),
    "Beta(1,1), normal": uniform_normal,
    "passband": passband,
}


def mean_coverage(intervals: Intervals) -> float:
    """Return the coverage averaged over a uniform theta."""
    low, high = (np.clip(ends, 0.0, 1.0) for ends in intervals)
    n = len(low) - 1
    k = np.arange(n + 1)
    within = betainc(k + 1, n - k + 1, high) - betainc(k + 1, n - k + 1, low)
    return float(within.mean())


def coverage_at(intervals: Intervals, theta: Floats) -> Floats:
    """Return the probability, at each theta, that the interval contains it."""
    low, high = intervals
    n = len(low) - 1
    k, rate = np.arange(n + 1), theta[:, None]
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    chance = np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate))
    inside: Floats = (chance * ((low <= rate + SLACK) & (rate <= high + SLACK))).sum(axis=1)
    return inside


def least_coverage(intervals: Intervals, beside: bool = False) -> float:
    """Return the least coverage on a grid of theta, or also beside the ends of the intervals."""
    theta = RATES
    if beside:
        ends = np.concatenate(intervals)
        theta = np.concatenate([theta, ends - 1e-9, ends + 1e-9])
        theta = theta[(theta >= RATES[0]) & (theta <= RATES[-1])]
    return float(coverage_at(intervals, theta).min())


def table(sizes: Sequence[int] = SIZES, beside: bool = False) -> Iterator[str]:
    """Write a line per n: the mean coverage of every method, its least in brackets."""
    yield "| n | " + " | ".join(METHODS) + " |"
    yield "|--:|" + "--:|" * len(METHODS)
    for n in sizes:
        found = [make(n) for make in METHODS.values()]
        mean, least = map(mean_coverage, found), (least_coverage(ends, beside) for ends in found)
        cells = [f"{average:.3f} ({worst:.3f})" for average, worst in zip(mean, least, strict=True)]
        yield f"| {n} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", action="store_true")
    print("\n".join(table(beside=parser.parse_args().beside)))


if __name__ == "__main__":
    main()
