"""Read the state of a run: running or not, progress, cost, failures."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Literal

from passband.summary.live.judge_usage import JudgeUsage, judges_of
from passband.trials import SHARDS_FOLDER, RunRecord, SessionRecord, TrialFilter, Trials, holder

State = Literal["running", "complete", "stopped", "imported", "empty"]

_WINDOW = 20.0  # seconds that a rate is averaged over
_SHORTEST = 2.0  # seconds below which a rate means nothing


@dataclass(frozen=True)
class RunState:
    """The counts of a run at one moment."""

    state: State
    done: int  #: trials recorded
    planned: int | None  #: in all; None where the store does not say
    problems: int
    statuses: Mapping[str, int] = field(hash=False)  #: trials by status
    retried: int  #: trials that needed more than one attempt
    tokens: tuple[int, int]  #: in and out
    cost: float | None  #: None where none was recorded
    cached_tokens: int = 0  #: of those in
    reasoning_tokens: int = 0  #: of those out
    asked: int = 0  #: problems that have trials
    judges: tuple[JudgeUsage, ...] = ()  #: apart from the trials

    @property
    def failed(self) -> dict[str, int]:
        """The trials that ended in another way than an answer, by status."""
        return {status: n for status, n in self.statuses.items() if n and status != "ok"}

    @property
    def left(self) -> int | None:
        """The trials that are planned and not recorded."""
        return None if self.planned is None else max(0, self.planned - self.done)


def state_of(trials: Trials, run: RunRecord, *, going_on: bool) -> RunState:
    """Return how a run stands, by the tallies of its store."""
    statuses = trials.statuses(run.number)
    done, planned = sum(statuses.values()), _planned(trials, run)
    return RunState(
        state=_state(trials, run, done, planned, going_on=going_on),
        done=done,
        planned=planned,
        problems=len(trials.numbers(run.number)),
        statuses={str(status): count for status, count in statuses.items()},
        retried=trials.retried(run.number),
        tokens=trials.tokens(run.number),
        cached_tokens=trials.cached_tokens(run.number),
        reasoning_tokens=trials.reasoning_tokens(run.number),
        cost=trials.cost(run.number) if trials.is_priced(run.number) else None,
        asked=len(_counts(trials, run)),
        judges=judges_of(trials, run),
    )


def _planned(trials: Trials, run: RunRecord) -> int | None:
    """Return how many trials a run is to have; a rule that ends it leaves that open."""
    n_each = run.imported.planned if run.is_imported else run.config.get("n")
    if type(n_each) is not int or run.adaptive is not None or "until" in run.config:
        return None
    counts = _counts(trials, run)
    return sum(max(n_each, count) for count in counts) + n_each * (
        len(trials.numbers(run.number)) - len(counts)
    )


def _counts(trials: Trials, run: RunRecord) -> list[int]:
    """Return the numbers of trials of the problems that have any."""
    return [count or 0 for count in trials.walk(run, TrialFilter()).matches.values()]


def _state(
    trials: Trials, run: RunRecord, done: int, planned: int | None, *, going_on: bool
) -> State:
    if run.is_imported:
        return "imported"
    if going_on:
        return "running"
    if not done:
        return "empty"
    if planned is not None:
        return "complete" if done >= planned else "stopped"
    return "complete" if _looks_complete(trials, run) else "stopped"


def _looks_complete(trials: Trials, run: RunRecord) -> bool:
    """Return whether a run that does not say how many trials it is to have seems to have them.

    Where a rule ends it, that is so if its last session has an end; else if every problem has as
    many trials as any other.
    """
    if run.adaptive is not None or "until" in run.config:
        sessions = trials.sessions()
        return not sessions or sessions[-1].ended is not None
    counts = _counts(trials, run)
    return len(set(counts)) == 1 and len(counts) == len(trials.numbers(run.number))


def is_going_on(trials: Trials) -> bool:
    """Return whether a process is writing to a run directory.

    The lock is looked at only if the last session has no end and its process may be alive: to look
    at a lock is to hold it for a moment, in which a run that starts would be refused.
    """
    if (trials.directory / SHARDS_FOLDER).is_dir() and holder(trials.directory) is not None:
        return True
    sessions = trials.sessions()
    if not sessions or sessions[-1].ended is not None or not _may_be_alive(sessions[-1]):
        return False
    return holder(trials.directory) is not None


def _may_be_alive(session: SessionRecord) -> bool:
    if session.pid is None or session.host != socket.gethostname():
        return True
    try:
        os.kill(session.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def session_rate(trials: Trials, done: int, now: datetime | None = None) -> float | None:
    """Return the trials per second of the session that is going on, where it can be told.

    It cannot after a session that was killed, which did not say how many trials it recorded.
    """
    sessions = trials.sessions()
    if not sessions or any(session.trials is None for session in sessions[:-1]):
        return None
    last = sessions[-1]
    fresh = done - sum(session.trials or 0 for session in sessions[:-1])
    started = datetime.fromisoformat(last.started)
    seconds = ((now or datetime.now(timezone.utc)) - started).total_seconds()
    return fresh / seconds if fresh > 0 and seconds >= _SHORTEST else None


class Pace:
    """The rate of a run that is watched: its trials per second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, now: float, done: int) -> None:
        """Note how many trials there are."""
        self._seen.append((now, done))
        while now - self._seen[0][0] > _WINDOW and len(self._seen) > 1:
            self._seen.popleft()

    @property
    def rate(self) -> float | None:
        """Trials per second; None before there is enough to tell.

        >>> pace = Pace()
        >>> for second in range(5):
        ...     pace.note(float(second), 10 * second)
        >>> pace.rate
        10.0
        """
        if not self._seen:
            return None
        (then, before), (now, done) = self._seen[0], self._seen[-1]
        return (done - before) / (now - then) if now - then >= _SHORTEST else None
