"""The Bradley-Terry model: the odds that one model does better on a problem than another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.stats.decision.ranking.likelihood import Terms
from passband.types import Bools, Floats

__all__ = ["BradleyTerry"]

_BLOCK = 1 << 21  # entries of a table of problems and pairs


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Wins problem by problem: a higher value beats a lower one, and equal ones have half a win.

    The model says that i beats j with probability 1 / (1 + exp(a_j - a_i)). With half a win for a
    tie the abilities solve "wins as expected" for every model, whatever makes ties; no parameter
    for ties is needed, and none of their likelihood is used.
    Bradley, Terry (1952), Biometrika 39, 324-345.
    """

    values: Floats  # (problems, models), NaN where a model has none

    @property
    def overlap(self) -> float:
        """Comparisons of m models, of which m - 1 are independent, less those that are ties."""
        return float(self.values.shape[1]) / 2.0 * self._decided

    @cached_property
    def _decided(self) -> float:
        """The share of comparisons that are no ties."""
        ties = sum(float((self._won(start) == 0.5).sum()) for start in self._starts)
        games = float(self.wins.sum())
        return 1.0 - ties / 2.0 / games if games else 1.0

    @cached_property
    def wins(self) -> Floats:
        """Wins of i over j: (models, models)."""
        total = np.zeros((self.values.shape[1],) * 2)
        for start in self._starts:
            total += self._won(start).sum(axis=0)
        return total

    @property
    def _starts(self) -> range:
        return range(0, len(self.values), self._step)

    @property
    def _step(self) -> int:
        return max(1, _BLOCK // int(self.values.shape[1]) ** 2)

    def _won(self, start: int) -> Floats:
        """Return the wins of i over j on a block of problems: (problems, models, models)."""
        block = self.values[start : start + self._step]
        ahead = np.sign(block[:, :, None] - block[:, None, :])
        won: Floats = np.where(np.isnan(ahead), 0.0, (1.0 + ahead) / 2.0)
        won *= 1.0 - np.eye(won.shape[1])
        return won

    def thinned(self) -> None:
        """Return that no start is needed, as only the wins of each pair count."""

    def won(self) -> Bools:
        return self.wins > 0.0

    def terms(self, abilities: Floats) -> Terms:
        away = abilities[:, None] - abilities[None, :]
        games = self.wins + self.wins.T
        p = 1.0 / (1.0 + np.exp(-away))
        weight = games * p * (1.0 - p)
        value = -float((self.wins * np.logaddexp(0.0, -away)).sum())
        gradient = (self.wins - games * p).sum(axis=1)
        return Terms(value, gradient, np.diag(weight.sum(axis=1)) - weight)

    def scores(self, abilities: Floats) -> Floats:
        p = 1.0 / (1.0 + np.exp(abilities[None, :] - abilities[:, None]))
        parts = []
        for start in self._starts:
            won = self._won(start)
            games = won + np.swapaxes(won, 1, 2)
            parts.append((won - games * p).sum(axis=2))
        return np.concatenate(parts)
