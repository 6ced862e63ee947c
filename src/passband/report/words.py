"""Word numbers: rates, times, tokens, costs."""

from __future__ import annotations

from decimal import Decimal

from passband.summary import JudgeUsage


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "trial"), counted(12_800, "trial")
    ('1 trial', '12,800 trials')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def pace(rate: float) -> str:
    """Return a rate in three digits.

    >>> pace(0.1234), pace(45.67), pace(2980.1)
    ('0.123/s', '45.7/s', '2980/s')
    """
    return f"{rate:.0f}/s" if rate >= 100 else f"{rate:.3g}/s"


def duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> duration(3.2), duration(75), duration(7260)
    ('3 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def money(amount: float) -> str:
    """Return a cost with at least two significant digits.

    >>> money(0.0), money(0.00123), money(12.5), money(0.0000123)
    ('0', '0.0012', '12.50', '0.000012')
    """
    if amount == 0:
        return "0"
    return f"{amount:.2f}" if amount >= 0.995 else f"{Decimal(f'{amount:.2g}'):f}"


def latency_text(milliseconds: int) -> str:
    """Return a latency; short ones in milliseconds.

    >>> latency_text(420), latency_text(61_000)
    ('420 ms', '1 min 1 s')
    """
    return f"{milliseconds} ms" if milliseconds < 10_000 else duration(milliseconds / 1000)


def tokens_text(
    prompt: int | None, completion: int | None, cached: int | None, reasoning: int | None
) -> str:
    """Return the tokens of a trial.

    >>> tokens_text(1200, None, None, None), tokens_text(1200, 90, 0, 60)
    ('1,200 tokens in, ? out', '1,200 tokens in, 90 out (60 reasoning)')
    """
    asked, answered = ("?" if count is None else f"{count:,}" for count in (prompt, completion))
    return f"{asked} tokens in, {answered} out{parts_text(cached, reasoning)}"


def parts_text(cached: int | None, reasoning: int | None) -> str:
    """Return how many of the tokens were read from a cache or were reasoning, if any.

    >>> parts_text(1000, 60), parts_text(None, 0)
    (' (1,000 cached, 60 reasoning)', '')
    """
    parts = [f"{count:,} {word}" for count, word in ((cached, "cached"), (reasoning, "reasoning"))
             if count]  # fmt: skip
    return f" ({', '.join(parts)})" if parts else ""


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
    """Return the cost of calls, and the number of calls without a price.

    >>> call_cost(JudgeUsage("judge", 13, 0, 0, 1, 500, 60, 0.25))
    '0.25, without 1 call of unknown cost'
    >>> call_cost(JudgeUsage("judge", 13, 0, 0, 13, 500, 60, 0.0))
    'unknown (no price given)'
    """
    if judge.unpriced and not judge.cost:
        return "unknown (no price given)"
    unknown = counted(judge.unpriced, "call")
    return money(judge.cost) + (f", without {unknown} of unknown cost" if judge.unpriced else "")
