"""Which problems two models share, and the value of each problem on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, nearest
from passband.notes import PAIRED_BY_POSITION, Note
from passband.stats.data.graded import GradedScores
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.components import values_by_problem, values_of
from passband.stats.metric.registry import Metric
from passband.types import Floats, Ints

__all__ = [
    "Match",
    "common_range",
    "match_problems",
    "problem_values",
    "shared_units",
    "sums_by",
    "take",
    "value_of",
    "without_dust",
]


@dataclass(frozen=True, eq=False)
class Match:
    a: Outcomes
    b: Outcomes
    n_problems: int
    n_shared: int
    only_a: int
    only_b: int
    left_out: int
    notes: tuple[Note, ...] = ()


def match_problems(a: Outcomes, b: Outcomes, k: int, paired: bool) -> Match:
    """Return the problems that count, in the same order on both sides if they are paired."""
    a.require(k)
    b.require(k)
    at_a, at_b = _places(a.problems[:], b.problems[:])
    shared = len(at_a)
    only_a, only_b = a.n_problems - shared, b.n_problems - shared
    if not paired:
        sides = [take(side, np.flatnonzero(side.trials >= max(k, 1))) for side in (a, b)]
        used = sides[0].n_problems + sides[1].n_problems
        left_out = a.n_problems + b.n_problems - used
        return Match(sides[0], sides[1], used, shared, only_a, only_b, left_out)
    if shared == 0:
        raise InvalidInput(_nothing_shared(a.problems, b.problems))
    enough = (a.trials[at_a] >= max(k, 1)) & (b.trials[at_b] >= max(k, 1))
    if not enough.any():
        raise NotEnoughData(
            f"none of the {shared} shared problems has {max(k, 1)} scored trials on both sides."
        )
    sides = [take(a, at_a[enough]), take(b, at_b[enough])]
    used = int(enough.sum())
    notes: tuple[Note, ...] = ()
    if (only_a or only_b) and all(name == str(at) for at, name in enumerate(a.problems)):
        notes = (PAIRED_BY_POSITION,)
    return Match(sides[0], sides[1], used, shared, only_a, only_b, shared - used, notes)


def _places(a: Sequence[str], b: Sequence[str]) -> tuple[Ints, Ints]:
    """Return where the shared problems stand on either side, in the order of a."""
    if a == b:
        return np.arange(len(a)), np.arange(len(a))
    place = {name: at for at, name in enumerate(b)}
    at_a = [at for at, name in enumerate(a) if name in place]
    return np.array(at_a, dtype=np.int64), np.array([place[a[at]] for at in at_a], dtype=np.int64)


def take(outcomes: Outcomes, at: Ints) -> Outcomes:
    """Return the problems at these positions, without their unscored trials."""
    if len(at) == outcomes.n_problems and (at == np.arange(len(at))).all():
        return outcomes
    graded = outcomes.graded
    if graded is not None:
        rows = np.split(graded.values, graded.offsets[1:-1])
        offsets = np.concatenate([[0], np.cumsum(outcomes.trials[at])])
        graded = GradedScores(np.concatenate([rows[i] for i in at]), offsets)
    problems, clusters = outcomes.problems[:], outcomes.clusters
    return Outcomes(
        tuple(problems[i] for i in at.tolist()),
        outcomes.trials[at],
        None if outcomes.successes is None else outcomes.successes[at],
        graded,
        None if clusters is None else tuple(clusters[i] for i in at.tolist()),
    )


def _nothing_shared(a: Sequence[str], b: Sequence[str]) -> str:
    def some(names: Sequence[str]) -> str:
        more = ", ..." if len(names) > 3 else ""
        return ", ".join(repr(name) for name in islice(names, 3)) + more

    hint = nearest(a[0], islice(b, 1000))
    return (
        f"no problem is on both sides; a has {some(a)} and b has {some(b)}.{hint} "
        "Name the problems alike, or ask for paired=False."
    )


def shared_units(sides: Sequence[Outcomes]) -> Ints | None:
    """Return the cluster of each problem by number, from the sides that have clusters."""
    labels = [np.array(side.clusters) for side in sides if side.clusters is not None]
    if not labels:
        return None
    _, unit = np.unique(labels[0], return_inverse=True)
    for other in labels[1:]:
        _, code = np.unique(other, return_inverse=True)
        both = np.unique(unit * (int(code.max()) + 1) + code)
        if not len(both) == unit.max() + 1 == code.max() + 1:
            raise InvalidInput(_clash(sides[0].problems, labels[0].tolist(), other.tolist()))
    return np.asarray(unit)


def _clash(problems: Sequence[str], first: Sequence[str], second: Sequence[str]) -> str:
    at = next(i for i, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1])
    return (
        "the sides must put the same problems into the same clusters; "
        f"problem {problems[at]!r} is in {first[at]!r} and in {second[at]!r}."
    )


def sums_by(unit: Ints, values: Floats) -> Floats:
    """Add up the values of each unit."""
    return np.bincount(unit, weights=values).astype(np.float64)


def problem_values(outcomes: Outcomes, metric: Metric) -> Floats | None:
    """Return the value of each problem, all of them having k trials.

    A metric that blends averages over the data set is replaced by its linear part, which has the
    same mean; None if a factor is zero, where there is no such part.
    """
    parts = [values_by_problem(part, outcomes, metric.k) for part in metric.parts]
    means = [float(part.mean()) for part in parts]
    if metric.powers is not None and min(means) == 0.0:
        return None
    return metric.linear(parts, means)


def value_of(outcomes: Outcomes, metric: Metric) -> float:
    return metric.combine([values_of(part, outcomes, metric.k).mean() for part in metric.parts])


def common_range(sides: Sequence[Outcomes], metric: Metric) -> tuple[float, float]:
    """Return the smallest and largest value there can be, or of graded scores the ones seen."""
    low, high = (0.0, 1.0) if metric.powers is not None else metric.parts[0].bounds
    graded = [side.graded.values for side in sides if side.graded is not None]
    if not graded:
        return low, high
    seen = np.concatenate(graded)
    if len(graded) < len(sides):
        seen = np.append(seen, [low, high])
    return float(seen.min()), float(seen.max())


def without_dust(change: Floats) -> Floats:
    """Set differences that are rounding errors to zero."""
    size = np.abs(change)
    return np.where(size <= 1e-12 * max(1.0, float(size.max(initial=0.0))), 0.0, change)
