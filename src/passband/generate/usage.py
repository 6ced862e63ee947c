"""The tokens of a request, shared among its completions so that they add up.

The first completion pays for the prompt. The tokens that came out are shared by the length of the
texts, since servers report only the sum; with one completion, the usual case, they are exact.

Sources: OpenAI's API reference (completion_tokens_details, prompt_tokens_details), SGLang
(reasoning_tokens beside the others), Gemini's OpenAI-compatible replies (thoughts are part of the
total alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from passband.generate.provider import JsonObject


class Tokens(NamedTuple):
    """The tokens of one completion; None where they were not counted."""

    prompt: int | None = None
    completion: int | None = None  # reasoning included
    reasoning: int | None = None
    cached: int | None = None  # of the prompt


def shared_usage(usage: Any, texts: Sequence[str | None]) -> list[Tokens]:
    """Return the tokens of each completion of a reply.

    >>> for tokens in shared_usage({"prompt_tokens": 5, "completion_tokens": 9}, ["a", "bbb"]):
    ...     print(tokens)
    Tokens(prompt=5, completion=3, reasoning=None, cached=None)
    Tokens(prompt=0, completion=6, reasoning=None, cached=None)
    """
    whole = _counted(usage) if isinstance(usage, dict) else Tokens()
    if len(texts) == 1:
        return [whole]
    lengths = [len(text or "") + 1 for text in texts]
    prompts, cached = (
        [count, *[None if count is None else 0] * (len(texts) - 1)]
        for count in (whole.prompt, whole.cached)
    )
    shares = (_shares(count, lengths) for count in (whole.completion, whole.reasoning))
    return list(map(Tokens, prompts, *shares, cached))


def _shares(count: int | None, lengths: Sequence[int]) -> list[int | None]:
    if count is None:
        return [None] * len(lengths)
    total = sum(lengths)
    ends = [count * passed // total for passed in accumulate(lengths, initial=0)]
    return [end - start for start, end in pairwise(ends)]


def _counted(usage: JsonObject) -> Tokens:
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    total, reasoning = _count(usage.get("total_tokens")), _reasoning(usage)
    if prompt is not None and completion is not None and total is not None:
        beside = total - prompt - completion
        if beside > 0:
            completion += beside
            reasoning = beside if reasoning is None else reasoning
    return Tokens(prompt, completion, reasoning, _cached(usage))


def _reasoning(usage: JsonObject) -> int | None:
    details = usage.get("completion_tokens_details")
    if isinstance(details, dict) and (count := _count(details.get("reasoning_tokens"))) is not None:
        return count
    return _count(usage.get("reasoning_tokens"))


def _cached(usage: JsonObject) -> int | None:
    details = usage.get("prompt_tokens_details")
    if isinstance(details, dict) and (count := _count(details.get("cached_tokens"))) is not None:
        return count
    return _count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**40 else None  # sums must fit too
