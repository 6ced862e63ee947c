"""Outcomes of programs, and how the detail of a score records them.

A score has no column for the outcome, so its detail begins with it; a program that passed has no
detail.

>>> detail_of("timed_out", "stopped after 6 s")
'timed out: stopped after 6 s'
>>> outcome_in("timed out: stopped after 6 s")
'timed_out'
>>> outcome_in("the judge was not sure") is None
True
"""

from __future__ import annotations

from typing import get_args

from passband.score.sandbox.protocol import VerdictStatus

OUTCOMES: tuple[VerdictStatus, ...] = get_args(VerdictStatus)
WORDS: dict[VerdictStatus, str] = {
    "passed": "passed",
    "failed": "failed",
    "timed_out": "timed out",
    "crashed": "crashed",
    "did_not_compile": "did not compile",
}
_LONGEST = 1_000  # characters of a failing assertion that are kept


def detail_of(outcome: VerdictStatus, reason: str | None) -> str | None:
    """Return the detail of a score; none for a program that passed."""
    if outcome == "passed":
        return None
    text = (reason or "").strip()
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return f"{WORDS[outcome]}: {text}" if text else WORDS[outcome]


def outcome_in(detail: str | None) -> VerdictStatus | None:
    """Return the outcome that a detail begins with; None if it begins with none."""
    if detail is None:
        return None
    first = detail.partition(":")[0]
    return next((outcome for outcome, words in WORDS.items() if words == first), None)


def reason_in(detail: str) -> str:
    """Return a detail without its outcome."""
    return detail.partition(":")[2].strip()
