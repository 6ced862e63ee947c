"""The default interval of a vote among k answers.

Over problems, the vote of each problem is one score between 0 and 1, and the interval is that of a
mean of such scores. Over trials, the spread is that of replicates; see `vote_noise`.
"""

from __future__ import annotations

import numpy as np

from passband.notes import (
    K_ABOVE_HALF,
    Note,
    few_informative,
    missing_answers,
    mixed_answers,
    no_answers,
    several_right_answers,
)
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.vote_noise import AnswerModel, replicates_of
from passband.stats.interval.default.wilson import level_of, roots, student_quantile
from passband.stats.interval.methods import Interval
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.vote import Vote
from passband.stats.tolerance import ROUNDING_DIGITS
from passband.types import Floats

__all__ = ["answer_notes", "vote_over_trials", "vote_trial_notes"]

_ENOUGH_INFORMATIVE = 10  # problems that differ from the commonest value
_HIDDEN = 6  # numbers of problems that could share a hidden answer
_COUNTED = 200  # problems that a hidden answer is tried on


def vote_over_trials(request: IntervalRequest, reach: float | None = None) -> Interval:
    """Return the interval for these problems, the model being sampled again.

    A band over several k gives `reach`, a larger quantile than the level's own, and takes the
    outer of these ends and of those that follow the skewness.
    """
    outcomes, k = request.outcomes, request.k
    problems = int((outcomes.trials >= k).sum())
    replicates = replicates_of(outcomes, k)
    se = float(np.sqrt(replicates.variance(k) / problems))
    fewest = int(outcomes.trials[outcomes.trials >= k].min())
    freedom = (4.0 if 2 * k <= fewest else 2.0) * problems
    q = student_quantile(request.level if reach is None else level_of(reach), freedom)
    low, high = request.value - q * se, request.value + q * se
    if reach is not None:
        value, variance = np.asarray(request.value), np.asarray(se**2 * problems)
        ends = roots(value, variance, np.asarray(replicates.tilt(k)), 0.0, q, float(problems))
        low, high = min(low, float(ends[0])), max(high, float(ends[1]))
    if _all_alike(outcomes):
        low, high = _hidden_ends(request)
    return Interval(
        max(min(low, request.value), 0.0),
        min(max(high, request.value), 1.0),
        se,
        vote_trial_notes(request),
    )


def vote_trial_notes(request: IntervalRequest) -> tuple[Note, ...]:
    """Return notes on where the interval over trials is known to be weak."""
    outcomes, notes = request.outcomes, []
    used = outcomes.trials[outcomes.trials >= request.k]
    if 2 * request.k > int(used.min()):
        notes.append(K_ABOVE_HALF)
    values = Vote().of_answers(outcomes, request.k)
    informative = len(values) - _commonest(values)
    if len(values) > 1 and informative < _ENOUGH_INFORMATIVE:
        notes.append(few_informative(len(values), informative))
    return tuple(notes)


def _commonest(values: Floats) -> int:
    """Return the number of problems that share the commonest value."""
    return int(np.unique(np.round(values, ROUNDING_DIGITS), return_counts=True)[1].max())


def _all_alike(outcomes: Outcomes) -> bool:
    """Return whether no trial succeeded, or none failed."""
    successes = int(outcomes.required_successes().sum())
    return successes in (0, outcomes.n_trials)


def _hidden_ends(request: IntervalRequest) -> tuple[float, float]:
    """Return how far the value could be off if R problems had an answer that was never seen.

    With n trials of each, a rate of 1 - tail**(1/(nR)) is the largest that leaves it unseen with
    probability `tail`. Where every trial is right it is one wrong answer, else the right one. The
    worst R counts.
    """
    outcomes = request.outcomes
    enough = np.flatnonzero(outcomes.trials >= request.k)
    trials = float(outcomes.trials[enough].mean())
    right = not outcomes.required_successes().any()
    model = AnswerModel.of(outcomes.required_votes().take(enough[:_COUNTED]))
    ends = [request.value]
    for sharing in np.unique(np.geomspace(1, len(enough), _HIDDEN).round()):
        rate = 1.0 - request.tail ** (1.0 / (trials * sharing))
        hidden = model.mixed_with(rate, right=right)
        count = max(2, 4 * _COUNTED // len(model.trials))
        tables = hidden.tables(count, outcomes.most_trials(), np.random.default_rng(0))
        shift = float(tables[:, :, request.k - 1].mean()) - request.value
        ends.append(request.value + sharing / len(enough) * shift)
    return min(ends), max(ends)


def answer_notes(outcomes: Outcomes, k: int) -> tuple[Note, ...]:
    """Return notes on answers that are missing, or that their scores contradict."""
    votes = outcomes.required_votes()
    groups, problems = votes.groups, votes.n_problems
    enough = outcomes.trials >= max(k, 1)
    without = enough & (np.bincount(groups.problem, minlength=problems) == 0)
    mixed = (groups.right > 0) & (groups.right < groups.size)
    right = np.bincount(groups.problem, groups.right == groups.size, problems)
    counts = (
        (no_answers, int(without.sum())),
        (missing_answers, int(enough[votes.wavering_silence].sum())),
        (mixed_answers, len(np.unique(groups.problem[mixed]))),
        (several_right_answers, int((enough & (right > 1)).sum())),
    )
    return tuple(note(count, int(enough.sum())) for note, count in counts if count)
