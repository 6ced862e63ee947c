"""Blocks of trials to request: those that no row records, of problems in a shuffled order.

Data files are sorted: by topic, by difficulty, by year. Asked in that order, a run that is cut off
would have seen the beginning of its file; in an order of its own it has seen a random sample.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Block(NamedTuple):
    """Trials of one problem that fit in one request."""

    problem: int  # position
    trials: range
    reason: str | None = None  # why the schedule chose them, where it has more than one choice


def missing_blocks(
    problems: Sequence[int], n: int, recorded: Mapping[int, int], size: int
) -> Iterator[Block]:
    """Yield blocks of missing trials in rounds: every problem's first before any one's second.

    `problems` are positions in the order of asking. Blocks begin at multiples of `size`,
    whatever is missing, so that a resumed run makes the requests of an uninterrupted one.

    >>> [(b.problem, list(b.trials)) for b in missing_blocks([1, 0], 3, {0: 0b001}, 2)]
    [(1, [0, 1]), (0, [1]), (1, [2]), (0, [2])]
    """
    for start in range(0, n, size):
        stop = min(start + size, n)
        wanted = (1 << stop) - (1 << start)
        for problem in problems:
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


def has_missing(problems: int, n: int, recorded: Mapping[int, int]) -> bool:
    """Return whether any trial is missing.

    >>> has_missing(2, 3, {0: 0b111, 1: 0b111}), has_missing(2, 3, {0: 0b111})
    (False, True)
    """
    wanted = (1 << n) - 1
    return any(wanted & ~recorded.get(position, 0) for position in range(problems))


def shuffled(base: str, task: str, problems: Iterable[str]) -> Sequence[int]:
    """Return the positions of problems, given by their keys, in the order of asking.

    That is the order of a hash of each one's place in the run. It does not depend on where the
    data have a problem, and problems that are added leave the others as they were.

    >>> list(shuffled("demo", "arithmetic", ["add2-01", "add2-02", "add2-03", "add2-04"]))
    [2, 1, 0, 3]
    """
    prefix, hashed = _encoded("order", base, task, ""), hashlib.sha256
    ranks = array("d")  # which hold 6 bytes exactly, and are sorted in half the time of integers
    for problem in problems:
        digest = hashed(prefix + problem.encode("utf-8", "surrogatepass")).digest()
        ranks.append(int.from_bytes(digest[:6], "big"))
    return array("q", sorted(range(len(ranks)), key=ranks.__getitem__))


def trial_seed(base: str, task: str, problem: str, trial: int) -> int:
    """Return the seed of a trial: 31 bits, a hash of its place in the run.

    >>> trial_seed("demo", "arithmetic", "add2-01", 0)
    102965349
    """
    digest = hashlib.sha256(_encoded(base, task, problem, str(trial))).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _encoded(*place: str) -> bytes:
    return "\0".join(place).encode("utf-8", "surrogatepass")


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
