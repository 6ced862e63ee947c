"""Laws of the success probabilities that 0/1 data sets are simulated from.

Two laws for each stratum of the numbers of trials, so that a relation between trials and
difficulty is simulated as well. The *close* law is the smoothed fit that the default intervals
extrapolate with; the *sharp* law goes on with expectation maximisation and mixes nothing back,
until few probabilities have any weight. Noise that a handful of problems carries is seen by the
sharp law alone; it predicts best, and the close law shows how much depends on the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.stats.data.counts import Histogram
from passband.stats.interval.fit.count_grid import points
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.metric.pmf import binomial_pmf
from passband.types import Floats, Ints

__all__ = ["Law", "fitted_laws"]

_LEAST_STRATUM = 5  # problems
_SHARP_STEPS = 400
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Law:
    """Weights of the success probabilities of `points`, by number of trials."""

    name: str
    bottoms: tuple[int, ...]  # the fewest trials of each stratum, in rising order
    weights: Floats  # (strata, points)

    def at(self, n: int) -> Floats:
        """Return the weights for problems with n trials."""
        stratum = int(np.searchsorted(self.bottoms, n, side="right")) - 1
        row: Floats = self.weights[max(stratum, 0)]
        return row


def fitted_laws(pairs: Histogram, mixture: Mixture) -> tuple[Law, Law]:
    """Return the sharp and the close law of the problems, from the fit to all of them."""
    bottoms = _strata(pairs)
    stratum = np.searchsorted(bottoms, pairs.trials, side="right") - 1
    sharp, close = [], []
    for index in range(len(bottoms)):
        members = pairs.where(stratum == index)
        near = mixture.close.weights if len(bottoms) == 1 else _close(members, mixture)
        close.append(near)
        sharp.append(_maximised(members, near, _SHARP_STEPS))
    names = tuple(bottoms.tolist())
    return Law("sharp", names, np.stack(sharp)), Law("close", names, np.stack(close))


def _strata(pairs: Histogram) -> Ints:
    """Return the fewest trials of each octave of n, octaves of few problems joined with the next.

    >>> _strata(Histogram.of_counts(np.array([2] * 9 + [3] * 4 + [16] * 3), np.zeros(16, int)))
    array([2])
    """
    octave = np.frexp(pairs.trials.astype(np.float64))[1]
    bottoms: list[int] = []
    count = 0
    for index in np.unique(octave).tolist():
        if count >= _LEAST_STRATUM or not bottoms:
            bottoms.append(int(pairs.trials[octave == index].min()))
            count = 0
        count += int(pairs.problems[octave == index].sum())
    if count < _LEAST_STRATUM and len(bottoms) > 1:
        bottoms.pop()
    return np.array(bottoms)


def _close(pairs: Histogram, mixture: Mixture) -> Floats:
    """Return the fit to one stratum, begun at the fit to all, some of which is mixed back."""
    whole, count = mixture.near.weights, pairs.n_problems
    steps = min(max(round(count / 2), 10), 150)
    extra = count**0.5
    fitted: Floats = (count * _maximised(pairs, whole, steps) + extra * whole) / (count + extra)
    return fitted


def _maximised(pairs: Histogram, weights: Floats, steps: int) -> Floats:
    """Return the weights after some steps of expectation maximisation."""
    table = binomial_pmf(pairs.trials, pairs.successes, points()[:, None])
    frequencies = pairs.problems / pairs.n_problems
    for _ in range(steps):
        weights = weights * (table @ (frequencies / np.maximum(weights @ table, _LEAST)))
    return weights / weights.sum()
