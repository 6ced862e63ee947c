"""The difference of a problem's two values if its trials had been dealt to the models at random.

Two models that are alike on a problem could as well have exchanged any of its trials. Given the
successes of both together, those of the first are then hypergeometric, and the moments of the
difference follow exactly. With different numbers of trials on the two sides they say what the data
often do not show: how far the values of the side with fewer trials scatter, and to which side.
"""

from __future__ import annotations

import numpy as np

from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.paired import Permuted
from passband.stats.metric.metric import Metric
from passband.stats.metric.pmf import log_choose
from passband.types import Floats, Ints

__all__ = ["permuted_moments"]


def permuted_moments(a: Outcomes, b: Outcomes, metric: Metric) -> Permuted:
    """Return the moments of each problem's difference b - a about its mean, for scores of 0 and 1.

    >>> from passband.stats.metric.registry import parse_metric
    >>> one, two = Outcomes.from_counts([1], 1), Outcomes.from_counts([1], 3)
    >>> permuted_moments(one, two, parse_metric("pass@1")).second.round(9).tolist()
    [0.444444444]
    """
    values = [_Values(side, metric) for side in (a, b)]
    successes = a.required_successes() + b.required_successes()
    most = b.most_trials() + 1
    designs, design = np.unique(a.trials * most + b.trials, return_inverse=True)
    most_of_both = int(successes.max()) + 1
    kinds, kind = np.unique(design * most_of_both + successes, return_inverse=True)
    second, third = np.empty(len(kinds)), np.empty(len(kinds))
    for index, code in enumerate(designs.tolist()):
        rows = slice(*np.searchsorted(kinds, (index * most_of_both, (index + 1) * most_of_both)))
        of_a, of_b = values[0].at(code // most), values[1].at(code % most)
        second[rows], third[rows] = _moments(of_a, of_b, kinds[rows] % most_of_both)
    return Permuted(second[kind], third[kind])


class _Values:
    """The value of a problem by its trials and successes, on the scale of one side's mean."""

    def __init__(self, side: Outcomes, metric: Metric) -> None:
        self._metric, self._means = metric, metric.means(side)
        self._known: dict[int, Floats] = {}

    def at(self, trials: int) -> Floats:
        """Return the values of 0, 1, ... successes in this many trials."""
        if trials not in self._known:
            table = Outcomes.from_counts(np.arange(trials + 1), trials)
            parts = list(self._metric.by_problem(table).T)
            self._known[trials] = self._metric.linear(parts, self._means)
        return self._known[trials]


def _moments(of_a: Floats, of_b: Floats, successes: Ints) -> tuple[Floats, Floats]:
    """Return the central moments of b - a where the two together have so many successes."""
    n_a, n_b = len(of_a) - 1, len(of_b) - 1
    at_a = np.arange(n_a + 1)
    at_b = successes[:, None] - at_a
    can_be = (at_b >= 0) & (at_b <= n_b)
    at_b = np.clip(at_b, 0, n_b)
    ways = log_choose(n_a, at_a) + log_choose(n_b, at_b)
    ways -= log_choose(n_a + n_b, successes)[:, None]
    chance = np.where(can_be, np.exp(ways), 0.0)
    change = of_b[at_b] - of_a
    away = change - (chance * change).sum(axis=1, keepdims=True)
    return (chance * away**2).sum(axis=1), (chance * away**3).sum(axis=1)
