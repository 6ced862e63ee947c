"""Two models on the same problems: how much better one is, how sure that is, and where.

Most of what makes one problem harder than another is the same for both models. The difference of
their values, problem by problem, is free of it, and so needs far fewer problems than two separate
intervals would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from statistics import NormalDist
from typing import NamedTuple, Protocol

import numpy as np

from passband.errors import InvalidInput, NotEnoughData, nearest
from passband.stats.auto import FEW_CLUSTERS, ONE_PROBLEM, ONE_TRIAL
from passband.stats.estimate import Estimate, Over, estimate
from passband.stats.metrics import Metric, parse_metric
from passband.stats.outcomes import Outcomes, Policy
from passband.stats.parts import Part, values_of
from passband.stats.rewards import Rewards
from passband.stats.score import roots, student_quantile
from passband.stats.seeds import seed_of
from passband.types import Floats, Ints

__all__ = [
    "Comparison",
    "Contrast",
    "Flip",
    "Paired",
    "Separate",
    "compare",
    "contrast_of",
    "sign_flip_p_value",
    "take",
]

MOST_FLIPS = 20
NO_CHANGE = (
    "all problems changed alike: the interval is what could have been missed, should a further "
    "problem differ as much as the metric allows"
)
BY_POSITION = "the problems have no names but numbers: they were paired by position"
ZERO_FACTOR = "a factor of the blend is zero: the interval makes no use of the pairing"


class Flip(NamedTuple):
    """A problem that went from one half of the metric's range to the other."""

    problem: str
    value_a: float
    value_b: float


@dataclass(frozen=True)
class Comparison:
    """How much better b is than a, and everything that rests on."""

    metric: str
    value: float  #: b - a
    value_a: float  #: over the problems that count
    value_b: float
    low: float | None
    high: float | None
    se: float | None  #: None where the data show no spread
    p_value: float | None  #: two-sided, of no difference
    probability: float | None  #: confidence that b > a; see `compare`
    level: float
    over: Over
    paired: bool
    n_problems: int  #: problems that count; both sides together if not paired
    n_shared: int  #: problems that both have
    only_a: int
    only_b: int
    left_out: int  #: of the problems that could count, those with too few trials for this k
    improved: int | None  #: problems with a higher value in b; None if not paired
    worsened: int | None
    flipped: int | None  #: problems that crossed the middle of the metric's range
    flips: tuple[Flip, ...]  #: of them, those that changed most
    method: str  #: how the interval is made
    test: str  #: how the p-value is made
    policy: Policy
    seed: int | None  #: None, as nothing is random
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write the difference with its interval, rounded by the error.

        >>> a = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
        >>> b = Outcomes.from_counts([4, 1, 8, 6] * 10, 8)
        >>> print(compare(a, b, "pass@1"))
        pass@1 +0.094 [0.074, 0.110], p 1.9e-09
        """
        from passband.stats.rounding import rounded

        text = f"{self.metric} {'+' if self.value >= 0 else ''}"
        text += rounded(self.value, self.low, self.high)
        return text if self.p_value is None else f"{text}, p {self.p_value:.2g}"


def compare(
    a: Outcomes,
    b: Outcomes,
    metric: str,
    *,
    over: Over = "problems",
    level: float = 0.95,
    paired: bool = True,
    policy: Policy = "drop",
    seed: int | str | None = None,
) -> Comparison:
    """Return how much larger a metric is for b than for a.

    Problems are matched by name. Those that only one side has, or that lack the k trials on
    either side, are left out and counted. Use ``paired=False`` only where the two sides were asked
    different problems on purpose: it gives up what the pairing buys, often half of the width.

    over="problems". With d_i the difference of the values of problem i, the interval is centred on
    the mean of d: the average of Student's interval and one that follows the skewness of d. For
    its spread two problems are added that deviate as much as the changed ones did, so that a few
    changed problems do not pass for certainty. Where all d are equal it is the bound
    ``1 - tail**(1/M)`` on the share of problems of another kind, times the largest difference that
    such a problem can make (for 0.95 about 3.7/M). With clusters, sums over clusters take the
    place of problems.
    The p-value is that of sign flips: if the models are alike, each d_i could as well have the
    other sign. It is exact wherever the sums can be listed or lie on a grid, and for one trial of
    0 or 1 per problem it is the exact McNemar test. Interval and test may disagree at the margin.

    over="trials", or not paired. The two sides are independent. Their own intervals are joined by
    squaring and adding the distances to the ends (Newcombe's square-and-add), and the p-value is
    the level at which the joint interval touches 0.

    `probability` is one minus half of the level at which the interval touches 0, for b > a. It is
    a statement of confidence, as the interval is, and needs no prior; it is not the probability
    that a user would prefer b. `seed` is taken for the sake of callers who pass the same options
    everywhere; nothing here is random.

    Miller (2024), arXiv 2411.00640 (paired differences); Newcombe (1998), Statistics
    in Medicine 17, 873-890; McNemar (1947), Psychometrika 12, 153-157.

    >>> before = Outcomes.from_array([[0], [0], [0], [1], [0], [1]])
    >>> after = Outcomes.from_array([[1], [1], [1], [1], [1], [1]])
    >>> found = compare(before, after, "pass@1")
    >>> round(found.value, 3), found.p_value, found.improved, found.worsened
    (0.667, 0.125, 4, 0)
    """
    if over not in ("problems", "trials"):
        raise InvalidInput(f"over must be 'problems' or 'trials'; got {over!r}.")
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be a number between 0 and 1; got {level!r}.")
    seed_of(seed)
    found = parse_metric(metric)
    match = _match(a.under(policy), b.under(policy), found.k, paired)
    notes = list(match.notes)
    if absent := a.n_unscored + b.n_unscored:
        notes.append(
            f"{absent} trials without a score ({a.n_unscored} of a, {b.n_unscored} of b), "
            f"policy {policy!r}"
        )
    if paired:
        contrast = contrast_of(match.a, match.b, found, over)
        changes = _changes(match, found)
    else:
        contrast, changes = Separate(match.a, match.b, found, over), _Changes()
    ends = contrast.ends(level)
    return Comparison(
        metric=found.name,
        value=contrast.value,
        value_a=_value(match.a, found),
        value_b=_value(match.b, found),
        low=None if ends is None else ends[0],
        high=None if ends is None else ends[1],
        se=contrast.se,
        p_value=contrast.p_value,
        probability=contrast.probability,
        level=level,
        over=over,
        paired=paired,
        n_problems=match.n_problems,
        n_shared=match.n_shared,
        only_a=match.only_a,
        only_b=match.only_b,
        left_out=match.left_out,
        improved=changes.improved,
        worsened=changes.worsened,
        flipped=changes.flipped,
        flips=changes.flips,
        method=contrast.method,
        test=contrast.test,
        policy=policy,
        seed=None,
        notes=(*contrast.notes, *notes),
    )


# -- which problems count ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Match:
    a: Outcomes
    b: Outcomes
    n_problems: int
    n_shared: int
    only_a: int
    only_b: int
    left_out: int
    notes: tuple[str, ...] = ()


def _match(a: Outcomes, b: Outcomes, k: int, paired: bool) -> _Match:
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
        return _Match(sides[0], sides[1], used, shared, only_a, only_b, left_out)
    if shared == 0:
        raise InvalidInput(_nothing_shared(a.problems, b.problems))
    enough = (a.trials[at_a] >= max(k, 1)) & (b.trials[at_b] >= max(k, 1))
    if not enough.any():
        raise NotEnoughData(
            f"none of the {shared} shared problems has {max(k, 1)} scored trials on both sides."
        )
    sides = [take(a, at_a[enough]), take(b, at_b[enough])]
    used = int(enough.sum())
    notes: tuple[str, ...] = ()
    if (only_a or only_b) and all(name == str(at) for at, name in enumerate(a.problems)):
        notes = (BY_POSITION,)
    return _Match(sides[0], sides[1], used, shared, only_a, only_b, shared - used, notes)


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
    rewards = outcomes.rewards
    if rewards is not None:
        rows = np.split(rewards.values, rewards.offsets[1:-1])
        offsets = np.concatenate([[0], np.cumsum(outcomes.trials[at])])
        rewards = Rewards(np.concatenate([rows[i] for i in at]), offsets)
    problems, clusters = outcomes.problems[:], outcomes.clusters
    return Outcomes(
        tuple(problems[i] for i in at.tolist()),
        outcomes.trials[at],
        None if outcomes.successes is None else outcomes.successes[at],
        rewards,
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


def _sums(unit: Ints, values: Floats) -> Floats:
    """Add up the values of each unit."""
    return np.bincount(unit, weights=values).astype(np.float64)


# -- values by problem ---------------------------------------------------------------------


def problem_values(outcomes: Outcomes, metric: Metric) -> Floats | None:
    """Return the value of each problem, all of them having k trials.

    A metric that blends averages over the data set is replaced by its linear part, which has the
    same mean; None if a factor is zero, where there is no such part.
    """
    parts = [_part_values(part, outcomes, metric.k) for part in metric.parts]
    if metric.powers is None:
        return parts[0]
    means = [float(part.mean()) for part in parts]
    if min(means) == 0.0:
        return None
    value = metric.combine(means)
    linear = np.full(outcomes.n_problems, value)
    for part, mean, power in zip(parts, means, metric.powers, strict=True):
        linear = linear + value * power / mean * (part - mean)
    return linear


def _part_values(part: Part, outcomes: Outcomes, k: int) -> Floats:
    if outcomes.rewards is not None:
        found = values_of(part, outcomes, k).values
        values = np.empty(outcomes.n_problems)
        values[np.concatenate([g.problem for g in outcomes.rewards.groups if g.n >= k])] = found
        return values
    assert outcomes.successes is not None
    width = outcomes.most_trials() + 1
    code = outcomes.trials * width + outcomes.successes
    pairs, place = np.unique(code, return_inverse=True)
    at: Floats = part.at(pairs // width, pairs % width, k)[place]
    return at


def _value(outcomes: Outcomes, metric: Metric) -> float:
    return metric.combine([values_of(part, outcomes, metric.k).mean() for part in metric.parts])


def _range(sides: Sequence[Outcomes], metric: Metric) -> tuple[float, float]:
    """Return the smallest and largest value there can be, or of graded scores the ones seen."""
    low, high = (0.0, 1.0) if metric.powers is not None else metric.parts[0].bounds
    graded = [side.rewards.values for side in sides if side.rewards is not None]
    if not graded:
        return low, high
    seen = np.concatenate(graded)
    if len(graded) < len(sides):
        seen = np.append(seen, [low, high])
    return float(seen.min()), float(seen.max())


@dataclass(frozen=True)
class _Changes:
    improved: int | None = None
    worsened: int | None = None
    flipped: int | None = None
    flips: tuple[Flip, ...] = ()


def _changes(match: _Match, metric: Metric) -> _Changes:
    """Count the problems that changed, and name those that changed sides by most."""
    values = [problem_values(side, metric) for side in (match.a, match.b)]
    if values[0] is None or values[1] is None:
        return _Changes()
    change = _without_dust(values[1] - values[0])
    improved, worsened = int((change > 0).sum()), int((change < 0).sum())
    if metric.powers is not None:
        return _Changes(improved, worsened)
    middle = sum(_range((match.a, match.b), metric)) / 2.0
    crossed = np.flatnonzero((values[0] >= middle) != (values[1] >= middle))
    order = crossed[np.argsort(-np.abs(change[crossed]), kind="stable")][:MOST_FLIPS]
    flips = tuple(
        Flip(match.a.problems[i], float(values[0][i]), float(values[1][i])) for i in order.tolist()
    )
    return _Changes(improved, worsened, len(crossed), flips)


def _without_dust(change: Floats) -> Floats:
    """Set differences that are rounding errors to zero."""
    size = np.abs(change)
    return np.where(size <= 1e-12 * max(1.0, float(size.max(initial=0.0))), 0.0, change)


# -- intervals and tests -------------------------------------------------------------------

Ends = tuple[float, float]


class Contrast(Protocol):
    """The difference of two sides, with an interval at any level."""

    notes: tuple[str, ...]

    @property
    def method(self) -> str: ...
    @property
    def test(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def se(self) -> float | None: ...
    @property
    def p_value(self) -> float | None: ...
    @property
    def probability(self) -> float | None: ...
    def ends(self, level: float) -> Ends | None:
        """Return the interval; None where the data do not allow one."""
        ...


def contrast_of(a: Outcomes, b: Outcomes, metric: Metric, over: Over) -> Contrast:
    """Return the difference of two sides with the same problems in the same order."""
    unit = shared_units((a, b)) if over == "problems" else None
    one_trial = over == "trials" and min(a.most_trials(), b.most_trials()) == 1
    if over == "trials" and not one_trial:
        return Separate(a, b, metric, over)
    values = [problem_values(side, metric) for side in (a, b)]
    if values[0] is None or values[1] is None:
        return Separate(a, b, metric, over, (ZERO_FACTOR,))
    low, high = _range((a, b), metric)
    notes = (ONE_TRIAL,) if one_trial else ()
    return Paired(_without_dust(values[1] - values[0]), unit, high - low, notes)


class Paired:
    """Differences by problem, or by cluster, of which the mean is sought."""

    method = "paired"

    def __init__(
        self, change: Floats, unit: Ints | None, span: float, notes: tuple[str, ...] = ()
    ) -> None:
        self._change, self._unit, self._span = change, unit, span
        self.value = float(change.mean())
        units = len(change) if unit is None else int(unit.max()) + 1
        if len(change) == 1:
            notes = (*notes, ONE_PROBLEM)
        elif unit is not None and units < 20:
            notes = (*notes, FEW_CLUSTERS)
        self.notes = (*notes, NO_CHANGE) if self._moments.spread == 0.0 else notes

    @property
    def test(self) -> str:
        return "sign flips" if self._unit is None else "sign flips of clusters"

    @cached_property
    def _moments(self) -> _Moments:
        alone = _Moments.of(self._change, None)
        if self._unit is None:
            return alone
        grouped = _Moments.of(self._change, self._unit)
        # Never surer than without clusters, and never with more units than there are clusters.
        return replace(
            grouped,
            spread=max(grouped.spread, alone.spread),
            error=max(grouped.error, alone.error),
            plain_error=max(grouped.plain_error, alone.plain_error),
        )

    @property
    def se(self) -> float | None:
        """The standard deviation of the differences over the root of their number."""
        return self._moments.plain_error or None

    @property
    def p_value(self) -> float:
        if self._unit is None:
            return sign_flip_p_value(self._change)
        return sign_flip_p_value(_sums(self._unit, self._change))

    @property
    def probability(self) -> float | None:
        return _confidence(self.value, self.ends)

    def ends(self, level: float) -> Ends | None:
        if self._span == 0.0 and self._moments.spread == 0.0:
            return None
        if self._moments.spread == 0.0:
            low, high = self._bound((1.0 - level) / 2.0)
        else:
            low, high = self._moments.ends(level)
        return (
            max(min(low, self.value), min(-self._span, self.value)),
            min(max(high, self.value), max(self._span, self.value)),
        )

    def _bound(self, tail: float) -> Ends:
        """Return how far the mean could be off if a share of the units, missed so far, differs."""
        units = len(self._change) if self._unit is None else int(self._unit.max()) + 1
        missed = 1.0 - tail ** (1.0 / units)
        m = self.value
        return m - missed * (self._span + m), m + missed * (self._span - m)


@dataclass(frozen=True)
class _Moments:
    """Spread and skewness of the units' deviations, on the scale of one problem."""

    mean: float
    units: int
    spread: float  # sum of squared deviations; 0 if rounding is all there is
    tilt: float
    error: float  # standard error that the interval uses
    plain_error: float

    @staticmethod
    def of(change: Floats, unit: Ints | None) -> _Moments:
        mean = float(change.mean())
        if unit is None:
            away, moved = change - mean, np.count_nonzero(change)
        else:
            size = len(change) / (int(unit.max()) + 1)
            away = _sums(unit, change - mean) / size
            moved = np.count_nonzero(np.bincount(unit, weights=change != 0.0))
        units = len(away)
        spread = float(away @ away)
        if spread <= 1e-20 * float(change @ change):
            return _Moments(mean, units, 0.0, 0.0, 0.0, 0.0)
        # Two further units, one up and one down by as much as those that moved at all.
        second = spread * (1.0 + 2.0 / moved) / (units + 2.0)
        tilt = float((away**3).sum()) / (units + 2.0) / second
        degrees = max(units - 1.0, 1.0)
        error, plain = (second / degrees) ** 0.5, (spread / units / degrees) ** 0.5
        return _Moments(mean, units, spread, tilt, error, plain)

    def ends(self, level: float) -> Ends:
        q = student_quantile(level, max(self.units - 1.0, 1.0))
        mean, variance = np.asarray(self.mean), np.asarray(self.error**2 * self.units)
        ends = [
            roots(mean, variance, np.asarray(tilt), 0.0, q, float(self.units))
            for tilt in (0.0, self.tilt)
        ]
        return (float(ends[0][0] + ends[1][0]) / 2.0, float(ends[0][1] + ends[1][1]) / 2.0)


class Separate:
    """Two independent sides, each with its own default interval, joined by square-and-add."""

    method = "square-and-add"
    test = "interval"

    def __init__(
        self,
        a: Outcomes,
        b: Outcomes,
        metric: Metric,
        over: Over,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._a, self._b, self._metric, self._over = a, b, metric, over
        first, second = self._sides(0.95)
        self.value = second.value - first.value
        self.se = None
        if first.se is not None and second.se is not None:
            self.se = float(np.hypot(first.se, second.se)) or None
        own = [*(f"a: {note}" for note in first.notes), *(f"b: {note}" for note in second.notes)]
        self.notes = (*own, *notes)

    def _sides(self, level: float) -> tuple[Estimate, Estimate]:
        first, second = (
            estimate(side, self._metric.name, over=self._over, level=level)
            for side in (self._a, self._b)
        )
        return first, second

    def ends(self, level: float) -> Ends | None:
        a, b = self._sides(level)
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return None
        down = np.hypot(b.value - b.low, a.high - a.value)
        up = np.hypot(b.high - b.value, a.value - a.low)
        return float(self.value - down), float(self.value + up)

    @property
    def p_value(self) -> float | None:
        chance = self.probability
        return None if chance is None else 2.0 * min(chance, 1.0 - chance)

    @cached_property
    def probability(self) -> float | None:
        return _confidence(self.value, self.ends)


_FARTHEST = 6.0  # standard deviations; beyond, no interval here is worth being believed


def _confidence(value: float, ends: Callable[[float], Ends | None]) -> float | None:
    """Return the one-sided confidence that the difference is positive.

    The level at which the near end is 0 is found on the scale of normal deviations, by false
    position with the Illinois correction.
    """
    if ends(0.5) is None:
        return None
    if value == 0.0:
        return 0.5
    normal = NormalDist()

    def gap(z: float) -> float:
        low, high = ends(2.0 * normal.cdf(z) - 1.0) or (0.0, 0.0)
        return low if value > 0 else -high

    near, at_near = 0.0, abs(value)
    far, at_far = _FARTHEST, gap(_FARTHEST)
    while at_far < 0.0 and far - near > 1e-9:
        z = near + (far - near) * at_near / (at_near - at_far)
        at = gap(z)
        if at == 0.0:
            near = far = z
        elif at > 0.0:
            near, at_near, at_far = z, at, at_far / 2.0
        else:
            far, at_far, at_near = z, at, at_near / 2.0
    return normal.cdf(far if value > 0 else -far)


# -- the test of sign flips ----------------------------------------------------------------

_MOST_SUMS = 1 << 20
_MOST_WORK = 1 << 25
_ONE_BY_ONE = 1024
_ACCURACY = 1e-12  # of a Fourier sum; below, Hoeffding's bound is given
_LEAST = 1e-300  # no p-value is zero


def sign_flip_p_value(change: Floats) -> float:
    """Return the chance that random signs of the d make their sum as far from 0 as it is.

    Equal sizes of d are taken together, a binomial number of them having a plus. Then, in this
    order: all sums are listed if there are up to a million; if the d are multiples of one number,
    the law of the sum is the Fourier transform of a product of cosines, exact to twelve digits; for
    other d the sum is smoothed by less than a thousandth of its standard deviation, the p-value
    rounded up by as much, and all but the 1024 largest sizes taken as normal. Nothing is random.
    Zeros do not matter.

    >>> round(sign_flip_p_value(np.array([1, 1, 1, 1, 1, -1.0])), 12)  # McNemar, 5 against 1
    0.21875
    """
    size = np.abs(change)
    largest = float(size.max(initial=0.0))
    size = size[size > 1e-12 * largest]
    observed = abs(float(change.sum()))
    if len(size) == 0 or observed <= 1e-12 * largest * len(size):
        return 1.0
    step, count = np.unique(np.round(size / largest, 12), return_counts=True)
    reached = observed / largest * (1.0 - 1e-10)
    if float(np.log2(count + 1.0).sum()) <= np.log2(_MOST_SUMS):
        return min(1.0, max(_by_listing(step, count, reached), _LEAST))
    deviation = float(np.sqrt(count @ step**2))
    grain = _common_divisor(step)
    if grain is not None and len(step) * 40.0 * deviation / grain <= _MOST_WORK:
        found = _on_grid(np.round(step / grain), count, reached / grain)
    else:
        found = _smoothed(step, count, reached, deviation)
    if found > _ACCURACY:
        return min(1.0, found)
    hoeffding = 2.0 * float(np.exp(-((reached / deviation) ** 2) / 2.0))
    return min(_ACCURACY, max(hoeffding, _LEAST))


def _by_listing(step: Floats, count: Ints, reached: float) -> float:
    from scipy.special import gammaln

    sums, weights = np.zeros(1), np.ones(1)
    for size, m in zip(step.tolist(), count.tolist(), strict=True):
        plus = np.arange(m + 1)
        ways = gammaln(m + 1) - gammaln(plus + 1) - gammaln(m - plus + 1)
        sums = np.add.outer(sums, size * (2.0 * plus - m)).ravel()
        weights = np.multiply.outer(weights, np.exp(ways - m * np.log(2.0))).ravel()
    return float(weights[np.abs(sums) >= reached].sum())


def _common_divisor(step: Floats) -> float | None:
    """Return the largest number that all are multiples of, if it is not too small."""
    divisor = float(step[-1])
    for size in step.tolist():
        larger, smaller = size, divisor
        while smaller > 1e-5:
            larger, smaller = smaller, abs(larger - smaller * round(larger / smaller))
        if smaller > 1e-9 or larger < 1e-5:
            return None
        divisor = larger
    return divisor


def _on_grid(multiple: Floats, count: Ints, reached: float) -> float:
    """Invert the characteristic function of a whole-numbered sum, wrapped far in its tails."""
    deviation = float(np.sqrt(count @ multiple**2))
    window = min(2.0 * float(count @ multiple) + 2.0, 20.0 * deviation)
    points = 1 << int(np.ceil(np.log2(window)))
    angle = 2.0 * np.pi * np.arange(points // 2 + 1) / points
    curve = np.ones(len(angle))
    for size, m in zip(multiple.tolist(), count.tolist(), strict=True):
        curve *= np.cos(size * angle) ** m
    law = np.fft.irfft(curve, points)
    sums = np.minimum(np.arange(points), points - np.arange(points))
    return float(law[sums >= reached - 1e-6].sum())


def _smoothed(step: Floats, count: Ints, reached: float, deviation: float) -> float:
    """Sum the Fourier series of the law, blurred by a narrow normal to make the series short."""
    largest = np.argsort(-count * step**2)[:_ONE_BY_ONE].tolist()
    others = deviation**2 - float(count[largest] @ step[largest] ** 2)
    half = 9.0 * deviation
    angle = np.pi * np.arange(1, _MOST_WORK // max(len(largest), 256) + 1) / half
    blur = 8.0 / float(angle[-1])
    inside = reached - 5.0 * blur
    if inside <= 0.0:
        return 1.0
    curve = np.exp(-(blur**2 + max(others, 0.0)) * angle**2 / 2.0)
    for at in largest:
        curve *= np.cos(step[at] * angle) ** count[at]
        alive = np.abs(curve) > 1e-20  # most terms die early
        if 2 * np.count_nonzero(alive) < len(alive):
            curve, angle = curve[alive], angle[alive]
    wave = 2.0 / (half * angle) * curve * np.sin(angle * inside)
    return 1.0 - inside / half - float(wave.sum())
