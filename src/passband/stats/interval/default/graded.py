"""Default intervals for graded scores: no model of the trials, only their moments.

Scores whose scale has two ends are bounded by them, and the interval is cut to it: it is made for
scores from 0 to 1, and stretched. Where no scale is stated, scores that all lie within [0, 1] are
taken to be bounded by it, and any others to have no bounds.

Over trials, the noise within the problems gives the interval. Two sets of ends are made where
scores are bounded: from the noise alone, and those of scores of 0 and 1 with the same mean
(`share_out`), drawn in by as much as graded scores vary less. The outer ones count. Only the last
are left where all scores come close to 0 and 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from passband.notes import Note
from passband.stats.checks import ROUNDING
from passband.stats.interval.default.clusters import are_few, cluster_notes
from passband.stats.interval.default.graded_problems import graded_over_problems, missed_share
from passband.stats.interval.default.graded_sample import (
    GradedNoise,
    GradedSample,
    SharedCounts,
    noise_moments,
    trials_for_noise,
)
from passband.stats.interval.default.wilson import Ends, outer_ends, over_trials
from passband.stats.interval.notes import (
    CONSTANT_METRIC,
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM,
    ONE_PROBLEM_NO_INTERVAL,
    ONE_TRIAL,
    TAIL_MISSING,
    few_informative,
    few_repeats,
)
from passband.stats.interval.ratio import may_lack_tail
from passband.stats.interval.registry import Interval
from passband.stats.interval.request import IntervalRequest

GRADED_K_ABOVE_HALF = Note(
    "graded-k-above-half",
    "k > n/2, so any two sets of k trials overlap and the width is rough; 2k trials per problem "
    "would make it firm",
)

_LEAST = 1e-13


def graded_over_trials(sample: GradedSample, level: float) -> Ends | None:
    """Return the ends on the scale of the values; None where unbounded scores show no noise."""
    noise = sample.noise
    silent = noise.mean <= (ROUNDING * float(np.abs(sample.values).max())) ** 2
    if sample.is_bounded:
        return _bounded(sample, noise, level, silent=silent)
    if silent:
        return None
    return noise.direct(sample.mean, sample.problems, level, sample.sign)


def _bounded(sample: GradedSample, noise: GradedNoise, level: float, *, silent: bool) -> Ends:
    if silent:
        direct = _missed(sample, level)
    else:
        direct = noise.direct(sample.mean, sample.problems, level, 0)
    twin = _twin(sample, noise, level)
    if twin is None:
        return direct
    ends = outer_ends(direct, twin).mixed(twin, sample.closeness)
    return replace(ends, se=twin.se if silent else direct.se)


def _twin(sample: GradedSample, noise: GradedNoise, level: float) -> Ends | None:
    """Return the interval of scores of 0 and 1 shared out alike, drawn in as these vary less."""
    ends, shared = coins_over_trials(sample, level), sample.shared
    if ends is None or shared is None:
        return None
    expected = float(ends.se) ** 2 * sample.problems
    own = sample.problems * noise.mean + expected
    coins = sample.problems * _noise_of_coins(sample, shared) + expected
    return ends.towards(np.asarray(sample.mean), min(own / max(coins, _LEAST), 1.0) ** 0.5)


def coins_over_trials(sample: GradedSample, level: float) -> Ends | None:
    """Return the interval of scores of 0 and 1 shared out alike; None for unbounded scores."""
    if not sample.is_bounded or sample.shared is None:
        return None
    request, shared = sample.request, sample.shared
    low, high = request.range()
    squares = request.squares(shared.mixture, shared.values)
    ends = over_trials(shared.mixture, shared.values, request.k, level, squares=squares)
    scale = high - low
    return Ends(low + scale * ends.low, low + scale * ends.high, scale * ends.se)


def _noise_of_coins(sample: GradedSample, shared: SharedCounts) -> float:
    """Return the mean noise of the problems shared out, as the same rule measures it."""
    metric, means = sample.request.metric, sample.request.means
    least, grid, counts = trials_for_noise(metric), shared.mixture.grid, shared.mixture.counts
    total = weight = 0.0
    for start, n in zip(grid.starts.tolist(), grid.ns, strict=True):
        if n < least:
            continue
        problems = counts[start : start + n + 1]
        rows = np.tri(n + 1, n, -1)[:, ::-1]  # c trials of 1 at the end of row c
        variance, _ = noise_moments(metric, means, rows)
        total, weight = total + float(problems @ variance), weight + float(problems.sum())
    return total / weight if weight > 0.0 else 0.0


def _missed(sample: GradedSample, level: float) -> Ends:
    """Return the shift that problems with identical trials leave possible.

    R of the problems may hide a rate of 1 - tail^(1/(nR)) of trials at an end of the scale, and
    show none in n trials each with a probability of `tail`. The worst R counts.
    """
    request, problems = sample.request, sample.problems
    low, high = request.range()
    trials = sum(group.n * len(group.problem) for group in sample.groups) / problems
    sharing = np.unique(np.geomspace(1, problems, min(problems, 200)).round().astype(np.int64))
    rate = np.array([missed_share(level, trials * float(r)) for r in sharing])
    rise = request.latent(rate) - request.latent(np.zeros(1))
    fall = request.latent(np.ones(1)) - request.latent(1.0 - rate)
    up, down = (
        np.cumsum(np.sort(room)[::-1])[sharing - 1] / problems
        for room in (high - sample.values, sample.values - low)
    )
    reach = [float((moved / (high - low)).max()) for moved in (down * fall, up * rise)]
    mean = sample.mean
    return Ends(np.asarray(mean - reach[0]), np.asarray(mean + reach[1]), np.asarray(0.0))


_ENOUGH_REPEATS = 10  # problems, and a tenth of them
_ENOUGH_INFORMATIVE = 10  # problems that differ from the commonest value


def graded_interval(request: IntervalRequest) -> Interval:
    """Return the default interval for scores of any kind."""
    unit = request.unit
    if unit is not request:
        return graded_interval(unit).stretched(request.outcomes.scale)
    sample = GradedSample.of(request)
    least, most = request.range()
    if least == most:
        return Interval(request.value, request.value, 0.0, (CONSTANT_METRIC,))
    ends = graded_ends(sample, request.level)
    if ends is None:
        return Interval.none(reason_for_none(sample))
    low, high = (min(max(float(end), least), most) for end in (ends.low, ends.high))
    low, high = min(low, request.value), max(high, request.value)
    return Interval(low, high, float(ends.se) or None, graded_notes(sample))


def graded_ends(sample: GradedSample, level: float, *, outer: float | None = None) -> Ends | None:
    """Return the ends for the target of the request; None where the data do not allow any.

    Where next to no problem shows the noise of sampling, the interval over trials is the wider one
    over problems.
    """
    if sample.request.over == "problems":
        return graded_over_problems(sample, level, outer=outer)
    if not _has_little_noise(sample):
        return graded_over_trials(sample, level)
    ends = graded_over_problems(sample, level, outer=outer)
    coins = coins_over_trials(sample, level) if _has_repeats(sample) else None
    return ends if ends is None or coins is None else ends.mixed(coins, sample.closeness)


def graded_notes(sample: GradedSample) -> tuple[Note, ...]:
    """Return notes on where the coverage of the default intervals is known to be weak."""
    notes = _trial_notes(sample) if sample.request.over == "trials" else _problem_notes(sample)
    informative = sample.informative(_ENOUGH_INFORMATIVE)
    is_weak = not sample.is_constant and are_few(sample.carriers, sample.problems, "problems")
    if sample.problems > 1 and (is_weak or informative < _ENOUGH_INFORMATIVE):
        notes.append(few_informative(sample.problems, informative, is_weak=is_weak))
    is_stated = sample.request.outcomes.scale.is_known
    if not is_stated and (sample.is_bounded or sample.sign != 0):
        notes.append(scale_guessed(sample.is_bounded))
    return tuple(notes)


def _has_repeats(sample: GradedSample) -> bool:
    """Return whether enough problems have several trials, though perhaps not enough for noise."""
    repeated = sum(len(group.problem) for group in sample.groups if group.n > 1)
    return not _are_few(repeated, sample.problems)


def _has_little_noise(sample: GradedSample) -> bool:
    """Return whether too few problems have repeated trials to measure the noise of sampling."""
    return _are_few(sample.measured, sample.problems)


def _are_few(repeated: int, problems: int) -> bool:
    return 2 * repeated < problems and repeated < max(_ENOUGH_REPEATS, problems / 10)


def _problem_notes(sample: GradedSample) -> list[Note]:
    notes = [ONE_PROBLEM] if sample.problems == 1 else []
    is_open = not sample.is_bounded and sample.problems > 1 and not sample.is_constant
    if is_open and may_lack_tail(sample.values, sample.units):
        notes.append(TAIL_MISSING)
    return notes + cluster_notes(sample.request)


def _trial_notes(sample: GradedSample) -> list[Note]:
    least = trials_for_noise(sample.request.metric)
    measured, problems = sample.measured, sample.problems
    if sample.groups[-1].n == 1:
        return [ONE_TRIAL]
    if _has_little_noise(sample):
        plain = least == 2
        return [few_repeats(measured, problems) if plain else noise_unmeasured(least)]
    notes = []
    if measured < problems:
        notes.append(noise_partly_measured(measured, problems, least))
    if sample.request.k > 1 and 2 * sample.request.k > sample.groups[0].n:
        notes.append(GRADED_K_ABOVE_HALF)
    return notes


def reason_for_none(sample: GradedSample) -> Note:
    """Return why scores without bounds have no interval."""
    if sample.request.over == "trials" and not _has_little_noise(sample):
        return NO_TRIAL_NOISE
    if sample.problems == 1:
        return ONE_PROBLEM_NO_INTERVAL
    return NO_SPREAD if sample.is_constant else ONE_CLUSTER


def scale_guessed(is_bounded: bool) -> Note:
    """Return the note on graded scores whose scale is not stated.

    >>> print(scale_guessed(True))
    no scale is stated: as all scores lie from 0 to 1, these are taken for its ends; if others can \
occur, state the scale
    """
    bounded = "all scores lie from 0 to 1, these are taken for its ends"
    guess = bounded if is_bounded else "all scores lie on one side of 0, it is taken for an end"
    text = f"no scale is stated: as {guess}; if others can occur, state the scale"
    return Note("scale-guessed", text)


def noise_partly_measured(measured: int, problems: int, trials: int) -> Note:
    """Return the note on sampling noise that only some problems have enough trials to show."""
    return Note(
        "noise-partly-measured",
        f"sampling noise is measured on the {measured} of {problems} problems with at least "
        f"{trials} trials, and assumed equal on the others",
    )


def noise_unmeasured(trials: int) -> Note:
    """Return the note on an interval over trials that no, or hardly any, problem can measure."""
    return Note(
        "noise-unmeasured",
        f"measuring the sampling noise takes problems with at least {trials} trials, which too few "
        "have, so this is the wider interval over problems",
    )
