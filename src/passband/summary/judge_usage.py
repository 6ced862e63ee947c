"""What the judges of a run took, apart from its trials: they are other models, at other prices."""

from __future__ import annotations

from dataclasses import dataclass

from passband.trials.reader import RunRecord, Trials

__all__ = ["JudgeUsage", "judges_of"]


@dataclass(frozen=True)
class JudgeUsage:
    """The calls of one scorer to its judge, added up."""

    scorer: str
    calls: int  #: failed and cached ones included
    failed: int  #: that came back with no reply
    cached: int  #: that found the reply to an equal one, so that nobody was asked
    unpriced: int  #: replies whose cost is not known
    prompt_tokens: int
    completion_tokens: int
    cost: float  #: of those whose cost is known


def judges_of(trials: Trials, run: RunRecord) -> tuple[JudgeUsage, ...]:
    """Return what each judge of a run took, those that it no longer uses among them."""
    scorers = [scorer for number, _, scorer in trials.all_scorers() if number == run.number]
    usages = (_usage(trials, scorer.name, scorer.number) for scorer in scorers)
    return tuple(usage for usage in usages if usage.calls)


def _usage(trials: Trials, name: str, number: int) -> JudgeUsage:
    totals = trials.call_totals(number)
    return JudgeUsage(
        name, totals.calls, totals.failed, totals.cached, totals.unpriced, totals.prompt_tokens,
        totals.completion_tokens, totals.cost,
    )  # fmt: skip
