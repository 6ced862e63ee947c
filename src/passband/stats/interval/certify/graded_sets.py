"""Simulate graded scores, with intervals made data set by data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from passband.stats.data.graded import GradedScores, ScoreGroup
from passband.stats.data.values import frozen
from passband.stats.interval.certify.laws import (
    Copula,
    ValueLaw,
    between_variance,
    pooled_residuals,
    problem_laws,
)
from passband.stats.interval.certify.simulation import SimulatedEnds, Simulation
from passband.stats.interval.default.graded import graded_ends
from passband.stats.interval.default.graded_sample import GradedSample
from passband.stats.metric.components import BestScore
from passband.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class GradedSets(Simulation):
    """Data sets of graded scores."""

    law: str
    truth: Floats
    samples: Sequence[GradedSample]

    def ends(self, level: float) -> SimulatedEnds:
        pairs = np.array([_ends(sample, level) for sample in self.samples])
        return SimulatedEnds(pairs[:, 0], pairs[:, 1])


def _ends(sample: GradedSample, level: float) -> tuple[float, float]:
    """Return the ends as `graded_interval` has them, cut to the scale and containing the mean."""
    ends = graded_ends(sample, level)
    if ends is None:
        return np.nan, np.nan
    low, high = np.clip([float(ends.low), float(ends.high)], *sample.request.range())
    return min(low, sample.mean), max(high, sample.mean)


# -- over problems: one value per problem ------------------------------------------------------


def problem_sets(sample: GradedSample, sets: int, rng: np.random.Generator) -> list[Simulation]:
    """Draw data sets of as many problems with as many trials from laws of a problem's value."""
    if sample.codes is not None:
        return [_clustered(sample, sample.codes, 2 * sets, rng)]
    low, high = sample.request.range()
    laws = problem_laws(sample.values, 0.0 if sample.sign == 1 else low, high)
    each = max(2 * sets // len(laws), 1)
    return [_drawn(sample, law, each, rng) for law in laws]


def _drawn(sample: GradedSample, law: ValueLaw, sets: int, rng: np.random.Generator) -> GradedSets:
    rows = law.draw(rng, (sets, sample.problems))
    samples = [replace(sample, values=row) for row in rows]
    return GradedSets(law.name, np.full(sets, law.mean), samples)


def _clustered(
    sample: GradedSample, codes: Ints, sets: int, rng: np.random.Generator
) -> GradedSets:
    ordered = np.sort(sample.values)
    shares = np.full(sample.problems, 1.0 / sample.problems)
    copula = Copula.of(ordered, shares, between_variance(sample.values, codes))
    rows = ordered[copula.draw(codes, sets, rng)]
    samples = [replace(sample, values=row) for row in rows]
    return GradedSets("copula", np.full(sets, copula.mean), samples)


# -- over trials: these problems, their scores drawn again -------------------------------------


def trial_sets(sample: GradedSample, sets: int, rng: np.random.Generator) -> GradedSets | None:
    """Draw the scores of these problems again; None where no problem shows any noise."""
    groups = sample.groups
    pool = pooled_residuals([group.ordered for group in groups])
    if not len(pool):
        return None
    low, high = sample.request.range()
    spreads = _spreads(groups)
    levels = [
        np.clip(group.ordered.mean(axis=1)[:, None] + spread[:, None] * pool, low, high)
        for group, spread in zip(groups, spreads, strict=True)
    ]  # what a problem can score, in rising order
    truth = float((np.concatenate(levels) @ _weights(sample, len(pool))).mean())
    samples = [_redrawn(sample, levels, rng) for _ in range(sets)]
    return GradedSets("residuals", np.full(sets, truth), samples)


def _spreads(groups: Sequence[ScoreGroup]) -> list[Floats]:
    """Return the standard deviation of each problem's scores; of a single score, the others'."""
    sds = [g.ordered.std(axis=1, ddof=1) if g.n > 1 else None for g in groups]
    shared = float(np.sqrt(np.concatenate([sd**2 for sd in sds if sd is not None]).mean()))
    return [
        np.full(len(g.problem), shared) if sd is None else sd
        for g, sd in zip(groups, sds, strict=True)
    ]


def _weights(sample: GradedSample, size: int) -> Floats:
    """Return the probabilities that the value of a problem is each of its levels."""
    is_best = isinstance(sample.request.metric.parts[0], BestScore)
    reached: Floats = (np.arange(size + 1) / size) ** (sample.request.k if is_best else 1)
    return np.diff(reached)


def _redrawn(
    sample: GradedSample, levels: Sequence[Floats], rng: np.random.Generator
) -> GradedSample:
    groups = tuple(_scores(sample.groups, levels, rng))
    values = np.concatenate([_values(sample, group) for group in groups])
    return replace(sample, groups=groups, values=values)


def _values(sample: GradedSample, group: ScoreGroup) -> Floats:
    """Return the value of each problem of a group, as its part of the metric defines it."""
    trials = np.arange(len(group.problem) + 1) * group.n
    graded = GradedScores(frozen(group.ordered.ravel()), frozen(trials))
    return sample.request.metric.parts[0].of_graded(graded, sample.request.k)


def _scores(
    groups: Sequence[ScoreGroup], levels: Sequence[Floats], rng: np.random.Generator
) -> Iterator[ScoreGroup]:
    for group, each in zip(groups, levels, strict=True):
        drawn = rng.integers(0, each.shape[1], group.ordered.shape, dtype=np.int32)
        yield ScoreGroup(group.problem, np.sort(np.take_along_axis(each, drawn, axis=1), axis=1))
