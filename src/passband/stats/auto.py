"""The default intervals: which rule serves which outcomes, and what to tell the reader."""

from __future__ import annotations

import numpy as np

from passband.stats.clusters import over_clusters
from passband.stats.methods import Interval, Question, method
from passband.stats.mixture import Mixture
from passband.stats.reward_intervals import reward_interval
from passband.stats.score import Ends, over_problems, over_trials
from passband.types import Floats

__all__ = ["auto"]

ONE_TRIAL = (
    "with one trial per problem the noise of sampling cannot be told from the spread of the "
    "problems; this interval is an upper bound, the one over problems"
)
WIDE_K = (
    "k is more than half of n: the width rests on a model; 2k trials per problem would measure it"
)
FEW_CLUSTERS = "fewer than 20 clusters: indicative only"
ONE_PROBLEM = "a single problem says little about problems like it"


@method(
    "auto",
    over=("problems", "trials"),
    summary="unbiased centre, score-type ends with measured coverage",
)
def auto(question: Question) -> Interval:
    """Return the default interval for either target."""
    if question.outcomes.rewards is not None:
        return reward_interval(question)
    if question.metric.powers is not None and min(question.means) == 0.0:
        return _blend_at_zero(question)
    mixture = question.mixture()
    notes = _notes(question, mixture)
    bound = _one_sided(question, mixture)
    if bound is not None:
        return bound.with_notes(*notes)
    low, high = question.range()
    scale = (high - low) or 1.0
    values = (question.values(mixture) - low) / scale
    ends = _ends(question, mixture, values)
    return Interval(
        low + scale * float(ends.low),
        low + scale * float(ends.high),
        scale * float(ends.se),
        notes,
    )


def _ends(question: Question, mixture: Mixture, values: Floats) -> Ends:
    one_trial = mixture.lattice.ns[-1] == 1
    if question.over == "trials" and not one_trial:
        return over_trials(mixture, values, question.k, question.level)
    if question.over == "problems" and question.outcomes.clusters is not None:
        return over_clusters(question.outcomes, mixture, values, question.k, question.level)
    return over_problems(mixture, values, question.level)


def _notes(question: Question, mixture: Mixture) -> tuple[str, ...]:
    """Say where the coverage of the default intervals is known to be weak."""
    notes = []
    problems = int(mixture.counts.sum())
    if question.over == "trials":
        if mixture.lattice.ns[-1] == 1:
            notes.append(ONE_TRIAL)
        elif 2 * question.k > mixture.lattice.ns[0]:
            notes.append(WIDE_K)
    elif problems == 1:
        notes.append(ONE_PROBLEM)
    elif question.outcomes.clusters is not None and len(set(question.outcomes.clusters)) < 20:
        notes.append(FEW_CLUSTERS)
    if problems > 1:
        informative = problems - _commonest(mixture, question.values(mixture))
        if informative < 10:
            notes.append(
                f"only {informative} of {problems} problems differ from the commonest value"
            )
    return tuple(notes)


def _commonest(mixture: Mixture, values: Floats) -> int:
    """Return how many problems share the commonest value."""
    _, kind = np.unique(np.round(values, 12), return_inverse=True)
    return int(np.bincount(kind, weights=mixture.counts).max())


def _one_sided(question: Question, mixture: Mixture) -> Interval | None:
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
    if question.over == "problems" or lattice.ns[-1] == 1:
        clusters = question.outcomes.clusters
        units = problems if clusters is None else len(set(clusters))
        reach = 1.0 - question.tail ** (1.0 / units)
        low, high = question.range()
        far = high if abs(high - question.value) > abs(low - question.value) else low
        ends = sorted([question.value, question.value + reach * (far - question.value)])
    else:
        trials = float(counts @ lattice.trials) / problems
        ends = _hull_over_trials(question, problems, trials, end)
    return Interval(ends[0], ends[1], None)


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
    highs = []
    for at in range(len(question.metric.parts)):
        highs.append(auto(question.of_part(at)).high or 0.0)
    return Interval(
        0.0,
        question.metric.combine(highs),
        None,
        ("a factor of the blend is zero: the upper end combines the ends of the factors",),
    )
