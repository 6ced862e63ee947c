"""What the judges of a run took, apart from its trials: they are other models, at other prices."""

from __future__ import annotations

from typing import NamedTuple

from passband.trials.call_totals import CallTotals
from passband.trials.reader import RunRecord, Trials

__all__ = ["JudgeUsage", "judges_of"]


class JudgeUsage(NamedTuple):
    """The calls of one scorer to its judge, added up."""

    scorer: str
    calls: CallTotals


def judges_of(trials: Trials, run: RunRecord) -> tuple[JudgeUsage, ...]:
    """Return what each judge of a run took, those that it no longer uses among them."""
    scorers = [scorer for number, _, scorer in trials.all_scorers() if number == run.number]
    usages = (JudgeUsage(scorer.name, trials.call_totals(scorer.number)) for scorer in scorers)
    return tuple(usage for usage in usages if usage.calls.calls)
