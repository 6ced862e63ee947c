"""Failed trials that are concentrated where answers are wrong, as late timeouts are."""

from __future__ import annotations

import numpy as np

from passband.stats.data.evidence import Finding
from passband.stats.evidence.correlation import correlation_of
from passband.types import Floats, Ints

__all__ = ["failure_findings"]

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
