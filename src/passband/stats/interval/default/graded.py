"""Default intervals for graded scores: no model of the trials, only their moments.

Scores whose scale has two ends are bounded by them, and the interval is cut to it: it is made for
scores from 0 to 1, and stretched. Where no scale is stated, scores that all lie within [0, 1] are
taken to be bounded by it, and any others to have no bounds.
"""

from __future__ import annotations

from passband.notes import (
    CONSTANT_METRIC,
    GRADED_K_ABOVE_HALF,
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM,
    ONE_PROBLEM_NO_INTERVAL,
    ONE_TRIAL,
    TAIL_MISSING,
    Note,
    few_informative,
    few_repeats,
    noise_partly_measured,
    noise_unmeasured,
    scale_guessed,
)
from passband.stats.interval.default.carriers import are_few
from passband.stats.interval.default.cluster_notes import cluster_notes
from passband.stats.interval.default.graded_noise import trials_for_noise
from passband.stats.interval.default.graded_problems import graded_over_problems
from passband.stats.interval.default.graded_sample import GradedSample
from passband.stats.interval.default.graded_trials import (
    coins_over_trials,
    graded_over_trials,
)
from passband.stats.interval.default.wilson import Ends
from passband.stats.interval.methods import Interval
from passband.stats.interval.ratio import may_lack_tail
from passband.stats.interval.request import IntervalRequest

__all__ = ["graded_ends", "graded_interval", "graded_notes", "reason_for_none"]

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
