"""Whether two rows of one trial contradict each other.

How long an answer took is not what it says. A trial that failed, and may be asked again, says
nothing of an answer: a row that has one takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from passband.trials.differences import SettingsChanged
from passband.trials.rows import FAILED, TrialRow

__all__ = ["conflict", "contradiction", "recorded_twice", "supersedes"]

Names = Mapping[int, object]  # of scorers, by number


def conflict(earlier: TrialRow, row: TrialRow) -> str | None:
    """Return what differs in two rows of a trial, if anything does that a reader would see."""
    names = {
        "status": "its status", "text": "its completion", "reasoning": "its reasoning",
        "transcript": "its transcript", "seed": "its seed", "prompt_tokens": "its tokens",
        "completion_tokens": "its tokens", "reasoning_tokens": "its tokens",
        "cached_tokens": "its tokens", "finish_reason": "how it ended",
    }  # fmt: skip
    for name, words in names.items():
        if getattr(earlier, name) != getattr(row, name):
            return words
    return None


def supersedes(row: TrialRow, other: TrialRow) -> bool:
    """Return whether a row of a trial takes the place of another, which failed.

    It does if it has an answer; or if it failed in another way, after more attempts.
    """
    if other.status not in FAILED:
        return False
    if row.status not in FAILED:
        return True
    return row.attempts > other.attempts and conflict(row, other) is not None


def contradiction(
    earlier: TrialRow, earlier_names: Names, row: TrialRow, names: Names
) -> str | None:
    """Return in what two rows of a trial contradict each other, if they do; scores included."""
    if supersedes(row, earlier) or supersedes(earlier, row):
        return None
    there = {earlier_names[score.scorer]: score for score in earlier.scores}
    for score in row.scores:
        other = there.get(names[score.scorer], score)
        if other[1:5] != score[1:5]:  # all but the scorer's number and the detail
            return conflict(earlier, row) or "its score"
    return conflict(earlier, row)


def recorded_twice(
    where: object, task: str, key: str, trial: int, what: str, other: object
) -> SettingsChanged:
    """Return the error to raise for a trial of which two directories say different things."""
    return SettingsChanged(
        f"{where} cannot be merged: trial {trial} of problem {key!r} of {task} is recorded twice, "
        f"and {what} differs from that in {other}."
    )
