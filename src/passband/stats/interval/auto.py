"""The default intervals: which rule serves which outcomes, and what to tell the reader."""

from __future__ import annotations

import numpy as np

from passband.stats.interval.clusters import over_clusters
from passband.stats.interval.lattice import is_too_large
from passband.stats.interval.methods import Interval, Question, method
from passband.stats.interval.mixture import Mixture
from passband.stats.interval.reward_intervals import reward_interval
from passband.stats.interval.score import Ends, over_problems, over_trials
from passband.types import Floats

__all__ = ["auto", "few_repeats", "one_sided", "target_notes"]

ONE_TRIAL = (
    "with one trial per problem the noise of sampling cannot be told from the spread of the "
    "problems; this interval is an upper bound, the one over problems"
)
FEW_REPEATS = (
    "only {repeated} of {problems} problems with more than one trial, too few to tell the noise of "
    "sampling from the spread of the problems; this interval is an upper bound, the one over "
    "problems"
)
_ENOUGH_REPEATS = 10  # problems, and a tenth of them
WIDE_K = (
    "k is more than half of n: the width rests on a model; 2k trials per problem would measure it"
)
FEW_CLUSTERS = "fewer than 20 clusters: indicative only"
ONE_PROBLEM = "a single problem says little about problems like it"
CONSTANT = "this metric has the same value whatever the trials show"
TOO_LARGE = "so many trials, or numbers of them, that the default interval is out of reach"


@method(
    "auto",
    over=("problems", "trials"),
    summary="unbiased centre, score-type ends with measured coverage",
)
def auto(question: Question) -> Interval:
    """Return the default interval for either target."""
    if question.outcomes.rewards is not None:
        return reward_interval(question).with_notes(*_cluster_notes(question))
    if is_too_large(question.outcomes.histogram.at_least(question.k)):
        return Interval(None, None, None, (TOO_LARGE,))
    if question.metric.powers is not None and min(question.means) == 0.0:
        return _blend_at_zero(question)
    low, high = question.range()
    scale = high - low
    if scale == 0.0:
        return Interval(question.value, question.value, 0.0, (CONSTANT,))
    mixture = question.mixture()
    values = question.values(mixture)
    notes = _notes(question, mixture, values)
    bound = one_sided(question, mixture)
    if bound is not None:
        return bound.with_notes(*notes)
    ends = _ends(question, mixture, (values - low) / scale)
    return Interval(
        min(max(low + scale * float(ends.low), low), question.value),
        max(min(low + scale * float(ends.high), high), question.value),
        scale * float(ends.se),
        notes,
    )


def _ends(question: Question, mixture: Mixture, values: Floats) -> Ends:
    if question.over == "trials" and not few_repeats(mixture):
        squares = question.squares(mixture, values)
        return over_trials(mixture, values, question.k, question.level, squares=squares)
    if question.over == "problems" and question.outcomes.clusters is not None:
        return over_clusters(question.outcomes, mixture, values, question.k, question.level)
    return over_problems(mixture, values, question.level)


def _notes(question: Question, mixture: Mixture, values: Floats) -> tuple[str, ...]:
    """Say where the coverage of the default intervals is known to be weak."""
    notes = target_notes(question, mixture)
    problems = int(mixture.counts.sum())
    if problems > 1:
        informative = problems - _commonest(mixture, values)
        if informative < 10:
            differ = "differs" if informative == 1 else "differ"
            told = f"only {informative} of {problems} problems {differ} from the commonest value"
            notes.append(told if informative else f"all {problems} problems have the same value")
    return tuple(notes)


def target_notes(question: Question, mixture: Mixture) -> list[str]:
    """Say where problems, clusters or trials are too few for the target."""
    notes = []
    problems = int(mixture.counts.sum())
    if question.over == "trials":
        if mixture.lattice.ns[-1] == 1:
            notes.append(ONE_TRIAL)
        elif few_repeats(mixture):
            notes.append(FEW_REPEATS.format(repeated=_repeated(mixture), problems=problems))
        elif 2 * question.k > mixture.lattice.ns[0]:
            notes.append(WIDE_K)
    elif problems == 1:
        notes.append(ONE_PROBLEM)
    return notes + _cluster_notes(question)


def few_repeats(mixture: Mixture) -> bool:
    """Say whether most problems have one trial, and too few have more to measure the noise."""
    problems, repeated = int(mixture.counts.sum()), _repeated(mixture)
    return 2 * repeated < problems and repeated < max(_ENOUGH_REPEATS, problems / 10)


def _repeated(mixture: Mixture) -> int:
    """Return how many problems have more than one trial."""
    return int(mixture.counts[mixture.lattice.trials > 1].sum())


def _cluster_notes(question: Question) -> list[str]:
    if question.over == "trials" or question.outcomes.clusters is None:
        return []
    several = int((question.outcomes.trials >= question.k).sum()) > 1
    return [FEW_CLUSTERS] if several and _units(question) < 20 else []


def _units(question: Question) -> int:
    """Return how many problems count, or how many clusters they are in."""
    enough = question.outcomes.trials >= question.k
    clusters = question.outcomes.clusters
    if clusters is None:
        return int(enough.sum())
    return len({clusters[at] for at in np.flatnonzero(enough).tolist()})


def _commonest(mixture: Mixture, values: Floats) -> int:
    """Return how many problems share the commonest value."""
    _, kind = np.unique(np.round(values, 12), return_inverse=True)
    return int(np.bincount(kind, weights=mixture.counts).max())


def one_sided(question: Question, mixture: Mixture) -> Interval | None:
    """Return the exact bound where no trial succeeded, or none failed."""
    lattice, counts = mixture.lattice, mixture.counts
    seen = counts > 0
    if not lattice.successes[seen].any():
        end = 0.0
    elif (lattice.successes == lattice.trials)[seen].all():
        end = 1.0
    else:
        return None
    problems = int(counts.sum())
    if question.over == "problems" or few_repeats(mixture):
        units = _units(question) if question.over == "problems" else problems
        reach = 1.0 - question.tail ** (1.0 / units)
        ends = [question.value + reach * (far - question.value) for far in _reachable(question)]
    else:
        trials = float(counts @ lattice.trials) / problems
        ends = _hull_over_trials(question, problems, trials, end)
    return Interval(ends[0], ends[1], None)


def _reachable(question: Question) -> tuple[float, float]:
    """Return the smallest and largest value that a problem with as many trials could have."""
    if question.metric.powers is not None:
        return question.range()
    values = question.values(question.mixture())
    return float(values.min()), float(values.max())


def _hull_over_trials(question: Question, problems: int, trials: float, end: float) -> list[float]:
    """Return how far the value could be off if R of the problems shared a hidden success rate.

    With R problems of n trials each, a rate of 1 - tail**(1/(nR)) is the largest that leaves all
    trials alike with probability `tail`. The worst R counts.
    """
    sharing = np.unique(np.geomspace(1, problems, min(problems, 200)).round())
    rate = 1.0 - question.tail ** (1.0 / (trials * sharing))
    shift = question.latent(np.abs(end - rate)) - question.latent(np.array([end]))
    moved = question.value + sharing / problems * shift
    return [float(min(moved.min(), question.value)), float(max(moved.max(), question.value))]


def _blend_at_zero(question: Question) -> Interval:
    """Return the interval of a product one of whose factors is zero: from the factors' own ends."""
    factors = [auto(question.of_part(at)) for at in range(len(question.metric.parts))]
    notes = dict.fromkeys(note for factor in factors for note in factor.notes)
    return Interval(
        0.0,
        question.metric.combine([factor.high or 0.0 for factor in factors]),
        None,
        ("a factor of the blend is zero: the upper end combines the ends of the factors", *notes),
    )
