"""The likelihood of counts under a beta-binomial with spikes at 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.interval.posterior.beta_mixture import added
from passband.types import Bools, Floats, Ints

__all__ = ["BetaCounts"]


@dataclass(frozen=True, eq=False)
class BetaCounts:
    """Counts, in the shape that the likelihood of a beta-binomial with spikes needs."""

    pairs: Histogram

    @cached_property
    def ns(self) -> Ints:
        return np.unique(self.pairs.trials)

    @cached_property
    def shares(self) -> Floats:
        return self._per_n(self.pairs.trials > 0) / self.pairs.n_problems

    @cached_property
    def zeros(self) -> Floats:
        """Problems without a success, for each n."""
        return self._per_n(self.pairs.successes == 0)

    @cached_property
    def ones(self) -> Floats:
        """Problems without a failure, for each n."""
        return self._per_n(self.pairs.successes == self.pairs.trials)

    @cached_property
    def between(self) -> Histogram:
        c, n = self.pairs.successes, self.pairs.trials
        return self.pairs.where((c > 0) & (c < n))

    def _per_n(self, keep: Bools) -> Floats:
        place = np.searchsorted(self.ns, self.pairs.trials)
        return added(place, np.where(keep, self.pairs.problems, 0.0), len(self.ns))

    def log_between(self, alpha: Floats, beta: Floats) -> Floats:
        """Return the log-likelihood of the problems with both successes and failures.

        It adds up over the counts of successes, of failures and of trials, whatever their pairs.
        """
        mixed = self.between
        failures = mixed.trials - mixed.successes
        return (
            _log_rising(alpha, mixed.successes, mixed.problems)
            + _log_rising(beta, failures, mixed.problems)
            - _log_rising(alpha + beta, mixed.trials, mixed.problems)
        )

    def log_ends(self, alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Return log P(no success) and log P(no failure), (cells, ns)."""
        whole = _log_gamma_ratio(alpha + beta, self.ns)
        return _log_gamma_ratio(beta, self.ns) - whole, _log_gamma_ratio(alpha, self.ns) - whole


def _log_gamma_ratio(x: Floats, counts: Ints) -> Floats:
    """Return log of the rising factorials of x: (cells, counts)."""
    from scipy.special import gammaln

    ratio: Floats = gammaln(x[:, None] + counts) - gammaln(x)[:, None]
    return ratio


def _log_rising(x: Floats, counts: Ints, problems: Ints) -> Floats:
    tally = np.bincount(counts, problems)
    (seen,) = tally.nonzero()
    return _log_gamma_ratio(x, seen) @ tally[seen]
