"""Choose the default interval for some outcomes, with its notes.

Over the trials of a single problem there is no fit, as its success rate is all there is. Clopper
and Pearson's interval of the success rate, p, gives the values that the metric has for p in it. It
covers at least as often as its level says, whatever p is.

Clopper and Pearson (1934), Biometrika 26, 404-413.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from passband.notes import Note
from passband.stats.checks import ROUNDING_DIGITS
from passband.stats.interval.default.clusters import are_few, carriers, cluster_notes, over_clusters
from passband.stats.interval.default.graded import graded_interval
from passband.stats.interval.default.trial_noise import pooled_variance, trial_noise
from passband.stats.interval.default.votes import vote_over_trials
from passband.stats.interval.default.wilson import (
    Ends,
    over_problems,
    over_trials,
    widened_distribution,
)
from passband.stats.interval.fit.count_grid import is_too_large, needs_bins
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.notes import (
    CONSTANT_METRIC,
    K_ABOVE_HALF,
    ONE_PROBLEM,
    ONE_TRIAL,
    TOO_MANY_COUNTS,
    few_informative,
    few_repeats,
    single_trials,
)
from passband.stats.interval.registry import Interval, interval_for, register_method
from passband.stats.interval.request import IntervalRequest
from passband.types import Floats

ZERO_FACTOR = Note(
    "zero-factor",
    "one factor of the blend is zero, so the upper end combines the upper ends of the factors",
)

_RATES = 33  # at which the metric is looked at, should it not rise with p


def is_alone(request: IntervalRequest) -> bool:
    """Return whether an interval over trials is for a single problem."""
    return request.over == "trials" and int((request.outcomes.trials >= request.k).sum()) == 1


def over_own_trials(request: IntervalRequest) -> Interval:
    """Return the exact interval for a single problem with scores of 0 and 1."""
    pair = request.outcomes.histogram.at_least(request.k)
    n, c = int(pair.trials[0]), int(pair.successes[0])
    low, high = _exact_rates(c, n, request.tail)
    values = _values(request, np.linspace(low, high, 2 if _has_prior(request) else _RATES))
    error = (c * (n - c) / n**3) ** 0.5
    around = _values(request, np.clip([c / n - error, c / n + error], 0.0, 1.0))
    return Interval(
        min(float(values.min()), request.value),
        max(float(values.max()), request.value),
        abs(float(around[1] - around[0])) / 2.0 or None,
    )


def _exact_rates(c: int, n: int, tail: float) -> tuple[float, float]:
    """Return the success rates of which c of n, or further off, has a probability of `tail`."""
    from passband.stats.special import betaincinv

    low = float(betaincinv(c, n - c + 1, tail)) if c else 0.0
    return low, float(betaincinv(c + 1, n - c, 1.0 - tail)) if c < n else 1.0


def _values(request: IntervalRequest, p: Floats) -> Floats:
    """Return the expected value at success rates; a prior counts as it does for these trials."""
    metric = request.metric
    return request.latent(p) if _has_prior(request) else metric.combined(metric.latent(p).T)


def _has_prior(request: IntervalRequest) -> bool:
    return any(part.is_posterior for part in request.metric.parts)


_ENOUGH_REPEATS = 10  # problems, and a tenth of them
_UNLIKE = 1.15  # ratio of variances above which strata of n are said to differ
_ENOUGH_INFORMATIVE = 10  # problems that differ from the commonest value


@register_method(
    "auto",
    over=("problems", "trials"),
    summary="unbiased centre, score-type ends with measured coverage",
)
def auto(request: IntervalRequest) -> Interval:
    """Return the default interval for either target."""
    if request.metric.parts[0].needs_answers:
        return vote_over_trials(request)
    if not request.outcomes.is_binary:
        zero = request.metric.has_zero_factor(request.means)
        return _blend_at_zero(request) if zero else graded_interval(request)
    if is_alone(request):
        return over_own_trials(request)
    pairs = request.outcomes.histogram.at_least(request.k)
    if is_too_large(pairs):
        return _from_moments(request)
    if request.metric.has_zero_factor(request.means):
        return _blend_at_zero(request)
    low, high = request.range()
    scale = high - low
    if scale == 0.0:
        return Interval(request.value, request.value, 0.0, (CONSTANT_METRIC,))
    mixture = request.mixture()
    values = request.values(mixture)
    notes = count_notes(request, mixture, values)
    bound = one_sided(request, mixture)
    if bound is not None:
        return bound.with_notes(*notes)
    ends = ends_of(request, mixture, (values - low) / scale)
    start = low
    if needs_bins(pairs):  # the mean of coarse counts is off by a little
        start += request.value - float(mixture.counts @ values / mixture.counts.sum())
    return Interval(
        min(max(start + scale * float(ends.low), low), request.value),
        max(min(start + scale * float(ends.high), high), request.value),
        scale * float(ends.se),
        notes,
    )


def _from_moments(request: IntervalRequest) -> Interval:
    """Return Student's interval over problems, cut to the range, where no fit is possible."""
    interval = interval_for("t", replace(request, over="problems"))
    if interval.low is None or interval.high is None:
        return interval.with_notes(TOO_MANY_COUNTS)
    low, high = request.range()
    ends = max(interval.low, low), min(interval.high, high)
    return replace(interval, low=ends[0], high=ends[1]).with_notes(TOO_MANY_COUNTS)


def ends_of(request: IntervalRequest, mixture: Mixture, values: Floats) -> Ends:
    """Return the ends of the rule that serves these outcomes, values being scaled to [0, 1].

    Without clusters, the mixture may have leading axes, one entry per data set of the same design
    (problems and trials of each); the request then gives the design, metric, target and level. Data
    sets in which all trials are alike have `one_sided` instead.
    """
    if request.over == "trials" and not has_few_repeats(mixture):
        squares = request.squares(mixture, values)
        return over_trials(mixture, values, request.k, request.level, squares=squares)
    if request.over == "problems" and request.outcomes.is_clustered:
        return over_clusters(request.outcomes, mixture, values, request.k, request.level)
    return over_problems(mixture, values, request.level)


def count_notes(request: IntervalRequest, mixture: Mixture, values: Floats) -> tuple[Note, ...]:
    """Return notes on where the coverage of the default intervals is known to be weak.

    `values` are those of the pairs of the mixture's grid.
    """
    notes = target_notes(request, mixture)
    if request.over == "trials" and len(mixture.strata) > 1 and not has_few_repeats(mixture):
        notes += _strata_notes(request, mixture, values)
    return (*notes, *_spread_notes(request, mixture, values))


def _spread_notes(request: IntervalRequest, mixture: Mixture, values: Floats) -> tuple[Note, ...]:
    """Return a note if the spread of the values rests on few problems."""
    problems = mixture.problems
    if problems == 1:
        return ()
    informative = problems - _commonest(mixture, values)
    is_weak = rests_on_few(request, mixture, values)
    if not is_weak and informative >= _ENOUGH_INFORMATIVE:
        return ()
    return (few_informative(problems, informative, is_weak=is_weak),)


def rests_on_few(request: IntervalRequest, mixture: Mixture, values: Floats) -> bool:
    """Return whether too few problems carry the spread, observed or predicted by the fit.

    Where all trials are alike the interval is an exact bound, which is never short.
    """
    seen = mixture.counts > 0
    rates = mixture.grid.successes[seen] / mixture.grid.trials[seen]
    if rates.min() == rates.max() and rates[0] in (0.0, 1.0):
        return False
    problems = float(mixture.problems)
    distribution, _ = widened_distribution(mixture, problems)
    over = "problems" if has_few_repeats(mixture) else request.over
    return are_few(carriers(values, distribution, problems), problems, over)


def _strata_notes(request: IntervalRequest, mixture: Mixture, values: Floats) -> list[Note]:
    """Return notes on noise that differs with the number of trials, or cannot be seen."""
    problems, repeated = mixture.problems, _repeated(mixture)
    if mixture.strata[0].law.grid.ns[-1] == 1:
        return [single_trials(problems - repeated, problems)]
    low, high = request.range()
    values = (values - low) / (high - low)
    squares = request.squares(mixture, values)
    separate = float(trial_noise(mixture, values, request.k, squares).variance)
    pooled = float(pooled_variance(mixture, values, request.k, squares))
    if 1.0 / _UNLIKE <= separate / max(pooled, 1e-300) <= _UNLIKE:
        return []
    errors = ((high - low) * (variance / problems) ** 0.5 for variance in (separate, pooled))
    return [noise_by_trials(*errors)]


def target_notes(request: IntervalRequest, mixture: Mixture) -> list[Note]:
    """Return notes on problems, clusters or trials that are too few for the target."""
    notes: list[Note] = []
    problems = mixture.problems
    if request.over == "trials":
        if mixture.grid.ns[-1] == 1:
            notes.append(ONE_TRIAL)
        elif has_few_repeats(mixture):
            notes.append(few_repeats(_repeated(mixture), problems))
        elif 2 * request.k > mixture.grid.ns[0]:
            notes.append(K_ABOVE_HALF)
    elif problems == 1:
        notes.append(ONE_PROBLEM)
    return notes + cluster_notes(request)


def has_few_repeats(mixture: Mixture) -> bool:
    """Return whether too few problems have repeated trials to measure the noise of sampling."""
    problems, repeated = mixture.problems, _repeated(mixture)
    return 2 * repeated < problems and repeated < max(_ENOUGH_REPEATS, problems / 10)


def _repeated(mixture: Mixture) -> int:
    """Return the number of problems with more than one trial."""
    return round(float(mixture.counts[..., mixture.grid.trials > 1].sum(axis=-1).flat[0]))


def _commonest(mixture: Mixture, values: Floats) -> int:
    """Return the number of problems that share the commonest value."""
    _, kind = np.unique(np.round(values, ROUNDING_DIGITS), return_inverse=True)
    return round(float(np.bincount(kind, weights=mixture.counts).max()))


def one_sided(request: IntervalRequest, mixture: Mixture) -> Interval | None:
    """Return the exact bound where no trial succeeded, or none failed."""
    grid, counts = mixture.grid, mixture.counts
    seen = counts > 0
    if not grid.successes[seen].any():
        end = 0.0
    elif (grid.successes == grid.trials)[seen].all():
        end = 1.0
    else:
        return None
    problems = mixture.problems
    if request.over == "problems" or has_few_repeats(mixture):
        units = request.outcomes.n_units(request.k) if request.over == "problems" else problems
        reach = 1.0 - request.tail ** (1.0 / units)
        ends = [request.value + reach * (far - request.value) for far in _reachable(request)]
    else:
        trials = float(counts @ grid.trials) / problems
        ends = _hull_over_trials(request, problems, trials, end)
    return Interval(ends[0], ends[1], None)


def _reachable(request: IntervalRequest) -> tuple[float, float]:
    """Return the smallest and largest value that a problem with as many trials could have."""
    if not request.metric.is_mean:
        return request.range()
    values = request.values(request.mixture())
    return float(values.min()), float(values.max())


def _hull_over_trials(
    request: IntervalRequest, problems: int, trials: float, end: float
) -> list[float]:
    """Return the possible shift of the value if R problems shared a hidden success rate.

    With R problems of n trials each, a rate of 1 - tail**(1/(nR)) is the largest that leaves all
    trials alike with probability `tail`. The worst R counts.
    """
    sharing = np.unique(np.geomspace(1, problems, min(problems, 200)).round())
    rate = 1.0 - request.tail ** (1.0 / (trials * sharing))
    shift = request.latent(np.abs(end - rate)) - request.latent(np.array([end]))
    moved = request.value + sharing / problems * shift
    return [float(min(moved.min(), request.value)), float(max(moved.max(), request.value))]


def _blend_at_zero(request: IntervalRequest) -> Interval:
    """Return the interval of a product with a zero factor, from the factors' own ends."""
    factors = [auto(request.of_part(index)) for index in range(len(request.metric.parts))]
    notes = dict.fromkeys(note for factor in factors for note in factor.notes)
    if any(factor.high is None for factor in factors):
        return Interval(None, None, None, tuple(notes))
    return Interval(
        0.0,
        request.metric.combine([factor.high or 0.0 for factor in factors]),
        None,
        (ZERO_FACTOR, *notes),
    )


def noise_by_trials(own: float, pooled: float) -> Note:
    """Return the note on sampling noise that differs with the number of trials."""
    return Note(
        "noise-by-trials",
        "problems with few trials are of another kind than those with many, so the noise is "
        f"measured for each number of trials (standard error {own:.2g}; {pooled:.2g} if they were "
        "alike)",
    )
