"""Word the state of a run: its progress, its cost and its failures."""

from __future__ import annotations

from passband.report import call_cost, counted, duration, money, pace
from passband.summary import RunNumbers, RunState

_STATES = {
    "running": "running",
    "complete": "complete",
    "stopped": "stopped",
    "imported": "imported",
    "empty": "no trials yet",
}
FILTERS = {
    "all": "all",
    "right": "right",
    "wrong": "wrong",
    "no_answer": "no answer",
    "scorer_no_verdict": "no verdict",
    "slow": "slowest",
    "long": "longest",
}
"""The names of filters, where they are not those of statuses."""


def status_words(standing: RunState) -> str:
    """Return the state of a run in a word or two."""
    return _STATES[standing.state]


def done(standing: RunState) -> str:
    """Return how many trials are recorded, of how many.

    >>> done(RunState("running", 120, 3200, 200, {"ok": 120}, 0, (0, 0), None))
    '120 of 3,200 trials'
    """
    if standing.planned is None or standing.planned == standing.done:
        return counted(standing.done, "trial")
    return f"{standing.done:,} of {counted(standing.planned, 'trial')}"


def asked(standing: RunState) -> str:
    """Return the number of problems, and how many of them have trials.

    >>> asked(RunState("running", 9, 90, 30, {"ok": 9}, 0, (0, 0), None, asked=3))
    '3 of 30 problems have trials so far'
    """
    if standing.asked == standing.problems:
        return counted(standing.problems, "problem")
    return f"{standing.asked:,} of {counted(standing.problems, 'problem')} have trials so far"


def percent(standing: RunState) -> str:
    """Return the share of the planned trials that are recorded; nothing where it is not known.

    >>> percent(RunState("running", 3199, 3200, 200, {"ok": 120}, 0, (0, 0), None))
    '99 %'
    """
    if not standing.planned:
        return ""
    return f"{100 * standing.done // standing.planned} %"


def share(standing: RunState) -> str:
    """Return the same as a number from 0 to 1."""
    return f"{standing.done / standing.planned:.4f}" if standing.planned else ""


def time_left(numbers: RunNumbers) -> str:
    """Return the rate of a running run, and its remaining time."""
    if numbers.standing.state != "running":
        return ""
    rate = "measuring the rate" if numbers.rate is None else pace(numbers.rate)
    left = numbers.seconds_left
    return rate if left is None else f"{rate}, {duration(left)} left"


def cost(standing: RunState) -> str:
    """Return the recorded cost of the trials and, separately, of their judges."""
    own = "unknown (no price given)" if standing.cost is None else money(standing.cost)
    judges = [f"{judge.scorer} {call_cost(judge)}" for judge in standing.judges]
    return ", and ".join([own, *judges])


def failures(standing: RunState) -> str:
    """Return the trials that ended without an answer, by kind.

    >>> failures(RunState("complete", 9, 9, 3, {"ok": 6, "gave_up": 3}, 0, (0, 0), None))
    '3 gave up'
    """
    kinds = [f"{count:,} {status.replace('_', ' ')}" for status, count in standing.failed.items()]
    return ", ".join(kinds) or ("nothing failed" if standing.done else "nothing asked yet")
