"""What the trials of a run took: tokens, time and cost, as far as they are recorded."""

from __future__ import annotations

from dataclasses import dataclass

from passband.summary.live.judge_usage import JudgeUsage, judges_of
from passband.trials import RunRecord, Trials


@dataclass(frozen=True)
class Usage:
    """Tokens, seconds and cost; None where that is not known."""

    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None  #: of the completion tokens
    cached_tokens: int | None  #: of the prompt tokens
    seconds: float | None  #: of all sessions of the directory
    shares_time: bool  #: whether other runs of the directory took part of the time
    cost: float | None
    judges: tuple[JudgeUsage, ...] = ()  #: of every scorer that has asked one


def usage_of(trials: Trials, run: RunRecord) -> Usage:
    """Add up what the rows and the sessions of a run say."""
    tokens_in, tokens_out = trials.tokens(run.number)
    counted = bool(tokens_in or tokens_out)
    seconds = [one.seconds for one in trials.sessions() if one.seconds is not None]
    return Usage(
        prompt_tokens=tokens_in if counted else None,
        completion_tokens=tokens_out if counted else None,
        reasoning_tokens=trials.reasoning_tokens(run.number) or None,
        cached_tokens=trials.cached_tokens(run.number) or None,
        seconds=sum(seconds) if seconds and not run.is_imported else None,
        shares_time=len(trials.runs()) > 1,
        cost=trials.cost(run.number) if trials.is_priced(run.number) else None,
        judges=judges_of(trials, run),
    )
