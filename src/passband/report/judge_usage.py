"""What judges took, in words: how many calls, how many tokens, at what cost."""

from __future__ import annotations

from passband.report.words import counted, money
from passband.summary import JudgeUsage


def call_counts(judge: JudgeUsage) -> str:
    """Return how many calls there were, and how many of them were not answered or not sent.

    >>> call_counts(JudgeUsage("judge", 13, 1, 2, 0, 500, 60, 0.25))
    '13, of which 1 failed and 2 found their reply recorded'
    """
    parts = [f"{judge.failed:,} failed"] if judge.failed else []
    parts += [f"{judge.cached:,} found their reply recorded"] if judge.cached else []
    return f"{judge.calls:,}" + (f", of which {' and '.join(parts)}" if parts else "")


def call_tokens(judge: JudgeUsage) -> str:
    """Return the tokens in and out.

    >>> call_tokens(JudgeUsage("judge", 13, 1, 2, 0, 5000, 60, 0.25))
    '5,000 + 60'
    """
    if not judge.prompt_tokens and not judge.completion_tokens:
        return "not recorded"
    return f"{judge.prompt_tokens:,} + {judge.completion_tokens:,}"


def call_cost(judge: JudgeUsage) -> str:
    """Return what calls cost, and of how many that is not known.

    >>> call_cost(JudgeUsage("judge", 13, 0, 0, 1, 500, 60, 0.25))
    '0.25, without 1 call of unknown cost'
    >>> call_cost(JudgeUsage("judge", 13, 0, 0, 13, 500, 60, 0.0))
    'unknown (no price given)'
    """
    if judge.unpriced and not judge.cost:
        return "unknown (no price given)"
    unknown = counted(judge.unpriced, "call")
    return money(judge.cost) + (f", without {unknown} of unknown cost" if judge.unpriced else "")
