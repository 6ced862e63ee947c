"""Whether a judge and the model that it judges are of one family, by their names."""

from __future__ import annotations

import re

__all__ = ["is_kin"]

_FIRST_WORD = re.compile(r"[a-z]+")


def is_kin(judge: str, model: str) -> bool:
    """Return whether two models have the same first word in their names, or are the same.

    >>> is_kin("openai:gpt-4o", "gpt-4o-mini"), is_kin("anthropic:claude-x", "meta/Llama-3")
    (True, False)
    >>> is_kin("python:judges:strict", "python:models:weak")
    False
    """
    if judge == model:
        return True
    if "python:" in (judge[:7], model[:7]):
        return False
    first, second = _family(judge), _family(model)
    return first is not None and first == second


def _family(model: str) -> str | None:
    name = model.rpartition("/")[2].rpartition(":")[2].casefold()
    word = _FIRST_WORD.match(name)
    return word[0] if word else None
