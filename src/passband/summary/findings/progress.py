"""Tell whether a run is complete, running or stopped, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from passband.trials import RunRecord, Trials, holder

State = Literal["complete", "running", "stopped", "recorded"]


@dataclass(frozen=True)
class RecordedProgress:
    """The trials of a run that are recorded, and those that were planned where that is known.

    A run is "recorded" where it is not known how many trials were wanted: those of logs, and
    those of a store that does not say.
    """

    state: State
    recorded: int
    planned: int | None = None
    failed: int = 0  #: recorded without an answer: invalid, gave_up, errored
    date: str | None = None  #: when the run began
    each: tuple[int, int] = (0, 0)  #: fewest and most recorded trials of a problem


def progress_of(trials: Trials, run: RunRecord) -> RecordedProgress:
    """Return how far a run has come, without a trace in its directory."""
    recorded = trials.trial_count(run.number)
    planned = _planned(trials, run)
    statuses = trials.statuses(run.number)
    failed = sum(statuses.get(status, 0) for status in ("invalid", "gave_up", "errored"))
    state: State = "recorded"
    if _is_going_on(trials):
        state = "running"
    elif planned is not None:
        state = "complete" if recorded >= planned else "stopped"
    date = run.created[:10] or None
    return RecordedProgress(state, recorded, planned, failed, date, _each(trials, run))


def _each(trials: Trials, run: RunRecord) -> tuple[int, int]:
    """Return the fewest and the most recorded trials of a problem."""
    counts = [mask.bit_count() for mask in trials.recorded(run.number).values()]
    has_all = len(counts) >= len(trials.numbers(run.number))
    return min(counts, default=0) if has_all else 0, max(counts, default=0)


def _is_going_on(trials: Trials) -> bool:
    """Return whether a process writes now; its lock is looked at only if a session has no end."""
    sessions = trials.sessions()
    return (
        any(session.ended is None for session in sessions) and holder(trials.directory) is not None
    )


def _planned(trials: Trials, run: RunRecord) -> int | None:
    """Return the trials that were wanted when the run was last asked."""
    n = run.config.get("n")
    if not isinstance(n, int) or "until" in run.config or run.adaptive is not None:
        return None
    entered = run.config.get("problems")
    count = entered.get("count") if isinstance(entered, Mapping) else None
    problems = count if isinstance(count, int) else len(trials.numbers(run.number))
    return max(n * problems, 0)
