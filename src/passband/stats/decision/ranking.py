"""Many models on the same problems: all differences at once, and which may be the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, WrongType, nearest
from passband.notes import NO_BEST, Note, unscored_by_model
from passband.stats.checks import (
    Over,
    as_level,
    check_outcomes,
    check_over,
    check_text,
)
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.data.values import FrozenDict
from passband.stats.decision.difference import Contrast, contrast_of
from passband.stats.decision.pairing import linear_values, shared_units
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.interval.estimate import estimate
from passband.stats.interval.seeds import generator, seed_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric
from passband.stats.tolerance import ROUNDING
from passband.types import Floats, Ints

__all__ = ["Pair", "Ranking", "Standing", "benjamini_hochberg", "compare_all", "holm"]

DRAWS = 20_000


@dataclass(frozen=True)
class Pair:
    """One difference among many, with an interval that holds for all of them at once."""

    a: str
    b: str
    value: float  #: b - a
    low: float | None
    high: float | None
    se: float | None
    p_value: float | None  #: of this pair alone
    p_holm: float | None  #: adjusted: any false finding among all pairs
    p_bh: float | None  #: adjusted: the share of false ones among the findings


@dataclass(frozen=True)
class Standing:
    """One model among the others."""

    model: str
    value: float
    low: float | None  #: of this model alone, not adjusted
    high: float | None
    rank: int  #: by value, 1 is the best; equal values share a rank
    rank_low: int  #: best rank that the data allow
    rank_high: int  #: worst rank that the data allow
    p_best: float | None  #: confidence that no other model is better


@dataclass(frozen=True)
class Ranking:
    """All models, best first, and all their differences."""

    metric: str
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    level: float
    over: Over
    reach: float  #: normal quantile that makes the pairs' intervals hold together
    n_problems: int  #: shared by all models, with enough trials in each
    n_shared: int
    dropped: Mapping[str, int] = field(hash=False)  #: per model, problems that do not count
    policy: Policy
    seed: int
    notes: tuple[Note, ...] = ()

    def pair(self, a: str, b: str) -> Pair:
        """Return the difference b - a.

        >>> models = {name: Outcomes.from_counts([c] * 9, 9) for name, c in (("x", 2), ("y", 5))}
        >>> round(compare_all(models, "pass@1").pair("y", "x").value, 3)
        -0.333
        """
        for pair in self.pairs:
            if (pair.a, pair.b) == (a, b):
                return pair
            if (pair.a, pair.b) == (b, a):
                return _turned(pair)
        names = [standing.model for standing in self.standings]
        unknown = next((name for name in (a, b) if name not in names), a)
        raise InvalidInput(f"no pair of {a!r} and {b!r}.{nearest(unknown, names)}")


def compare_all(
    models: Mapping[str, Outcomes],
    metric: str,
    *,
    over: Over = "problems",
    level: float = 0.95,
    policy: Policy = "drop",
    seed: int | str | None = None,
) -> Ranking:
    """Compare every model with every other on the problems that all of them have.

    Use it instead of many calls of `compare`, where of twenty true nulls one comes out as a
    finding. For two models it gives the numbers of `compare`. Use `compare` against a baseline that
    was fixed beforehand and is the only comparison.

    Intervals are those of `compare` at a higher level: its normal quantile is the quantile of the
    largest of all standardised differences, drawn from the normal distribution with the covariance
    of the models' values over problems (or clusters), in 20 000 draws. They hold for all pairs at
    once. A rank interval counts the models whose interval of the difference lies on one side of 0,
    and so holds for all models together too. `p_best` is how often a model comes out first when the
    values are drawn from Student's distribution around those observed; like the interval it is a
    statement of confidence and has no prior. P-values are adjusted after Holm and after Benjamini
    and Hochberg. The seed, if none is given, comes from the names of the models.

    Hothorn, Bretz, Westfall (2008), Biometrical Journal 50, 346-363; Holm (1979), Scandinavian
    Journal of Statistics 6, 65-70; Benjamini, Hochberg (1995), JRSS B 57, 289-300.

    >>> counts = {"small": [1, 2, 0, 4], "medium": [4, 5, 2, 7], "large": [5, 5, 3, 7]}
    >>> models = {name: Outcomes.from_counts(c * 10, 8) for name, c in counts.items()}
    >>> for one in compare_all(models, "pass@1").standings:
    ...     print(one.rank, one.model, round(one.value, 3), (one.rank_low, one.rank_high))
    1 large 0.625 (1, 1)
    2 medium 0.562 (2, 2)
    3 small 0.219 (3, 3)
    """
    _check_models(models)
    if len(models) < 2:
        raise InvalidInput(f"there must be at least two models to compare; got {len(models)}.")
    check_over(over)
    level = as_level(level)
    check_text("metric", metric, "pass@1")
    wanted = parse_metric(metric)
    scored = {name: outcomes.under(policy) for name, outcomes in models.items()}
    shared, sides = _shared(scored, wanted.k)
    start = seed_of(",".join(sorted(models)) if seed is None else seed)
    assert start is not None
    all_models = _Field(sides, wanted, over, level, start)
    pairs = all_models.pairs()
    return Ranking(
        metric=wanted.name,
        standings=all_models.standings(pairs),
        pairs=pairs,
        level=level,
        over=over,
        reach=all_models.reach,
        n_problems=all_models.n_problems,
        n_shared=shared,
        dropped=FrozenDict(
            {name: m.n_problems - all_models.n_problems for name, m in models.items()}
        ),
        policy=policy,
        seed=start,
        notes=(*all_models.notes(), *_unscored(models, policy)),
    )


def _check_models(models: object) -> None:
    if not isinstance(models, Mapping):
        raise WrongType(f"models must map names to Outcomes; got {type(models).__name__}.")
    for name, outcomes in models.items():
        check_text("the name of a model", name, "base")
        check_outcomes(f"models[{name!r}]", outcomes)


def _unscored(models: Mapping[str, Outcomes], policy: Policy) -> tuple[Note, ...]:
    unscored = {name: m.n_unscored for name, m in models.items() if m.n_unscored}
    return (unscored_by_model(unscored, policy),) if unscored else ()


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of any false finding is at most the chosen one.

    The i-th smallest of m is multiplied by m - i + 1, and none falls below a smaller one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _back(order, raised)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that, on average, at most the chosen share of findings is false.

    The i-th smallest of m is multiplied by m / i, and none exceeds a larger one.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (len(p) / np.arange(1, len(p) + 1))
    return _back(order, np.minimum.accumulate(raised[::-1])[::-1])


def _back(order: Ints, raised: Floats) -> list[float]:
    adjusted = np.empty(len(raised))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]


def _shared(models: Mapping[str, Outcomes], k: int) -> tuple[int, dict[str, Outcomes]]:
    """Return the number of shared problems, and the models on those with enough trials."""
    for outcomes in models.values():
        outcomes.require(k)
    places = {
        model: {name: index for index, name in enumerate(outcomes.problems)}
        for model, outcomes in models.items()
    }
    first = next(iter(models.values())).problems
    names = [name for name in first if all(name in place for place in places.values())]
    if not names:
        first_names = ", ".join(f"{model} has {o.problems[0]!r}" for model, o in models.items())
        raise InvalidInput(f"no problem is shared by all models: {first_names}.")
    rows = {model: np.array([place[name] for name in names]) for model, place in places.items()}
    enough = np.all([models[m].trials[row] >= max(k, 1) for m, row in rows.items()], axis=0)
    if not enough.any():
        raise NotEnoughData(
            f"none of the {len(names)} shared problems has {max(k, 1)} scored trials in all models."
        )
    return len(names), {model: models[model].take(row[enough]) for model, row in rows.items()}


class _Field:
    """Models on the same problems in the same order."""

    def __init__(
        self, sides: Mapping[str, Outcomes], metric: Metric, over: Over, level: float, seed: int
    ) -> None:
        self._sides, self._metric, self._over, self._level = sides, metric, over, level
        self._seed = seed
        self._names = list(sides)
        self.n_problems = next(iter(sides.values())).n_problems
        self._alone = [
            estimate(side, metric.name, over=over, level=level) for side in sides.values()
        ]
        self._contrasts: dict[tuple[int, int], Contrast] = {
            (i, j): contrast_of(sides[self._names[i]], sides[self._names[j]], metric, over)
            for i, j in combinations(range(len(sides)), 2)
        }
        self._noise = self._draw()
        self.reach = self._reach()

    # -- the normal distribution of all values --

    def _draw(self) -> Floats | None:
        """Draw errors of all models' values together: (draws, models)."""
        root = self._root()
        if root is None:
            return None
        drawn: Floats = generator(self._seed).standard_normal((DRAWS, root.shape[1])) @ root.T
        return drawn

    def _root(self) -> Floats | None:
        """Return a root of the covariance of the values."""
        if self._over == "trials" and all(s.most_trials() > 1 for s in self._sides.values()):
            errors = [alone.se for alone in self._alone]
            return None if None in errors else np.diag(np.array(errors, dtype=np.float64))
        columns = [linear_values(side, self._metric) for side in self._sides.values()]
        values = np.array([column for column in columns if column is not None])
        if len(values) < len(columns):
            return None
        away = values - values.mean(axis=1, keepdims=True)
        unit = shared_units(list(self._sides.values()))
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

    def _reach(self) -> float:
        """Return the quantile of the largest standardised difference of any two models."""
        alone = normal_quantile(self._level)
        if len(self._contrasts) == 1:
            return alone
        if self._noise is None:  # Bonferroni
            return normal_quantile(1.0 - (1.0 - self._level) / len(self._contrasts))
        largest = np.zeros(DRAWS)
        for i, j in self._contrasts:
            difference = np.abs(self._noise[:, j] - self._noise[:, i])
            error = float(np.sqrt((difference**2).mean()))
            if error > ROUNDING:
                np.maximum(largest, difference / error, out=largest)
        return max(alone, float(np.quantile(largest, self._level)))

    def _chances(self) -> list[float] | list[None]:
        """Return how often each model is the best, by Student's t around the observed values."""
        if self._noise is None:
            return [None] * len(self._names)
        values = np.array([alone.value for alone in self._alone])
        noise = self._noise
        if self._over == "problems":
            unit = shared_units(list(self._sides.values()))
            freedom = (self.n_problems if unit is None else int(unit.max()) + 1) - 1
            square = generator(self._seed + 1).chisquare(freedom, (DRAWS, 1)) / freedom
            noise = noise / np.sqrt(square)
        drawn = values + noise
        best = drawn >= drawn.max(axis=1, keepdims=True) - 1e-9 * (1e-3 + np.abs(noise))
        return [float(share) for share in (best / best.sum(axis=1, keepdims=True)).mean(axis=0)]

    # -- results --

    def pairs(self) -> tuple[Pair, ...]:
        level = 2.0 * NormalDist().cdf(self.reach) - 1.0
        plain = [self._pair(i, j, level) for i, j in self._contrasts]
        known = [index for index, pair in enumerate(plain) if pair.p_value is not None]
        p_values = [p for pair in plain if (p := pair.p_value) is not None]
        for index, p_holm, p_bh in zip(
            known, holm(p_values), benjamini_hochberg(p_values), strict=True
        ):
            plain[index] = replace(plain[index], p_holm=p_holm, p_bh=p_bh)
        return tuple(plain)

    def _pair(self, i: int, j: int, level: float) -> Pair:
        contrast = self._contrasts[i, j]
        low, high = contrast.ends(level) or (None, None)
        a, b = self._names[i], self._names[j]
        return Pair(a, b, contrast.value, low, high, contrast.se, contrast.p_value, None, None)

    def standings(self, pairs: Sequence[Pair]) -> tuple[Standing, ...]:
        chances = enumerate(self._chances())
        standings = [self._standing(index, chance, pairs) for index, chance in chances]
        return tuple(sorted(standings, key=lambda standing: standing.rank))

    def _standing(self, index: int, chance: float | None, pairs: Sequence[Pair]) -> Standing:
        name, alone = self._names[index], self._alone[index]
        above = sum(other.value > alone.value + ROUNDING for other in self._alone)
        against = [
            pair if pair.a == name else _turned(pair) for pair in pairs if name in _two(pair)
        ]
        better = sum(pair.low is not None and pair.low > 0.0 for pair in against)
        worse = sum(pair.high is not None and pair.high < 0.0 for pair in against)
        return Standing(
            model=name,
            value=alone.value,
            low=alone.low,
            high=alone.high,
            rank=1 + above,
            rank_low=1 + better,
            rank_high=len(self._names) - worse,
            p_best=chance,
        )

    def notes(self) -> tuple[Note, ...]:
        notes = [note for contrast in self._contrasts.values() for note in contrast.notes]
        if self._noise is None:
            notes.append(NO_BEST)
        return tuple(dict.fromkeys(notes))


def _two(pair: Pair) -> tuple[str, str]:
    return pair.a, pair.b


def _turned(pair: Pair) -> Pair:
    """Return the same difference seen from the other side."""
    low = None if pair.high is None else -pair.high
    high = None if pair.low is None else -pair.low
    return replace(pair, a=pair.b, b=pair.a, value=-pair.value, low=low, high=high)
