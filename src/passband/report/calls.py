"""The calls to judges in words: how many, how many tokens, at what cost."""

from __future__ import annotations

from passband.report.words import counted, money
from passband.trials.call_totals import CallTotals

__all__ = ["call_cost", "call_counts", "call_tokens"]


def call_counts(calls: CallTotals) -> str:
    """Return how many calls there were, and how many of them were not answered or not sent.

    >>> call_counts(CallTotals.of("[[0, 12, 2, 9, 500, 60, 0.25], [4, 1, 0, 0, 0, 0, 0.0]]"))
    '13, of which 1 failed and 2 found their reply recorded'
    """
    parts = [f"{calls.failed:,} failed"] if calls.failed else []
    parts += [f"{calls.cached:,} found their reply recorded"] if calls.cached else []
    return f"{calls.calls:,}" + (f", of which {' and '.join(parts)}" if parts else "")


def call_tokens(calls: CallTotals) -> str:
    """Return the tokens in and out.

    >>> call_tokens(CallTotals.of("[[0, 12, 2, 9, 5000, 60, 0.25]]")), call_tokens(CallTotals())
    ('5,000 + 60', 'not recorded')
    """
    if not calls.prompt_tokens and not calls.completion_tokens:
        return "not recorded"
    return f"{calls.prompt_tokens:,} + {calls.completion_tokens:,}"


def call_cost(calls: CallTotals) -> str:
    """Return what calls cost, and of how many that is not known.

    >>> call_cost(CallTotals.of("[[0, 12, 2, 9, 500, 60, 0.25]]"))
    '0.25, without 1 call of unknown cost'
    """
    if calls.unpriced and not calls.cost:
        return "unknown (no price given)"
    unknown = counted(calls.unpriced, "call")
    return money(calls.cost) + (f", without {unknown} of unknown cost" if calls.unpriced else "")
