"""Models on the same problems in the same order, and all their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from statistics import NormalDist

import numpy as np

from passband.notes import Note
from passband.stats.checks import ROUNDING, Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.difference import Contrast, Independent, contrast_of
from passband.stats.decision.pairing import linear_values, shared_units
from passband.stats.decision.ranking.cached_sides import CachedIndependent
from passband.stats.decision.ranking.ranking import ModelPair, RankedModel
from passband.stats.decision.ranking.simultaneous import (
    Largest,
    benjamini_hochberg,
    best_confidences,
    drawn_errors,
    holm,
)
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.estimation import estimate
from passband.stats.metric.metric import Metric
from passband.types import Floats

NO_BEST = Note(
    "no-p-best",
    "no confidence of being the best: at least one difference has no interval",
)

_ENOUGH_MODELS = 3  # from which on tables of levels cost less than the searches they save


class ModelMatrix:
    """Models on the same problems in the same order."""

    def __init__(
        self,
        sides: Mapping[str, Outcomes],
        metric: Metric,
        over: Over,
        level: float,
        seed: int,
        family: int = 1,
    ) -> None:
        self._sides, self._metric, self._over = list(sides.values()), metric, over
        self._names, self._family = list(sides), family
        self.n_problems = self._sides[0].n_problems
        self._alone = [estimate(side, metric.name, over=over, level=level) for side in self._sides]
        self._contrasts = self._made_contrasts()
        self._deviations = self._made_deviations()
        root = self._root()
        self._errors = drawn_errors(np.eye(len(sides)) if root is None else root, seed)
        self._largest = Largest.of(None if root is None else self._errors, len(sides))
        self.reach = self._largest.reach(1.0 - (1.0 - level) / family)
        self._best = self._best_confidences()

    def _made_contrasts(self) -> dict[tuple[int, int], Contrast]:
        independent: type[Independent] | partial[CachedIndependent] = Independent
        if len(self._sides) >= _ENOUGH_MODELS:
            independent = partial(CachedIndependent, tables={})
        return {
            (i, j): contrast_of(
                self._sides[i], self._sides[j], self._metric, self._over, independent
            )
            for i, j in combinations(range(len(self._sides)), 2)
        }

    def _made_deviations(self) -> Floats:
        """Return the normal deviation of the confidence that j is better than i, at [j, i]."""
        deviations = np.zeros((len(self._sides),) * 2)
        for (i, j), contrast in self._contrasts.items():
            confidence = contrast.confidence
            z = np.nan if confidence is None else NormalDist().inv_cdf(confidence)
            deviations[i, j], deviations[j, i] = -z, z
        return deviations

    def _root(self) -> Floats | None:
        """Return a root of the covariance of the values."""
        if self._over == "trials" and all(side.most_trials() > 1 for side in self._sides):
            errors = [alone.se for alone in self._alone]
            return None if None in errors else np.diag(np.array(errors, dtype=np.float64))
        columns = [linear_values(side, self._metric) for side in self._sides]
        values = np.array([column for column in columns if column is not None])
        if len(values) < len(columns):
            return None
        away = values - values.mean(axis=1, keepdims=True)
        unit = shared_units(self._sides)
        if unit is not None:
            away = np.stack([np.bincount(unit, weights=row) for row in away])
        units = away.shape[1]
        if units < 2:
            return None
        covariance = away @ away.T * (units / (units - 1.0)) / self.n_problems**2
        size, direction = np.linalg.eigh(covariance)
        size[size < ROUNDING * size[-1]] = 0.0  # what rounding leaves of models that are alike
        root: Floats = direction * np.sqrt(size)
        return root

    def _best_confidences(self) -> list[float] | list[None]:
        if np.isnan(self._deviations).any():
            return [None] * len(self._names)
        return [float(share) for share in best_confidences(self._deviations, self._errors)]

    # -- results --

    def pairs(self) -> tuple[ModelPair, ...]:
        """Return all differences, with intervals and p-values for all of them at once."""
        level = level_of(self.reach)
        p_values = {key: contrast.p_value for key, contrast in self._contrasts.items()}
        known = {key: p for key, p in p_values.items() if p is not None}
        by_holm = dict(zip(known, holm(list(known.values())), strict=True))
        by_bh = dict(zip(known, benjamini_hochberg(list(known.values())), strict=True))
        return tuple(
            self._pair(key, level, p_values[key], by_holm.get(key), by_bh.get(key))
            for key in self._contrasts
        )

    def _pair(
        self,
        key: tuple[int, int],
        level: float,
        p_value: float | None,
        p_holm: float | None,
        p_bh: float | None,
    ) -> ModelPair:
        contrast = self._contrasts[key]
        low, high = contrast.ends(level) or (None, None)
        z = abs(float(self._deviations[key]))
        return ModelPair(
            a=self._names[key[0]],
            b=self._names[key[1]],
            value=contrast.value,
            low=low,
            high=high,
            se=contrast.se,
            p_value=p_value,
            p_holm=p_holm,
            p_bh=p_bh,
            p_adjusted=None if np.isnan(z) else min(1.0, self._family * self._largest.p_value(z)),
            confidence=contrast.confidence,
        )

    def standings(self, pairs: Sequence[ModelPair]) -> tuple[RankedModel, ...]:
        """Return the models, best first."""
        ranks = rank_intervals(self._names, pairs)
        standings = [self._standing(index, *ranks[name]) for index, name in enumerate(self._names)]
        return tuple(sorted(standings, key=lambda standing: standing.rank))

    def _standing(self, index: int, rank_low: int, rank_high: int) -> RankedModel:
        alone = self._alone[index]
        above = sum(other.value > alone.value + ROUNDING for other in self._alone)
        return RankedModel(
            model=self._names[index],
            value=alone.value,
            low=alone.low,
            high=alone.high,
            rank=1 + above,
            rank_low=rank_low,
            rank_high=rank_high,
            p_best=self._best[index],
        )

    def notes(self) -> tuple[Note, ...]:
        """Return the notes on all pairs, each once."""
        notes = [note for contrast in self._contrasts.values() for note in contrast.notes]
        shares = [share for share in self._best if share is not None]
        if not shares:
            notes.append(NO_BEST)
        elif sum(shares) < 1.0 - 1e-6:
            notes.append(circular_pairs(sum(shares)))
        return tuple(dict.fromkeys(notes))


def rank_intervals(names: Sequence[str], pairs: Sequence[ModelPair]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each model that the intervals of the pairs allow."""
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    for pair in pairs:
        if pair.low is not None and pair.low > 0.0:
            better[pair.a] += 1
            worse[pair.b] += 1
        elif pair.high is not None and pair.high < 0.0:
            better[pair.b] += 1
            worse[pair.a] += 1
    return {name: (1 + better[name], len(names) - worse[name]) for name in names}


def circular_pairs(total: float) -> Note:
    """Return the note on pairwise confidences that contradict each other."""
    return Note(
        "circular-pairs",
        f"the confidences of being the best add up to {total:.3f}: the pairwise confidences, which "
        "none of them may exceed, contradict each other",
    )
