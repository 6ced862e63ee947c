"""Compute a run's current figures, cached and rate-limited."""

from __future__ import annotations

import time
from dataclasses import replace

from passband.summary import Pace, RunNumbers, is_going_on, numbers_of, session_rate, state_of
from passband.trials import RunRecord
from passband.view.reading.run_reader import RecentFigures, RunSnapshot

_SHARE = 25  # computing figures may take 1 / 25 of the time


def current_figures(reading: RunSnapshot, run: RunRecord, *, thorough: bool = True) -> RunNumbers:
    """Return the current figures of a run."""
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


def page_figures(reading: RunSnapshot, run: RunRecord) -> RunNumbers:
    """Return the figures of a run for a page; later updates are never older than these."""
    numbers = current_figures(reading, run)
    reading.recent[run.number] = RecentFigures(numbers, time.monotonic())
    return numbers


def throttled_figures(reading: RunSnapshot, run: RunRecord) -> RunNumbers:
    """Return the figures of a watched run, at most slightly out of date.

    However fast a run grows, watching it takes a fixed small part of the time.
    """
    start, recent = time.monotonic(), reading.recent.get(run.number)
    if recent is None or start >= recent.until:
        numbers = current_figures(reading, run, thorough=False)
        end = time.monotonic()
        recent = RecentFigures(numbers, end + _SHARE * (end - start))
        reading.recent[run.number] = recent
    return recent.numbers
