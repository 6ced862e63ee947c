"""What is still to be asked: for each problem the trials that no row records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["Block", "count_missing", "missing_blocks", "trial_seed"]


class Block(NamedTuple):
    """Trials of one problem that can be asked for in one request."""

    problem: int  # position
    trials: range


def missing_blocks(
    problems: int, n: int, recorded: Mapping[int, int], size: int
) -> Iterator[Block]:
    """Yield what is missing, every problem's first trials before any problem's second ones.

    So an interrupted run has seen every problem about equally often. Blocks begin at multiples
    of `size`, whatever is missing, so that a resumed run asks what an uninterrupted one asks.

    >>> [(b.problem, list(b.trials)) for b in missing_blocks(2, 3, {0: 0b001}, 2)]
    [(0, [1]), (1, [0, 1]), (0, [2]), (1, [2])]
    """
    for start in range(0, n, size):
        for problem in range(problems):
            done = recorded.get(problem, 0)
            yield from _gaps(problem, done, start, min(start + size, n))


def count_missing(problems: int, n: int, recorded: Mapping[int, int]) -> int:
    """Return how many trials are missing.

    >>> count_missing(2, 3, {0: 0b001})
    5
    """
    wanted = (1 << n) - 1
    return sum(n - (recorded.get(at, 0) & wanted).bit_count() for at in range(problems))


def trial_seed(base: str, task: str, problem: str, trial: int) -> int:
    """Return the seed of a trial: another for each, the same each time, 31 bits.

    >>> trial_seed("demo", "arithmetic", "add2-01", 0)
    102965349
    """
    key = "\0".join((base, task, problem, str(trial))).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") >> 1


def _gaps(problem: int, done: int, start: int, stop: int) -> Iterator[Block]:
    """Yield the stretches of a block whose trials are missing."""
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
