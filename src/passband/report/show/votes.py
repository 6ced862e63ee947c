"""The calls to judges that a trial was scored by, as lines: each vote and how its reply ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from passband.summary import ShownCall

_WORDS = {"no_verdict": "no verdict", "truncated": "cut off"}


def call_text(call: ShownCall, calls: Sequence[ShownCall]) -> str:
    r"""Return a call in one line: which vote, its value or what became of it, its last words.

    >>> call = ShownCall("judge", 0, 1, "ok", 1.0, "It is right.\nVERDICT: PASS\n")
    >>> call_text(call, [call])
    'vote 1: 1: VERDICT: PASS'
    """
    several = len({one.scorer for one in calls}) > 1
    named = f"{call.scorer}, " if several else ""
    order = ", swapped" if call.is_swapped else ""
    cached = " (same request as another)" if call.is_cached else ""
    return f"{named}vote {call.vote + 1}{order}: {_result(call)}{cached}"


def _result(call: ShownCall) -> str:
    if call.status == "failed":
        why = f": {call.detail}" if call.detail else ""
        return f"failed ({call.outcome or 'no reply'}){why}"
    value = f"{call.value:g}" if call.value is not None else _WORDS.get(call.status, call.status)
    last = call.last_line
    return value if last is None else f"{value}: {last}"


def call_record(call: ShownCall) -> dict[str, Any]:
    """Return a call as JSON has it."""
    return {
        "scorer": call.scorer,
        "vote": call.vote,
        "swapped": call.is_swapped,
        "attempt": call.attempt,
        "status": call.status,
        "value": call.value,
        "reply": call.reply,
        "cached": call.is_cached,
        "outcome": call.outcome,
        "detail": call.detail,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost": call.cost,
    }
