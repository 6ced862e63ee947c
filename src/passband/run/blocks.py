"""Blocks of trials to request: for each problem, those that no row records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["Block", "count_missing", "missing_blocks", "trial_seed"]


class Block(NamedTuple):
    """Trials of one problem that fit in one request."""

    problem: int  # position
    trials: range
    reason: str | None = None  # why the schedule chose them, where it has more than one choice


def missing_blocks(
    problems: int, n: int, recorded: Mapping[int, int], size: int
) -> Iterator[Block]:
    """Yield blocks of missing trials, every problem's first before any problem's second.

    So an interrupted run has seen every problem about equally often. Blocks begin at multiples
    of `size`, whatever is missing, so that a resumed run makes the requests of an uninterrupted
    one.

    >>> [(b.problem, list(b.trials)) for b in missing_blocks(2, 3, {0: 0b001}, 2)]
    [(0, [1]), (1, [0, 1]), (0, [2]), (1, [2])]
    """
    for start in range(0, n, size):
        stop = min(start + size, n)
        wanted = (1 << stop) - (1 << start)
        for problem in range(problems):
            done = recorded.get(problem, 0)
            if not done & wanted:
                yield Block(problem, range(start, stop))
            elif done & wanted != wanted:
                yield from _gaps(problem, done, start, stop)


def count_missing(problems: int, n: int, recorded: Mapping[int, int]) -> int:
    """Return the number of missing trials.

    >>> count_missing(2, 3, {0: 0b001})
    5
    """
    wanted = (1 << n) - 1
    return sum(n - (recorded.get(position, 0) & wanted).bit_count() for position in range(problems))


def trial_seed(base: str, task: str, problem: str, trial: int) -> int:
    """Return the seed of a trial: 31 bits, a hash of its place in the run.

    >>> trial_seed("demo", "arithmetic", "add2-01", 0)
    102965349
    """
    key = "\0".join((base, task, problem, str(trial))).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") >> 1


def _gaps(problem: int, done: int, start: int, stop: int) -> Iterator[Block]:
    """Yield the runs of missing trials between `start` and `stop`."""
    first = None
    for trial in range(start, stop):
        if done >> trial & 1:
            if first is not None:
                yield Block(problem, range(first, trial))
                first = None
        elif first is None:
            first = trial
    if first is not None:
        yield Block(problem, range(first, stop))
