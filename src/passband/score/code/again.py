"""Verdicts that are given a second time: which ones, and where they are kept.

They are the scores of a scorer of their own, which belongs to the run and is not among its scorers,
so that no table shows it as one. Its identity is that of the scorer whose verdicts it repeats.

The choice is random and the same whoever makes it: every trial has a number between 0 and 1 from
the run's seed and its own place, and those with the smallest are run again. A run that grows keeps
the ones that it has.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from passband.trials.rows import ScorerEntry

__all__ = ["FEWEST", "MOST_TIMEOUTS", "SHARE", "Place", "again_entry", "chosen_again", "hash_seed"]

SHARE = 0.05  # of the verdicts
FEWEST = 100  # of them, or all
MOST_TIMEOUTS = 30  # each costs twice its time, alone on the machine
SEEDS = 3  # other hash seeds that re-runs are spread over
_IDENTITY = "verdicts run again: "


class Place(NamedTuple):
    """A trial: the key of its problem, and its number."""

    problem: str
    trial: int


def again_entry(name: str, identity: str) -> ScorerEntry:
    """Return the scorer that keeps the second verdicts of another one."""
    return ScorerEntry(f"{name},again", f"{_IDENTITY}{identity}")


def chosen_again(outcomes: Mapping[Place, bool], seed: str) -> tuple[list[Place], list[Place]]:
    """Return which verdicts to give again: a random part of all, and the timeouts among all.

    `outcomes` says of every trial with a verdict whether it timed out.

    >>> ended = {Place("p", trial): trial == 7 for trial in range(4000)}
    >>> some, timeouts = chosen_again(ended, "run")
    >>> len(some), timeouts
    (200, [Place(problem='p', trial=7)])
    """
    timeouts = _first([p for p, timed_out in outcomes.items() if timed_out], seed, MOST_TIMEOUTS)
    others = [place for place, timed_out in outcomes.items() if not timed_out]
    return _first(others, seed, max(FEWEST, math.ceil(SHARE * len(others)))), timeouts


def hash_seed(place: Place, seed: str) -> int:
    """Return the hash seed of a re-run: one of a few, and never that of the first verdict."""
    return 1 + int(_share(place, f"{seed} hash") * SEEDS)


def _first(places: Sequence[Place], seed: str, count: int) -> list[Place]:
    return sorted(places, key=lambda place: (_share(place, seed), place))[:count]


def _share(place: Place, seed: str) -> float:
    """Return a number between 0 and 1 that depends on a trial and a seed only."""
    text = f"{seed}\x00{place.problem}\x00{place.trial}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big") / (1 << 56)
