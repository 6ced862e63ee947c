"""The numbers of a run at the moment of a reading, computed no more often than they deserve."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from passband.summary import Pace, RunNumbers, is_going_on, numbers_of, session_rate, state_of
from passband.trials import RunRecord
from passband.view.desk import Reading

_SHARE = 25  # numbers that move may take this part of the time: 1 in 25


@dataclass(frozen=True)
class _Look:
    numbers: RunNumbers
    until: float  # when the next one may be taken


def numbers_now(reading: Reading, run: RunRecord, *, thorough: bool = True) -> RunNumbers:
    """Return the numbers of a run as they are now."""
    trials = reading.trials
    going_on = is_going_on(trials)
    standing = reading.keep(
        ("standing", run.number, going_on), lambda: state_of(trials, run, going_on=going_on)
    )
    numbers = reading.keep(
        ("numbers", run.number, going_on, thorough),
        lambda: numbers_of(trials, run, standing, None, thorough=thorough),
    )
    if not going_on:
        return numbers
    pace = reading.paces.setdefault(run.number, Pace())
    pace.note(time.monotonic(), standing.done)
    rate = pace.rate
    if rate is None and len(trials.runs()) == 1:
        rate = session_rate(trials, standing.done)
    return replace(numbers, rate=rate)


def numbers_of_page(reading: Reading, run: RunRecord) -> RunNumbers:
    """Return the numbers of a run for a page; what it is told later is no older than they are."""
    numbers = numbers_now(reading, run)
    reading.looks["look", run.number] = _Look(numbers, time.monotonic())
    return numbers


def numbers_sometimes(reading: Reading, run: RunRecord) -> RunNumbers:
    """Return the numbers of a run that is watched, perhaps those of a moment ago.

    However fast a run grows, watching it takes a fixed small part of the time.
    """
    key, start = ("look", run.number), time.monotonic()
    look: _Look | None = reading.looks.get(key)
    if look is None or start >= look.until:
        numbers = numbers_now(reading, run, thorough=False)
        end = time.monotonic()
        look = _Look(numbers, end + _SHARE * (end - start))
        reading.looks[key] = look
    return look.numbers
