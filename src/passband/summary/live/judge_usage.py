"""Count the calls, tokens and cost of judges, which have prices of their own."""

from __future__ import annotations

from dataclasses import dataclass

from passband.readers import title_of
from passband.score import canary_names, identity_of
from passband.trials import RunRecord, ScorerRecord, Trials

_CANARIES = canary_names("", "")[0]


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
    model: str | None = None  #: that was asked, where it is recorded

    @property
    def title(self) -> str:
        """What tables call it: its model where the scorer has no own name, and what else it judged.

        >>> JudgeUsage("judge,canaries", 9, 0, 0, 0, 500, 60, 0.25, "openai:large").title
        'openai:large (null answers)'
        """
        title = title_of(self.scorer.removesuffix(_CANARIES), self.model)
        return f"{title} (null answers)" if self.scorer.endswith(_CANARIES) else title


def judges_of(trials: Trials, run: RunRecord) -> tuple[JudgeUsage, ...]:
    """Return what each judge of a run took, those that it no longer uses among them."""
    scorers = [scorer for number, _, scorer in trials.all_scorers() if number == run.number]
    models = {identity_of(one.identity): one.spec.get("model") for one in scorers if one.spec}
    usages = (_usage(trials, one, models.get(identity_of(one.identity))) for one in scorers)
    return tuple(usage for usage in usages if usage.calls)


def _usage(trials: Trials, scorer: ScorerRecord, model: str | None) -> JudgeUsage:
    totals = trials.call_totals(scorer.number)
    return JudgeUsage(
        scorer.name, totals.calls, totals.failed, totals.cached, totals.unpriced,
        totals.prompt_tokens, totals.completion_tokens, totals.cost, model,
    )  # fmt: skip
