"""Explain in a line why a trial has its score, and how each judge voted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from passband.summary import ShownCall, ShownScore, ShownTrial

_WORDS = {"no_verdict": "no verdict", "truncated": "cut off"}


def call_text(call: ShownCall, calls: Sequence[ShownCall]) -> str:
    r"""Return a call in one line: its vote, its value or failure, and its last line.

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


_STATUSES = {
    "ok": "it has not been scored",
    "truncated": "it was cut off at the limit of tokens",
    "refused": "the model declined, or a filter withheld the answer",
    "invalid": "what came back, time after time, was not an answer",
    "gave_up": "nothing came back, time after time",
    "limit": "the task stopped it: too many messages, too much time or too many tokens",
    "errored": "the task's own code failed",
    "tool_call": "the model asked for a tool instead of answering",
    "unknown": "it ended for an unknown reason",
}
_UNSCORED = {"timeout": "scorer timed out", "no_verdict": "no verdict"}
_BROKEN = {
    "boxed-unclosed": r"the last \boxed{ is never closed",
    "marker-ambiguous": "what follows the last marker can be read as several answers",
    "marker-empty": "nothing follows the last marker",
    "reasoning-unclosed": "the text ends within its reasoning",
    "fallback": "no match",
}


@dataclass(frozen=True)
class Verdict:
    """The verdict on a trial: a kind (right, wrong or odd), a word, and the reason."""

    kind: str
    word: str
    reason: str = ""
    answer: str | None = None  #: what was compared with the target
    rule: str | None = None


def verdict(trial: ShownTrial) -> Verdict:
    """Return the verdict on a trial by its first score, or why it has none."""
    if trial.score is None:
        return Verdict("odd", f"no score ({trial.status})", _STATUSES.get(trial.status, ""))
    return verdict_of_score(trial.score, trial.text)


def verdict_of_score(score: ShownScore, text: str | None) -> Verdict:
    """Return the verdict of one scorer, or the label of a person."""
    if score.is_label and score.value is not None:
        return Verdict("right" if score.is_right else "wrong", label_text(score))
    if score.status == "no_answer":
        tried = f"by {', '.join(score.rules)}" if score.rules else ""
        reason = _BROKEN.get(score.rule or "", f"none found {tried}".strip())
        return Verdict("wrong", _word(score, "no answer"), reason)
    if score.value is None:
        word = _UNSCORED.get(score.status, "scorer error")
        reason = score.detail or "no reason is recorded"
        return Verdict("odd", word, reason, score.answer, score.rule)
    if score.outcome is not None:
        return _program(score)
    answer = text if score.answer is None else score.answer
    kind = "right" if score.is_right else "wrong"
    return Verdict(kind, _word(score, kind), score.detail or "", answer, score.rule)


def label_text(score: ShownScore) -> str:
    """Return a label in words.

    >>> label = ShownScore("label", 1.0, "ok", None, "spread", "p=0.1", True, is_label=True)
    >>> label_text(label)
    'labelled pass'
    """
    words = {0.0: "fail", 1.0: "pass"}
    value = score.value if score.value is not None else float("nan")
    return f"labelled {words.get(value, f'{value:.4g}')}"


def _program(score: ShownScore) -> Verdict:
    """Return the verdict on a program: its outcome, and the failing assertion if there is one.

    The program itself is in the answer, and too long for a line.
    """
    kind = "right" if score.is_right else "wrong"
    reason = (score.detail or "").partition(":")[2].strip()
    found = f" (found by {score.rule})" if score.rule not in (None, "broken") else ""
    return Verdict(kind, f"{score.outcome}{found}", reason, None, score.rule)


def _word(score: ShownScore, word: str) -> str:
    """Return a word for a score, with its number unless it is 0 or 1."""
    if score.value is None or score.value in (0.0, 1.0):
        return word
    number = f"{score.value:.4g}"
    return f"{word}, score {number}" if word == "no answer" else f"score {number}"
