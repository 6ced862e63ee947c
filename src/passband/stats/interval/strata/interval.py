"""Choose the rule for the interval of a weighted mean over strata, with its notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note, joined, plural
from passband.stats.checks import ROUNDING_DIGITS
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.selection import (
    has_few_repeats,
    rests_on_few,
    target_notes,
)
from passband.stats.interval.fit.count_grid import grid_of, is_too_large
from passband.stats.interval.fit.mixture import Mixture, fit_mixture
from passband.stats.interval.notes import few_informative
from passband.stats.interval.registry import Interval, interval_for
from passband.stats.interval.request import IntervalRequest
from passband.stats.interval.strata.spread import (
    StratumSpread,
    edge_over_problems,
    spread_of_counts,
    spread_of_values,
    square_and_add,
    strata_over_problems,
    strata_over_trials,
    weighted_counts,
)
from passband.types import Floats

_ENOUGH_INFORMATIVE = 10  # problems that differ from the commonest value of their stratum


def strata_interval(
    value: float, requests: Mapping[str, IntervalRequest], weights: Floats
) -> Interval:
    """Return the interval of a weighted mean; the requests' problems all have k trials.

    Problems with values of their own share one interval of score type. What has none (blends with
    a factor of zero, clusters, sampling noise of graded scores) is combined from the strata's own
    default intervals by squaring and adding.
    """
    strata = list(requests.values())
    first = strata[0]
    if len(strata) == 1:
        return interval_for("auto", first)
    _check_clusters(requests)
    if first.over == "trials":
        interval = _over_trials(value, requests, weights)
    elif _has_values(strata) and not _is_thin(strata):
        interval = _over_problems(value, strata, weights)
    else:
        interval = _squared(value, requests, weights)
    if interval.low is None or interval.high is None:
        return interval
    least, most = _range(strata)
    return Interval(
        min(max(interval.low, least), value),
        max(min(interval.high, most), value),
        interval.se,
        interval.notes,
    )


def _check_clusters(requests: Mapping[str, IntervalRequest]) -> None:
    """Refuse clusters with problems in two strata, which are then not independent."""
    home: dict[str, str] = {}
    for name, request in requests.items():
        for cluster in dict.fromkeys(request.outcomes.clusters or ()):
            if home.setdefault(cluster, name) != name and request.over == "problems":
                raise InvalidInput(
                    f"cluster {cluster!r} has problems in the strata {home[cluster]!r} and "
                    f"{name!r}; a cluster must lie within one stratum."
                )


def _has_values(strata: Sequence[IntervalRequest]) -> bool:
    return not any(
        request.outcomes.is_clustered or request.metric.has_zero_factor(request.means)
        for request in strata
    )


def _is_thin(strata: Sequence[IntervalRequest]) -> bool:
    """Return whether graded scores differ so little that their moments say too little.

    Counts have a family of distributions to say what could have been missed; graded scores have
    the rules of their own default interval.
    """
    is_graded = not all(request.outcomes.is_binary for request in strata)
    return is_graded and sum(map(_informative, strata)) < _ENOUGH_INFORMATIVE


def _range(strata: Sequence[IntervalRequest]) -> tuple[float, float]:
    ranges = [request.range() for request in strata]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


# -- over problems -----------------------------------------------------------------------------


def _over_problems(value: float, strata: Sequence[IntervalRequest], weights: Floats) -> Interval:
    notes = _notes(strata, weights)
    low, high = _range(strata)
    bounded = bool(np.isfinite(high - low))
    start, scale = (low, high - low) if bounded else (0.0, _unit(strata))
    if scale == 0.0:
        return interval_for("auto", strata[0])
    counts = np.array([float(request.outcomes.n_problems) for request in strata])
    edge = _edge(strata)
    if edge is not None:
        reach = edge_over_problems(weights, counts, strata[0].tail)
        below, above = (value + reach * (far - value) for far in (low, high))
        return Interval(min(below, value), max(above, value), None, notes)
    spread = _spread(strata, weights, start, scale)
    mean, level = np.asarray((value - start) / scale), strata[0].level
    ends = strata_over_problems(mean, spread, level, bounded=bounded)
    return Interval(
        start + scale * float(ends.low),
        start + scale * float(ends.high),
        scale * float(ends.se),
        notes,
    )


def _spread(
    strata: Sequence[IntervalRequest], weights: Floats, start: float, scale: float
) -> StratumSpread:
    if not all(map(_has_grid, strata)):
        each = [_linear(request, request.metric.by_problem(request.outcomes)) for request in strata]
        return spread_of_values([(values - start) / scale for values in each], weights)
    histograms = [request.outcomes.histogram for request in strata]
    grid = grid_of(_pooled(strata, 0.0).outcomes.histogram)
    counts = np.stack([grid.counts(histogram) for histogram in histograms])
    parts = [part.at(grid.trials, grid.successes, strata[0].k) for part in strata[0].metric.parts]
    table = np.stack(parts, axis=1)
    values = np.stack([_linear(request, table) for request in strata])
    return spread_of_counts(grid, counts, (values - start) / scale, weights)


def _has_grid(request: IntervalRequest) -> bool:
    return request.outcomes.is_binary and not is_too_large(request.outcomes.histogram)


def _is_counted(request: IntervalRequest) -> bool:
    """Return whether counts say all of a metric that is a mean over problems."""
    metric = request.metric
    return metric.is_mean and _has_grid(request) and not metric.parts[0].needs_answers


def _linear(request: IntervalRequest, parts: Floats) -> Floats:
    """Return one value per row of the metric's parts; their mean in the stratum is its value."""
    return request.metric.linear(list(parts.T), request.means)


def _unit(strata: Sequence[IntervalRequest]) -> float:
    """Return a power of two as large as the scores, so that no power of them overflows."""
    graded = [r.outcomes.graded.values for r in strata if r.outcomes.graded is not None]
    most = max(float(np.abs(values).max()) for values in graded)
    unit: float = 2.0 ** float(np.frexp(most)[1])
    return unit


def _edge(strata: Sequence[IntervalRequest]) -> float | None:
    """Return 0 or 1 if all trials of all strata have this score."""
    if not all(request.outcomes.is_binary for request in strata):
        return None
    successes = sum(int(request.outcomes.required_successes().sum()) for request in strata)
    trials = sum(request.outcomes.n_trials for request in strata)
    return 0.0 if successes == 0 else 1.0 if successes == trials else None


def _notes(strata: Sequence[IntervalRequest], weights: Floats) -> tuple[Note, ...]:
    notes: list[Note] = []
    counts = [request.outcomes.n_problems for request in strata]
    single = counts.count(1)
    if single:
        notes.append(single_problem_strata(single, len(counts)))
    return (*notes, *_informative_notes(strata, weights))


def _informative_notes(strata: Sequence[IntervalRequest], weights: Floats) -> tuple[Note, ...]:
    """Return a note where few problems differ from others of their stratum, or few that weigh.

    If all problems were alike, stratum h had the part g of the variance. Its informative problems
    then count as 1 / sum(g^2 / informative), which is their number if strata weigh by size.
    """
    counts = np.array([float(request.outcomes.n_problems) for request in strata])
    informative = np.array([float(_informative(request)) for request in strata])
    total = int(informative.sum())
    if total < _ENOUGH_INFORMATIVE:
        return (few_informative_in_strata(int(counts.sum()), total),)
    parts = weights**2 / counts / float((weights**2 / counts).sum())
    if 1.0 / float((parts**2 / np.maximum(informative, 0.5)).sum()) < _ENOUGH_INFORMATIVE:
        heaviest = int(parts.argmax())
        return (heavy_stratum(float(weights[heaviest]), int(counts[heaviest])),)
    return ()


def _informative(request: IntervalRequest) -> int:
    """Count the problems that differ from their stratum's commonest value."""
    values = request.metric.by_problem(request.outcomes)
    _, times = np.unique(np.round(values, ROUNDING_DIGITS), axis=0, return_counts=True)
    return len(values) - int(times.max())


# -- over trials -------------------------------------------------------------------------------


def _over_trials(
    value: float, requests: Mapping[str, IntervalRequest], weights: Floats
) -> Interval:
    strata = list(requests.values())
    if not all(map(_is_counted, strata)):
        return _squared(value, requests, weights)
    pooled = _pooled(strata, value)
    if is_too_large(pooled.outcomes.histogram):
        return _squared(value, requests, weights)
    mixture = pooled.mixture()
    notes = (*target_notes(pooled, mixture), *_informative_notes(strata, weights))
    if has_few_repeats(mixture):
        return _over_problems(value, strata, weights).with_notes(*target_notes(pooled, mixture))
    low, high = pooled.range()
    shifts = np.concatenate(
        [
            np.full(request.outcomes.n_problems, weight / request.outcomes.n_problems)
            for request, weight in zip(strata, weights.tolist(), strict=True)
        ]
    )
    if high == low:
        return interval_for("auto", strata[0])
    edge = _edge(strata)
    if edge is not None:
        return _hidden(value, pooled, shifts, edge).with_notes(*notes)
    scale = high - low
    weighted = _weighted(pooled, shifts)
    values = (pooled.values(weighted) - low) / scale
    if rests_on_few(pooled, weighted, values):
        problems = pooled.outcomes.n_problems
        weak = few_informative(problems, problems, is_weak=True)
        notes = (*(note for note in notes if note.code != weak.code), weak)
    squares = pooled.squares(weighted, values)
    mean = np.asarray((value - low) / scale)
    ends = strata_over_trials(mean, weighted, values, pooled.k, pooled.level, squares)
    return Interval(
        low + scale * float(ends.low), low + scale * float(ends.high), scale * float(ends.se), notes
    )


def _weighted(pooled: IntervalRequest, weights: Floats) -> Mixture:
    """Fit the problems as their weights have them count."""
    outcomes = pooled.outcomes
    grid = grid_of(outcomes.histogram)
    start = grid.starts[np.searchsorted(grid.ns, outcomes.trials)]
    places = start + outcomes.required_successes()
    return fit_mixture(grid, weighted_counts(weights, places, len(grid.trials)))


def _pooled(strata: Sequence[IntervalRequest], value: float) -> IntervalRequest:
    """Return all problems of all strata as one request."""
    outcomes = Outcomes.from_counts(
        np.concatenate([request.outcomes.required_successes() for request in strata]),
        np.concatenate([request.outcomes.trials for request in strata]),
    )
    first = strata[0]
    return IntervalRequest(
        outcomes, first.metric, (value,), value, first.over, first.level, first.seed
    )


def _hidden(value: float, pooled: IntervalRequest, weights: Floats, edge: float) -> Interval:
    """Return the possible shift of the value if some problems shared a hidden success rate.

    As for a single sample (`default.selection`), with the problems that weigh most hiding it.
    """
    trials = pooled.outcomes.n_trials / pooled.outcomes.n_problems
    sharing = np.arange(1.0, len(weights) + 1.0)
    rate = 1.0 - pooled.tail ** (1.0 / (trials * sharing))
    shift = pooled.latent(np.abs(edge - rate)) - pooled.latent(np.array([edge]))
    moved = value + np.cumsum(np.sort(weights)[::-1]) * shift
    return Interval(min(float(moved.min()), value), max(float(moved.max()), value), None)


# -- from the strata's own intervals -----------------------------------------------------------


def _squared(value: float, requests: Mapping[str, IntervalRequest], weights: Floats) -> Interval:
    intervals = {name: interval_for("auto", request) for name, request in requests.items()}
    for name, interval in intervals.items():
        if interval.low is None or interval.high is None:
            return Interval.none(no_stratum_interval(name, interval.notes))
    values = np.array([request.value for request in requests.values()])
    notes = dict.fromkeys(note for interval in intervals.values() for note in interval.notes)
    return square_and_add(value, weights, values, list(intervals.values())).with_notes(*notes)


def single_problem_strata(single: int, strata: int) -> Note:
    """Return the note on strata of one problem, which show no spread of their own.

    >>> print(single_problem_strata(3, 20))
    3 of 20 strata have a single problem; their spread is taken to be that of the others
    >>> print(single_problem_strata(20, 20))
    every stratum has a single problem, so the interval includes what differs between strata
    """
    if single == strata:
        text = (
            "every stratum has a single problem, so the interval includes what differs between "
            "strata"
        )
    else:
        text = (
            f"{single} of {strata} strata have a single problem; their spread is taken to be that "
            "of the others"
        )
    return Note("single-problem-strata", text)


def few_informative_in_strata(problems: int, informative: int) -> Note:
    """Return the note on strata nearly all of whose problems share the commonest value there.

    >>> print(few_informative_in_strata(20, 8))
    12 of 20 problems have the commonest value of their stratum, so the interval is rough; add \
problems
    """
    if informative == 0:
        return Note(
            "all-same-value",
            "no problem differs from the others of its stratum; the interval allows for kinds of "
            "problem not in the sample; more problems narrow it",
        )
    return Note(
        "few-informative",
        f"{problems - informative} of {problems} problems have the commonest value of their "
        "stratum, so the interval is rough; add problems",
    )


def heavy_stratum(weight: float, problems: int) -> Note:
    """Return the note on a mean that rests mostly on a small stratum.

    >>> print(heavy_stratum(0.5, 3))
    a stratum of 3 problems has a weight of 0.5, so the interval rests mostly on those and is rough
    """
    return Note(
        "heavy-stratum",
        f"a stratum of {plural(problems, 'problem')} has a weight of {weight:.2g}, so the interval "
        "rests mostly on those and is rough",
    )


def no_stratum_interval(stratum: str, reasons: Iterable[Note]) -> Note:
    """Return the note on a mean over strata one of which has no interval."""
    return Note(
        "no-interval-stratum",
        f"no interval: stratum {stratum!r} has none ({joined(reasons)})",
    )
