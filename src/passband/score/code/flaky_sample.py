"""Verdicts that are given a second time: which ones, and where they are kept.

They are the scores of a scorer of their own, which belongs to the run and is not among its scorers,
so that no table shows it as one. Its identity is that of the scorer whose verdicts it repeats.

The choice is random and the same whoever makes it: every trial has a number between 0 and 1 from
the run's seed and its own place, and those with the smallest are run again. A run that grows keeps
the ones that it has. Where one of them changes, more are run again, so that the interval, which has
to allow for what is not known of the others, stays narrow.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple

from passband.trials.rows import ScorerEntry

__all__ = [
    "FEWEST",
    "MORE_FEWEST",
    "MORE_SHARE",
    "MOST_TIMEOUTS",
    "SHARE",
    "TrialRef",
    "again_entry",
    "chosen_again",
    "chosen_timeouts",
    "hash_seed",
]

SHARE, FEWEST = 0.05, 100  # of the verdicts, and at least so many of them, or all
MORE_SHARE, MORE_FEWEST = 0.2, 500  # once one has changed
MOST_TIMEOUTS = 30  # each costs twice its time, alone on the machine
SEEDS = 3  # other hash seeds that re-runs are spread over
_IDENTITY = "verdicts run again: "


class TrialRef(NamedTuple):
    """A trial: the key of its problem, and its number."""

    problem: str
    trial: int


def again_entry(name: str, identity: str) -> ScorerEntry:
    """Return the scorer that keeps the second verdicts of another one."""
    return ScorerEntry(f"{name},again", f"{_IDENTITY}{identity}")


def chosen_again(places: Sequence[TrialRef], seed: str, *, more: bool = False) -> list[TrialRef]:
    """Return which verdicts to give again, of those that did not time out.

    >>> places = [TrialRef("p", trial) for trial in range(4000)]
    >>> some, more = chosen_again(places, "run"), chosen_again(places, "run", more=True)
    >>> len(some), len(more), set(some) <= set(more)
    (200, 800, True)
    """
    share, fewest = (MORE_SHARE, MORE_FEWEST) if more else (SHARE, FEWEST)
    return _first(places, seed, max(fewest, math.ceil(share * len(places))))


def chosen_timeouts(places: Sequence[TrialRef], seed: str) -> list[TrialRef]:
    """Return which programs that timed out are given more time."""
    return _first(places, seed, MOST_TIMEOUTS)


def hash_seed(place: TrialRef, seed: str) -> int:
    """Return the hash seed of a re-run: one of a few, and never that of the first verdict."""
    return 1 + int(_share(place, f"{seed} hash") * SEEDS)


def _first(places: Sequence[TrialRef], seed: str, count: int) -> list[TrialRef]:
    return sorted(places, key=lambda place: (_share(place, seed), place))[:count]


def _share(place: TrialRef, seed: str) -> float:
    """Return a number between 0 and 1 that depends on a trial and a seed only."""
    text = f"{seed}\x00{place.problem}\x00{place.trial}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big") / (1 << 56)
