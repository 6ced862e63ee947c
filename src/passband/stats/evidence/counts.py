"""Find numbers of trials that follow the results of those trials.

No interval is right then, for either target: a problem that is asked again because it failed has
another mean of c/n than one whose number of trials was fixed. Failed trials that are concentrated
where answers are wrong, as late timeouts are, weaken it.

`StoppedCounts` is the pattern of trials stopped by a success, with its probability otherwise.
Every problem with fewer trials than the most has exactly one success, and none with the most has
more. If the numbers of trials had nothing to do with the outcomes, that would have probability at
most the product of (1 - 1/n)^(n - 1) over the problems with 2 <= n < max: for any success rate p,
P(c = 1 | n) = n p (1 - p)^(n - 1), which is largest at p = 1/n. The product is a p-value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.data.evidence import Finding
from passband.stats.evidence.correlation import (
    Correlation,
    correlation_of,
    standard_errors,
    variances_of,
)
from passband.types import Bools, Floats, Ints

_FAR = 2.8  # standard errors: 1 in 200 fair data sets with failed trials


def failure_findings(failed: Ints, trials: Ints, means: Floats) -> tuple[Finding, ...]:
    """Find failed trials that go along with the mean score of a problem's other trials.

    Over the problems with any scored trial, the share of failed ones is correlated with the mean
    score. Whether wrong answers failed, or hard problems whatever the answer, cannot be seen; if it
    is the former, each mean is too high.

    >>> failed, trials = np.array([4, 0, 4, 1] * 5), np.array([4, 8, 4, 7] * 5)
    >>> (finding,) = failure_findings(failed, trials, np.array([0.25, 1.0, 0.0, 1.0] * 5))
    >>> print(finding.text)
    45 trials failed, more of them where answers are wrong (correlation -0.96): 50% in the half of \
the problems with worse scores, 6% in the other; if they failed because they would have been \
wrong, the estimate is too good
    """
    scored = trials > 0
    failed, trials = failed[scored], trials[scored]
    if not failed.any():
        return ()
    shares: Floats = failed / (failed + trials)
    related = correlation_of(means[scored], shares)
    if abs(related.z) <= _FAR or related.is_of_one:
        return ()
    is_low = np.argsort(np.argsort(means[scored], kind="stable")) < len(trials) / 2
    low, high = float(shares[is_low].mean()), float(shares[~is_low].mean())
    kind, end = ("wrong", "good") if related.value < 0.0 else ("right", "bad")
    text = (
        f"{failed.sum()} trials failed, more of them where answers are {kind} (correlation "
        f"{related.value:+.2f}): {low:.0%} in the half of the problems with worse scores, "
        f"{high:.0%} in the other; if they failed because they would have been {kind}, the "
        f"estimate is too {end}"
    )
    numbers = {"correlation": related.value, "low": low, "high": high}
    return (Finding("failures-related", "weak", text, numbers=numbers),)


UNKNOWN_RULE = "by some rule that looked at results"
_MOST = 0.95  # share of problems that have to fit, if none fits all: a trial may have been lost


def rule_named(pairs: Histogram) -> str:
    """Name the rule of stopping that numbers of trials look like.

    n and c are a problem's numbers of trials and of successes, f = n - c; the least and the most
    trials of a problem are a and N.

    >>> rule_named(Histogram.of_counts(np.array([1, 2, 3, 8, 8]), np.array([0, 1, 2, 8, 8])))
    'until its first failure'
    """
    n, c = pairs.trials.astype(np.int64), pairs.successes.astype(np.int64)
    fitting = [pairs.mean(fits(n, c).astype(np.float64)) for _, fits in _RULES]
    for least in (1.0, _MOST):
        for (text, _), share in zip(_RULES, fitting, strict=True):
            if share >= least:
                return text.format(n.min())
    return UNKNOWN_RULE


def _until_first(n: Ints, c: Ints) -> Bools:
    """Fit c = 1 below N, and c <= 1 at N."""
    fits: Bools = np.where(n < n.max(), c == 1, c <= 1)
    return fits


def _some_until_first(n: Ints, c: Ints) -> Bools:
    """Fit c >= 1 at a, c = 1 between a and N, and c <= 1 at N."""
    fits: Bools = np.where(n == n.min(), c >= 1, _until_first(n, c))
    return fits


def _gave_up(n: Ints, c: Ints) -> Bools:
    """Fit c = 0 at a, c >= 1 at N, and no other n."""
    fits: Bools = np.where(n == n.min(), c == 0, (n == n.max()) & (c >= 1))
    return fits


def _run(n: Ints, c: Ints) -> Bools:
    """Fit f >= a and f - a <= c (a - 1) below N, and f <= (c + 1)(a - 1) at N if no run was seen.

    A run of a failures ends the trials, and each failure before is in a shorter run before a
    success.
    """
    least, failures = n.min(), n - c
    ended = (failures >= least) & (failures - least <= c * (least - 1))
    fits: Bools = ended | ((n == n.max()) & (failures <= (c + 1) * (least - 1)))
    return fits


def _disagreed(n: Ints, c: Ints) -> Bools:
    """Fit c = 0 or c = a at a, 0 < c < N at N, and no other n."""
    fits: Bools = np.where(n == n.min(), (c == 0) | (c == n), (n == n.max()) & (c > 0) & (c < n))
    return fits


def _agreed(n: Ints, c: Ints) -> Bools:
    """Fit max(c, f) = a, with n < 2 a."""
    fits: Bools = (np.maximum(c, n - c) == n.min()) & (n < 2 * n.min())
    return fits


def _mirrored(fits: Callable[[Ints, Ints], Bools]) -> Callable[[Ints, Ints], Bools]:
    return lambda n, c: fits(n, n - c)


# The first that fits is named: the narrower ones come before the wider ones.
_RULES: tuple[tuple[str, Callable[[Ints, Ints], Bools]], ...] = (
    ("until its first success", _until_first),
    ("until its first failure", _mirrored(_until_first)),
    ("until {} agreed", _agreed),
    ("until it was given up after {} failures", _gave_up),
    ("until it was taken as solved after {} successes", _mirrored(_gave_up)),
    ("again where the first {} disagreed", _disagreed),
    ("{} times, and then until its first success", _some_until_first),
    ("{} times, and then until its first failure", _mirrored(_some_until_first)),
    ("until {} failures in a row", _run),
    ("until {} successes in a row", _mirrored(_run)),
)


STOPPING_LEVEL = 0.01  #: at which trials are taken to be stopped by their outcomes


@dataclass(frozen=True)
class StoppedCounts:
    """The p-value of "the outcomes had no say in the number of trials", from counts."""

    p_value: float
    problems: int  #: that it rests on
    cap: int  #: the most trials of a problem

    @property
    def is_alarm(self) -> bool:
        """Whether every problem looks tried until its first success."""
        return self.p_value <= STOPPING_LEVEL


def stopping_of(histogram: Histogram) -> StoppedCounts:
    """Test whether every problem was tried until its first success, up to the most trials.

    >>> stopping_of(Histogram.of_counts(np.array([2] * 9 + [4]), np.array([1] * 9 + [0])))
    StoppedCounts(p_value=0.001953125, problems=9, cap=4)
    """
    n, c = histogram.trials, histogram.successes
    cap = int(n.max(initial=0))
    is_short = n < cap
    if not is_short.any() or (c > 1).any() or (c[is_short] == 0).any():
        return StoppedCounts(1.0, 0, cap)
    is_telling = is_short & (n >= 2)
    telling, problems = n[is_telling].astype(np.float64), histogram.problems[is_telling]
    log = float(problems @ ((telling - 1.0) * np.log1p(-1.0 / telling)))
    return StoppedCounts(math.exp(log), int(problems.sum()), cap)


_SEVERAL = 5  # problems of a size, and larger ones
_MOST_SIZES = 32  # of which extremes are looked at: the commonest
_FAR_APART = 3.7  # standard errors: 1 in 4,600
_ALARMS = 0.0016  # expected of all comparisons together, if they are more than seven


@dataclass(frozen=True)
class _Extremes:
    """Compare the share of extreme results at one size with the other sizes."""

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

    - *until the first success*: see `passband.stats.evidence.counts`;
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
    has_trials = trials > 0
    counts = trials[has_trials]
    if not len(counts) or counts.min() == counts.max():
        return ()
    related = correlation_of(_ranks(counts), _ranks(means[has_trials]))
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
    """Compare extremes at each size with larger sizes; yield the clear differences."""
    sizes = _sizes(pairs)
    if not sizes:
        return
    log_ways = np.append(0.0, np.cumsum(np.log(np.arange(1, pairs.ns[-1] + 1))))
    limit = max(_FAR_APART, NormalDist().inv_cdf(1.0 - _ALARMS / (6 * len(sizes))))
    for size in sizes:
        short, long = pairs.where(pairs.trials == size), pairs.where(pairs.trials > size)
        extremes = np.array([_share(short, 0), _share(short, size)])
        wrong = long.mean(_all_drawn(long.trials - long.successes, long.trials, size, log_ways))
        right = long.mean(_all_drawn(long.successes, long.trials, size, log_ways))
        kinds = ("all wrong", "all right", "all alike")
        shares = zip(kinds, (*extremes, extremes.sum()), (wrong, right, wrong + right), strict=True)
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
    """Return the difference of two groups' shares, in standard errors."""
    pooled = (share * short + expected * long) / (short + long)
    scale = math.sqrt(1.0 / short + 1.0 / long)
    error = math.sqrt(max(pooled * (1.0 - pooled), 0.0)) * scale
    return abs(standard_errors(share, expected, error, scale))
