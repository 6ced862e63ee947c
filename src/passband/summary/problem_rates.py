"""The problems of a run by how often they are solved, from its tallies alone."""

from __future__ import annotations

from typing import NamedTuple

from passband.stats.data.scale import UNSTATED
from passband.trials.chosen import Choice
from passband.trials.reader import RunRecord, ScorerRecord, Trials

__all__ = ["ProblemRate", "rates_of"]


class ProblemRate(NamedTuple):
    """A problem with its mean score; of 0/1 scores that is the share of right trials."""

    number: int  #: in the store
    key: str
    trials: int  #: recorded
    scored: int
    mean: float | None  #: None where no trial has a score
    ease: float | None = None  #: the mean, mirrored where lower is better


def rates_of(trials: Trials, run: RunRecord, scorer: ScorerRecord | None) -> list[ProblemRate]:
    """Return the problems of a run, the easiest first, those without a score last."""
    sums = {} if scorer is None else {p: (n, s) for p, n, s in trials.score_sums(scorer.number)}
    recorded = trials.walk(run, Choice()).matches
    scale = UNSTATED if scorer is None else run.scale(scorer)
    rates = []
    for key, number in trials.numbers(run.number).items():
        scored, total = sums.get(number, (0, 0.0))
        mean = total / scored if scored else None
        ease = scale.mirrored(mean) if scale.lower_is_better and mean is not None else mean
        rates.append(ProblemRate(number, key, recorded.get(number) or 0, scored, mean, ease))
    return sorted(rates, key=lambda rate: (rate.ease is None, -(rate.ease or 0.0)))
