"""Signs of a biased judge: null answers that pass, verdicts that flip, a model of its own family.

Verdicts on null answers (canaries) are recorded under a scorer of their own, which no table shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from passband.trials import CallRow

PASSED = 0.5  # a score from which on an answer counts as passed


def canary_names(scorer: str, identity: str) -> tuple[str, str]:
    r"""Return the name and the identity of the scorer that the canaries of a judge are under.

    >>> canary_names("judge", "1")
    ('judge,canaries', '1\ncanaries')
    """
    return f"{scorer},canaries", f"{identity_of(identity)}\ncanaries"


def identity_of(recorded: str) -> str:
    r"""Return the identity of a scorer without the suffix that a run has added.

    >>> identity_of("1\ncanaries")
    '1'
    """
    return recorded.partition("\n")[0]


class Flips(NamedTuple):
    """The number of pairs judged in both orders, and of the ones that contradict themselves."""

    pairs: int
    flipped: int


def count_flips(calls: Iterable[CallRow]) -> Flips:
    """Count pairs; a pair has the calls 2v and 2v + 1 of one trial, and the same seat wins both."""
    values: dict[tuple[int, int, int], dict[int, float]] = {}
    for row in calls:
        if row.value is not None:
            pair = (row.problem, row.trial, row.call // 2)
            values.setdefault(pair, {})[row.call % 2] = row.value
    pairs = [orders for orders in values.values() if len(orders) == 2]
    return Flips(len(pairs), sum(orders[0] == orders[1] != 0.5 for orders in pairs))


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
