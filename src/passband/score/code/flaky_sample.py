"""Sample the verdicts that are given a second time, to measure how flaky programs are.

The second verdicts are the scores of a hidden scorer, which belongs to the run and is not among its
scorers, so that no table shows it. Its identity is that of the scorer whose verdicts it repeats.

The sample is random but reproducible: every trial gets a number between 0 and 1 from the run's seed
and its own reference, and the trials with the smallest numbers are run again. A run that grows
keeps its sample. Once a verdict changes, the sample grows, because the interval has to allow for
the verdicts that were not repeated.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple

from passband.trials import ScorerEntry

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


def chosen_again(trials: Sequence[TrialRef], seed: str, *, more: bool = False) -> list[TrialRef]:
    """Sample the verdicts to give again, from trials that did not time out.

    >>> trials = [TrialRef("p", trial) for trial in range(4000)]
    >>> some, more = chosen_again(trials, "run"), chosen_again(trials, "run", more=True)
    >>> len(some), len(more), set(some) <= set(more)
    (200, 800, True)
    """
    share, fewest = (MORE_SHARE, MORE_FEWEST) if more else (SHARE, FEWEST)
    return _first(trials, seed, max(fewest, math.ceil(share * len(trials))))


def chosen_timeouts(trials: Sequence[TrialRef], seed: str) -> list[TrialRef]:
    """Sample the programs that timed out and are run again with more time."""
    return _first(trials, seed, MOST_TIMEOUTS)


def hash_seed(trial: TrialRef, seed: str) -> int:
    """Return the hash seed of a re-run: one of `SEEDS`, never the 0 of the first verdict."""
    return 1 + int(_share(trial, f"{seed} hash") * SEEDS)


def _first(trials: Sequence[TrialRef], seed: str, count: int) -> list[TrialRef]:
    return sorted(trials, key=lambda trial: (_share(trial, seed), trial))[:count]


def _share(trial: TrialRef, seed: str) -> float:
    """Return a number between 0 and 1 that depends on a trial and a seed only."""
    text = f"{seed}\x00{trial.problem}\x00{trial.trial}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big") / (1 << 56)
