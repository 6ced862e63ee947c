"""Bootstrap intervals, and Student's t as the textbook to compare them with.

They are here because readers ask for them and to reproduce what others report; "auto" covers
better (docs/measured.md). Where the estimate is a plain mean of independent draws, the bootstrap
distribution is computed and not simulated (see `bootstrap_distribution`); likewise where clusters
are few enough to list all their resamples. Nothing is random then and the seed is None. Elsewhere
10,000 replicates are drawn from a seed that is given or made from the data.

Ends are quantiles of that distribution: the lower the smallest value with a probability of at least
`tail` at or below it, the upper the largest with at least `tail` at or above it. So the interval
for failures mirrors the one for successes. An interval is stretched to contain the estimate where
it would not. Resampling sees only what was observed; where that has no spread there is no interval.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Protocol

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import ROUNDING, ROUNDING_DIGITS
from passband.stats.interval.bootstrap.draws import REPLICATES, Replicates, bootstrap_totals
from passband.stats.interval.bootstrap.exact import (
    MeanDistribution,
    distribution_of_groups,
    distribution_of_mean,
)
from passband.stats.interval.bootstrap.units import (
    Units,
    data_seed,
    redrawn_graded,
    redrawn_trials,
    trial_groups,
    trial_pools,
    two_level_units,
    units_of,
)
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.notes import (
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM_NO_INTERVAL,
    RELIABLE_CLUSTERS,
    few_clusters,
    few_informative,
)
from passband.stats.interval.registry import Interval, register_method
from passband.stats.interval.request import IntervalRequest
from passband.stats.interval.seeds import generator
from passband.types import Floats

EQUAL_RESAMPLES = Note(
    "no-interval-equal-resamples",
    "no interval: every resample gives the same value, so resampling shows no spread",
)
OPEN_END_NO_INTERVAL = Note(
    "no-interval-open-end",
    "no interval: too many resamples show no spread, and the scores have no bounds",
)
PLUG_IN_RATES = Note(
    "plug-in-rates",
    "resampling takes the observed rates for the true ones and understates the noise when trials "
    "are few",
    "weak",
)
STRETCHED = Note(
    "stretched",
    "resampling shifts this metric to one side, so the interval was stretched to contain the "
    "estimate",
)
OPEN_END = Note("open-end", "too many resamples show no spread, so one end is the end of the scale")

_FEW = 10
_MOST_POOLS = 256


class Distribution(Protocol):
    """The distribution of an estimate under resampling."""

    @property
    def sd(self) -> float: ...
    def lower(self, tail: float) -> float: ...
    def upper(self, tail: float) -> float: ...
    def below(self, value: float) -> float: ...


# -- the methods -------------------------------------------------------------------------------


@register_method(
    "percentile",
    over=("problems", "trials"),
    summary="quantiles of the bootstrap; too short for few problems",
)
def percentile(request: IntervalRequest) -> Interval:
    """Return the quantiles of the estimate over resamples.

    Over problems, whole problems are drawn with replacement, or whole clusters where there are
    any. Over trials, the problems stay and c of n successes become Binomial(n, c/n); scores that
    are not 0 or 1 are drawn from the problem's own. With fewer than about 100 problems these
    intervals are too short.

    >>> from passband import Outcomes, estimate
    >>> outcomes = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
    >>> result = estimate(outcomes, "pass@1", method="percentile")
    >>> result.low, result.high, round(result.se, 4), result.seed
    (0.3875, 0.6125, 0.0576, None)
    """
    if request.over == "trials":
        distribution, seed = _distribution_over_trials(request)
        if _is_flat(distribution):
            return Interval.none(NO_TRIAL_NOISE)
        return _quantiles(request, distribution, seed).with_notes(PLUG_IN_RATES)
    units = units_of(request)
    reason = _blind(request, units)
    if reason:
        return Interval.none(reason)
    distribution, seed = _distribution_of(request, units)
    return _quantiles(request, distribution, seed).with_notes(*_notes(request, units))


@register_method(
    "bca", over=("problems",), summary="bootstrap quantiles corrected for bias and skewness"
)
def bca(request: IntervalRequest) -> Interval:
    """Return bootstrap quantiles at shares corrected for bias and acceleration.

    With z0 the normal quantile of the share of resamples below the estimate, and a the skewness of
    the leave-one-out estimates divided by 6, the share Phi(z) becomes
    Phi(z0 + (z0 + z) / (1 - a (z0 + z))). Better than plain quantiles from about 20 problems on.
    Efron (1987).
    """
    units = units_of(request)
    reason = _blind(request, units)
    if reason:
        return Interval.none(reason)
    distribution, seed = _distribution_of(request, units)
    if _is_flat(distribution):
        return Interval.none(EQUAL_RESAMPLES)
    normal = NormalDist()
    bias = normal.inv_cdf(float(np.clip(distribution.below(request.value), 1e-9, 1 - 1e-9)))
    bend = _acceleration(units)
    reach = normal.inv_cdf(1.0 - request.tail)
    low, high = (
        normal.cdf(bias + (bias + z) / max(1.0 - bend * (bias + z), 1e-3)) for z in (-reach, reach)
    )
    ends = distribution.lower(low), distribution.upper(1.0 - high)
    return _around(request, ends, distribution.sd, seed).with_notes(*_notes(request, units))


@register_method("studentized", over=("problems",), summary="bootstrap of the t statistic")
def studentized(request: IntervalRequest) -> Interval:
    """Return the estimate minus quantiles of (replicate - estimate) / its own standard error.

    Each replicate is measured by the standard error that it would have reported itself; a
    replicate without any spread counts as infinitely far. The best of the bootstraps for clusters,
    at the price of width. The ends are cut to the scale where there is one: [0, 1] for scores
    that all lie within it.
    """
    units = units_of(request)
    reason = _blind(request, units)
    if reason:
        return Interval.none(reason)
    seed = units.seed(request.seed)
    drawn = units.gathered()
    sums = bootstrap_totals(
        drawn.with_squares, drawn.shares, drawn.draws, REPLICATES, generator(seed)
    )
    values = units.statistic(sums[:, : units.rows.shape[1]])
    away = _distances(values - request.value, units.standard_error(sums))
    error = float(units.standard_error(units.draws * units.shares @ units.with_squares))
    if _is_flat(Replicates(values)) or error == 0.0:
        return Interval.none(EQUAL_RESAMPLES)
    distribution = Replicates(away)
    far = (distribution.upper(request.tail), distribution.lower(request.tail))
    low, high = (request.value - error * end for end in far)
    interval = _around_open(request, (low, high), Replicates(values).sd, seed)
    return interval.with_notes(*_notes(request, units))


@register_method(
    "two-level", over=("problems",), summary="problems resampled, then the trials within them"
)
def two_level(request: IntervalRequest) -> Interval:
    """Return the quantiles of the estimate over resampled problems with resampled trials.

    This counts the noise of the trials twice, since the observed problems carry it already; it is
    here because others report it. A drawn problem's c of n successes become Binomial(n, c/n).
    """
    if request.outcomes.is_clustered:
        raise InvalidInput(
            "method 'two-level' resamples problems one by one, and these come in clusters; "
            "use 'auto', 'percentile', 'bca' or 'studentized'."
        )
    seen = units_of(request)
    reason = _blind(request, seen)
    if reason:
        return Interval.none(reason)
    if request.outcomes.is_binary:
        distribution, seed = _distribution_of(request, two_level_units(request))
    else:
        seed = _graded_seed(request)
        rng = generator(seed)
        distribution = Replicates(redrawn_graded(request, REPLICATES, rng, problems_too=True))
    return _quantiles(request, distribution, seed).with_notes(*_notes(request, seen))


@register_method(
    "t", over=("problems",), summary="mean plus or minus Student's t times the standard error"
)
def student_t(request: IntervalRequest) -> Interval:
    """Return the estimate plus or minus t(U-1) standard errors, U problems or clusters.

    The textbook interval: s / sqrt(M) for problems, the root of the summed squared cluster
    residuals for clusters, the delta method for blends. Good in the middle of the scale, and too
    short near its ends, where the spread of a small sample vanishes. Cut to the
    scale where there is one: [0, 1] for scores that all lie within it.

    >>> from passband import Outcomes, estimate
    >>> result = estimate(Outcomes.from_counts([3, 0, 8, 5], 8), "pass@1", method="t")
    >>> round(result.low, 4), round(result.high, 4), round(result.se, 4)
    (0.0, 1.0, 0.2104)
    """
    units = units_of(request)
    reason = _blind(request, units)
    if reason:
        return Interval.none(reason)
    se = float(units.standard_error(units.draws * units.shares @ units.with_squares))
    if se == 0.0:
        return Interval.none(EQUAL_RESAMPLES)
    reach = student_quantile(request.level, units.draws - 1.0) * se
    ends = request.value - reach, request.value + reach
    return _around(request, ends, se, None).with_notes(*_notes(request, units))


# -- distributions -----------------------------------------------------------------------------


def _distribution_of(request: IntervalRequest, units: Units) -> tuple[Distribution, int | None]:
    """Return the distribution over resampled units, and the seed if drawn."""
    if units.is_mean:
        return distribution_of_mean([units.pool()], units.draws), None
    if request.outcomes.is_clustered and units.is_enumerable:
        return _enumerated(*units.every_resample()), None
    seed = units.seed(request.seed)
    return Replicates(units.replicates(REPLICATES, generator(seed))), seed


class _Enumerated(MeanDistribution):
    """A distribution on points that are not evenly spaced."""

    def below(self, value: float) -> float:
        near = ROUNDING * max(1.0, abs(value))
        start, end = np.searchsorted(self.points, [value - near, value + near])
        return float(self.masses[:start].sum() + self.masses[start:end].sum() / 2)


def _enumerated(values: Floats, masses: Floats) -> Distribution:
    """Return the distribution of estimates; values equal up to rounding are merged."""
    rounded = np.round(values, ROUNDING_DIGITS)
    _, first, kind = np.unique(rounded, return_index=True, return_inverse=True)
    mean = float(masses @ values)
    sd = float(np.sqrt(masses @ (values - mean) ** 2))
    shares: Floats = np.bincount(kind, weights=masses).astype(np.float64)
    return _Enumerated(values[first], shares, mean, sd)


def _distribution_over_trials(request: IntervalRequest) -> tuple[Distribution, int | None]:
    """Return the distribution over redrawn trials, and the seed if drawn."""
    if not request.outcomes.is_binary:
        seed = _graded_seed(request)
        rng = generator(seed)
        return Replicates(redrawn_graded(request, REPLICATES, rng, problems_too=False)), seed
    pairs = request.outcomes.histogram.at_least(request.k)
    if request.metric.is_mean and len(pairs.trials) <= _MOST_POOLS:
        return distribution_of_mean(trial_pools(request), pairs.n_problems), None
    if request.metric.is_mean:
        return distribution_of_groups(trial_groups(request), pairs.n_problems), None
    made = data_seed(request.metric, pairs.trials, pairs.successes, pairs.problems)
    seed = made if request.seed is None else request.seed
    return Replicates(redrawn_trials(request, REPLICATES, generator(seed))), seed


def _graded_seed(request: IntervalRequest) -> int:
    graded = request.outcomes.required_graded()
    made = data_seed(request.metric, graded.values, graded.offsets)
    return made if request.seed is None else request.seed


def _acceleration(units: Units) -> float:
    left_out = units.left_out()
    away = units.shares @ left_out - left_out
    counts = units.draws * units.shares
    third, second = float(counts @ away**3), float(counts @ away**2)
    return third / (6.0 * second**1.5) if second > 0.0 else 0.0


def _distances(shift: Floats, se: Floats) -> Floats:
    """Return shift / se, infinite where there is a shift but no spread."""
    near = np.abs(shift) <= ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(near, 0.0, shift / se)


# -- intervals ---------------------------------------------------------------------------------


def _quantiles(request: IntervalRequest, distribution: Distribution, seed: int | None) -> Interval:
    if _is_flat(distribution):
        return Interval.none(EQUAL_RESAMPLES)
    ends = distribution.lower(request.tail), distribution.upper(request.tail)
    return _around(request, ends, distribution.sd, seed)


def _around(
    request: IntervalRequest, ends: tuple[float, float], se: float, seed: int | None
) -> Interval:
    """Cut the ends to the scale, if there is one, and stretch them to contain the estimate."""
    least, most = request.range()
    low = min(max(ends[0], least), request.value)
    high = max(min(ends[1], most), request.value)
    room = 1e-9 * se
    stretched = ends[0] > request.value + room or ends[1] < request.value - room
    return Interval(low, high, se, (STRETCHED,) if stretched else (), seed)


def _around_open(
    request: IntervalRequest, ends: tuple[float, float], se: float, seed: int | None
) -> Interval:
    """Close an infinite end by the scale; return no interval where there is none."""
    if np.isfinite(ends).all():
        return _around(request, ends, se, seed)
    if not np.isfinite(request.range()).all():
        return Interval.none(OPEN_END_NO_INTERVAL)
    return _around(request, ends, se, seed).with_notes(OPEN_END)


def _is_flat(distribution: Distribution) -> bool:
    scale = max(abs(distribution.lower(0.5)), 1e-300)
    return distribution.sd <= ROUNDING * scale


def _blind(request: IntervalRequest, units: Units) -> Note | None:
    """Return why resampling these units cannot show a spread, or None if it can."""
    if units.draws == 1:
        return ONE_CLUSTER if request.outcomes.is_clustered else ONE_PROBLEM_NO_INTERVAL
    ratios = units.rows[:, :-1] / units.rows[:, -1:]
    if (np.ptp(ratios, axis=0) <= ROUNDING * np.abs(ratios).max(axis=0)).all():
        return NO_SPREAD
    return None


def _notes(request: IntervalRequest, units: Units) -> tuple[Note, ...]:
    """Return notes on where these intervals are too short: they add nothing for the unseen."""
    notes = []
    clustered = request.outcomes.is_clustered
    if clustered and units.draws < RELIABLE_CLUSTERS:
        notes.append(few_clusters(units.draws).as_weak())
    informative = units.draws - round(units.draws * float(units.shares.max()))
    if informative < _FEW:
        noun = "cluster" if clustered else "problem"
        notes.append(few_informative(units.draws, informative, noun, is_weak=True))
    return tuple(notes)
