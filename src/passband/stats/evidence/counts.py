"""Numbers of trials that follow the results of those trials.

No interval is right then, for either target: a problem that is asked again because it failed has
another mean of c/n than one whose number of trials was fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.data.evidence import Finding
from passband.stats.data.stopping import stopping_of
from passband.stats.evidence.correlation import Correlation, correlation_of, variances_of
from passband.stats.evidence.rules import rule_named
from passband.stats.evidence.shares import standard_errors
from passband.types import Bools, Floats, Ints

__all__ = ["count_findings", "first_of_each", "graded_count_findings", "stopping_findings"]

_SEVERAL = 5  # problems of a size, and larger ones
_MOST_SIZES = 32  # of which extremes are looked at: the commonest
_FAR_APART = 3.7  # standard errors: 1 in 4,600
_ALARMS = 0.0016  # expected of all comparisons together, if they are more than seven


@dataclass(frozen=True)
class _Extremes:
    """The share of problems of a size with an extreme result, and what the others would have."""

    size: int
    kind: str
    share: float
    expected: float
    z: float

    def __str__(self) -> str:
        return (
            f"{self.share:.0%} of the problems with {self.size} trials are {self.kind}, and of as "
            f"many trials of the others {self.expected:.0%} would be"
        )


def count_findings(trials: Ints, successes: Ints) -> tuple[Finding, ...]:
    """Find numbers of trials that follow the successes among them; there is at most one finding.

    Three tests, of problems with any trial:

    - *until the first success*: see `passband.stats.data.stopping`;
    - *correlation* of log n with c/n over the problems: |r| > .1, and beyond 3.1 standard errors;
    - *extremes*: of the problems with m trials, the share with c = 0, with c = m, or either,
      against its expectation if m trials had been drawn of each larger problem: C(n - c, m) /
      C(n, m) and C(c, m) / C(n, m). The shares of two groups of at least five differ by more than
      3.7 standard errors.

    >>> trials, successes = np.array([2, 2, 8] * 10), np.array([0, 0, 6] * 10)
    >>> (finding,) = count_findings(trials, successes)
    >>> finding.code, finding.numbers["rule"], finding.numbers["first"]
    ('trials-related', 'until it was given up after 2 failures', 2)
    """
    if stopped := stopping_findings(trials, successes):
        return stopped
    asked = trials > 0
    pairs = Histogram.of_counts(trials[asked], successes[asked])
    if len(pairs.ns) < 2:
        return ()
    first, rule = pairs.ns[0], rule_named(pairs)
    n, c, problems = pairs.trials, pairs.successes, pairs.problems
    sizes: Floats = np.log(n)
    rates: Floats = c / n
    related = correlation_of(sizes, rates, problems, variances_of(c, n, problems))
    extremes = max(_extremes(pairs), key=lambda one: one.z, default=None)
    if extremes is not None and not (related.is_clear and abs(related.z) > extremes.z):
        numbers = {"size": extremes.size, "share": extremes.share, "expected": extremes.expected}
        return (_finding("trials-related", str(extremes), rule, first, numbers),)
    return _if_clear(related, "succeeded", rule, first)


def stopping_findings(trials: Ints, successes: Ints) -> tuple[Finding, ...]:
    """Find trials that look tried until the first success of their problem.

    >>> (finding,) = stopping_findings(np.array([2, 3] * 9 + [4]), np.array([1, 1] * 9 + [0]))
    >>> finding.code, finding.numbers["first"]
    ('stopped-by-outcome', 2)
    """
    asked = trials > 0
    pairs = Histogram.of_counts(trials[asked], successes[asked])
    stopping = stopping_of(pairs)
    if not stopping.is_alarm:
        return ()
    what = f"every problem with fewer than {stopping.cap} trials succeeded in exactly one"
    numbers = {"p_value": stopping.p_value}
    finding = _finding("stopped-by-outcome", what, rule_named(pairs), pairs.ns[0], numbers)
    how = "; --stopped-after 1 (in Python, estimate_stopped) gives the share solved within k trials"
    return (replace(finding, text=finding.text + how),)


def graded_count_findings(trials: Ints, means: Floats) -> tuple[Finding, ...]:
    """Find numbers of trials that go along with the mean score of a problem, by their ranks.

    >>> (finding,) = graded_count_findings(np.array([2, 8] * 20), np.array([0.9, 0.1] * 20))
    >>> finding.code, finding.numbers["first"]
    ('trials-related', 2)
    """
    asked = trials > 0
    counts = trials[asked]
    if not len(counts) or counts.min() == counts.max():
        return ()
    related = correlation_of(_ranks(counts), _ranks(means[asked]))
    return _if_clear(related, "scored", "by some rule that looked at scores", int(counts.min()))


def first_of_each(first: int) -> str:
    """Say how to use the first trials of each problem alone."""
    trials = "trial" if first == 1 else f"{first} trials"
    return (
        f"--first {first} uses the first {trials} of each problem, which is unbiased whatever the "
        "rule"
    )


def _ranks(values: Floats | Ints) -> Floats:
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


def _if_clear(related: Correlation, verb: str, rule: str, first: int) -> tuple[Finding, ...]:
    if not related.is_clear:
        return ()
    words = ("more often", "less often") if verb == "succeeded" else ("better", "worse")
    how = words[related.value < 0.0]
    what = f"problems with more trials {verb} {how} (correlation {related.value:+.2f})"
    numbers = {"correlation": related.value}
    return (_finding("trials-related", what, rule, first, numbers),)


def _finding(
    code: str, what: str, rule: str, first: int, numbers: Mapping[str, float | int]
) -> Finding:
    text = f"{what}, as if each was tried {rule}; no interval is right for that. "
    return Finding(
        code,
        "invalid",
        text + first_of_each(first),
        numbers={**numbers, "rule": rule, "first": first},
    )


# -- extremes ----------------------------------------------------------------------------------


def _extremes(pairs: Histogram) -> Iterator[_Extremes]:
    """Compare the extremes of problems of each size with those of larger ones; yield the clear."""
    sizes = _sizes(pairs)
    if not sizes:
        return
    log_ways = np.append(0.0, np.cumsum(np.log(np.arange(1, pairs.ns[-1] + 1))))
    limit = max(_FAR_APART, NormalDist().inv_cdf(1.0 - _ALARMS / (6 * len(sizes))))
    for size in sizes:
        short, long = pairs.where(pairs.trials == size), pairs.where(pairs.trials > size)
        own = np.array([_share(short, 0), _share(short, size)])
        wrong = long.mean(_all_drawn(long.trials - long.successes, long.trials, size, log_ways))
        right = long.mean(_all_drawn(long.successes, long.trials, size, log_ways))
        kinds = ("all wrong", "all right", "all alike")
        shares = zip(kinds, (*own, own.sum()), (wrong, right, wrong + right), strict=True)
        for kind, share, expected in shares:
            z = _apart(share, expected, short.n_problems, long.n_problems)
            if z > limit:
                yield _Extremes(size, kind, float(share), float(expected), z)


def _sizes(pairs: Histogram) -> list[int]:
    """Return the commonest numbers of trials with several problems, and several larger ones."""
    tally = np.bincount(pairs.trials, weights=pairs.problems)
    larger = pairs.n_problems - np.cumsum(tally)
    (several,) = np.nonzero((tally >= _SEVERAL) & (larger >= _SEVERAL))
    several = several[several >= 2]
    return sorted(several[np.argsort(-tally[several], kind="stable")][:_MOST_SIZES].tolist())


def _share(pairs: Histogram, successes: int) -> float:
    return pairs.mean((pairs.successes == successes).astype(np.float64))


def _all_drawn(kind: Ints, n: Ints, size: int, log_ways: Floats) -> Floats:
    """Return C(kind, size) / C(n, size): the chance that all of `size` drawn are of a kind."""
    is_enough: Bools = kind >= size
    ways = log_ways[kind] - log_ways[np.maximum(kind - size, 0)]
    return np.where(is_enough, np.exp(ways - log_ways[n] + log_ways[n - size]), 0.0)


def _apart(share: float, expected: float, short: int, long: int) -> float:
    """Return how far the shares of two groups are apart, in standard errors."""
    pooled = (share * short + expected * long) / (short + long)
    scale = math.sqrt(1.0 / short + 1.0 / long)
    error = math.sqrt(max(pooled * (1.0 - pooled), 0.0)) * scale
    return abs(standard_errors(share, expected, error, scale))
