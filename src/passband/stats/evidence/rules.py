"""Rules of stopping that leave a pattern in counts, and what each pattern is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from passband.stats.data.counts import Histogram
from passband.types import Bools, Ints

__all__ = ["UNKNOWN_RULE", "rule_named"]

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
