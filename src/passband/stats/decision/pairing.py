"""Match the problems that two models share, with each problem's value on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, nearest
from passband.notes import Note
from passband.stats.checks import ROUNDING
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints

PAIRED_BY_POSITION = Note(
    "paired-by-position", "the problems have numbers for names, so they were paired by position"
)


@dataclass(frozen=True, eq=False)
class Match:
    """The problems of two sides that count, and how many do not."""

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
        sides = [side.take(np.flatnonzero(side.trials >= max(k, 1))) for side in (a, b)]
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
    sides = [a.take(at_a[enough]), b.take(at_b[enough])]
    used = int(enough.sum())
    notes: tuple[Note, ...] = ()
    # Names that only number the rows match by position, which is doubtful if rows are missing.
    if (only_a or only_b) and all(name == str(index) for index, name in enumerate(a.problems)):
        notes = (PAIRED_BY_POSITION,)
    return Match(sides[0], sides[1], used, shared, only_a, only_b, shared - used, notes)


def _places(a: Sequence[str], b: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the positions of the shared problems on either side, in the order of a."""
    if a == b:
        return np.arange(len(a)), np.arange(len(a))
    place = {name: index for index, name in enumerate(b)}
    in_a = [index for index, name in enumerate(a) if name in place]
    in_b = [place[a[index]] for index in in_a]
    return np.array(in_a, dtype=np.int64), np.array(in_b, dtype=np.int64)


def _nothing_shared(a: Sequence[str], b: Sequence[str]) -> str:
    def some(names: Sequence[str]) -> str:
        more = ", ..." if len(names) > 3 else ""
        return ", ".join(repr(name) for name in islice(names, 3)) + more

    hint = nearest(a[0], islice(b, 1000))
    return (
        f"no problem is on both sides; a has {some(a)} and b has {some(b)}.{hint} "
        "Give the problems the same names, or use paired=False."
    )


def shared_units(sides: Sequence[Outcomes]) -> Ints | None:
    """Return the cluster of each problem by number, from the sides that have clusters."""
    labels = [np.array(side.clusters) for side in sides if side.is_clustered]
    if not labels:
        return None
    _, unit = np.unique(labels[0], return_inverse=True)
    for other in labels[1:]:
        _, code = np.unique(other, return_inverse=True)
        # Two labelings are one partition exactly if no cluster of either is split by the other.
        both = np.unique(unit * (int(code.max()) + 1) + code)
        if not len(both) == unit.max() + 1 == code.max() + 1:
            raise InvalidInput(_clash(sides[0].problems, labels[0].tolist(), other.tolist()))
    return np.asarray(unit)


def _clash(problems: Sequence[str], first: Sequence[str], second: Sequence[str]) -> str:
    both = enumerate(zip(first, second, strict=True))
    index = next(i for i, pair in both if pair[0] != pair[1])
    return (
        "the sides must put the same problems into the same clusters; "
        f"problem {problems[index]!r} is in {first[index]!r} and in {second[index]!r}."
    )


def effective_units(sizes: Floats) -> float:
    """Return the number of clusters of equal size that some amount to, by Kish's formula."""
    return float(sizes.sum() ** 2 / (sizes @ sizes))


def sums_by(unit: Ints, values: Floats) -> Floats:
    """Add up the values of each unit."""
    return np.bincount(unit, weights=values).astype(np.float64)


def linear_values(outcomes: Outcomes, metric: Metric) -> Floats | None:
    """Return one value per problem, with the metric as mean; all have k trials.

    A blend of averages over the data set is replaced by its linear part; None if a factor of it
    is zero, where there is no such part. Those of the last metric are kept: a model is compared
    with many others.
    """
    kept = outcomes.memo.get("linear-values")
    if kept is None or kept[0] is not metric:
        kept = outcomes.memo["linear-values"] = (metric, _linear_values(outcomes, metric))
    values: Floats | None = kept[1]
    return values


def _linear_values(outcomes: Outcomes, metric: Metric) -> Floats | None:
    parts = list(metric.by_problem(outcomes).T)
    means = [float(part.mean()) for part in parts]
    return None if metric.has_zero_factor(means) else metric.linear(parts, means)


def common_range(sides: Sequence[Outcomes], metric: Metric) -> tuple[float, float]:
    """Return the smallest and largest possible value; where no scale says, the observed ones."""
    ends = [metric.bounds if side.is_binary else _range_of_scores(side) for side in sides]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _range_of_scores(outcomes: Outcomes) -> tuple[float, float]:
    seen, scale = outcomes.required_graded().values, outcomes.range
    return (
        float(seen.min()) if scale.low is None else scale.low,
        float(seen.max()) if scale.high is None else scale.high,
    )


def changes(a: Floats, b: Floats) -> Floats:
    """Return b - a, with differences that are rounding errors set to zero."""
    change = b - a
    size = np.abs(change)
    largest = max(float(np.abs(side).max(initial=0.0)) for side in (a, b))
    unit = min(largest, max(1.0, float(size.max(initial=0.0))))
    return np.where(size <= ROUNDING * unit, 0.0, change)
