"""The ends of a band over votes at every k, and the quantile that all of them share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.interval.default.auto import auto
from passband.stats.interval.default.vote_noise import replicates_of
from passband.stats.interval.default.votes import answer_notes, vote_over_trials
from passband.stats.interval.default.wilson import level_of
from passband.stats.interval.reduced import reduced
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.metric import Metric
from passband.types import Floats

__all__ = ["VoteBand", "vote_band", "vote_covariance"]


@dataclass(frozen=True)
class VoteBand:
    """The ends at each k, and notes on all of them."""

    low: list[float]
    high: list[float]
    notes: tuple[Note, ...]


def vote_covariance(outcomes: Outcomes, metrics: list[Metric], over: Over) -> Floats:
    """Return the covariance of the curve's errors at all k, up to a common factor.

    Of problems with different numbers of trials, those with all of them show the correlation.
    """
    if over == "trials":
        return replicates_of(outcomes, 1).covariance()
    most = outcomes.most_trials()
    longest = outcomes.take(np.flatnonzero(outcomes.trials == most))
    values = np.stack([metric.by_problem(longest)[:, 0] for metric in metrics], axis=1)
    if len(values) < 2:
        return np.zeros((len(metrics), len(metrics)))
    return np.atleast_2d(np.cov(values, rowvar=False))


def vote_band(
    outcomes: Outcomes, metrics: list[Metric], values: Floats, over: Over, reach: float
) -> VoteBand:
    """Return the interval at each k, `reach` being a larger quantile than the level's own."""
    low, high = [], []
    notes: dict[str, Note] = {note.code: note for note in answer_notes(outcomes, 1)}
    for metric, value in zip(metrics, values.tolist(), strict=True):
        request = IntervalRequest(outcomes, metric, (value,), value, over, level_of(reach), None)
        simpler = reduced(request)
        interval = vote_over_trials(request, reach) if simpler is request else auto(simpler)
        low.append(value if interval.low is None else interval.low)
        high.append(value if interval.high is None else interval.high)
        notes |= {note.code: note for note in interval.notes}
    return VoteBand(low, high, tuple(notes.values()))
