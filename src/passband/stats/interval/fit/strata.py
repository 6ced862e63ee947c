"""Strata of problems by their number of trials, each with distributions of its own.

Hard problems often have fewer trials than easy ones, or more. A distribution fitted to all problems
then describes none of the strata. The strata are octaves of n (1, 2-3, 4-7, 8-15, ...), joined with
their neighbours until each has a few problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from passband.stats.interval.fit.law import Law

__all__ = ["Stratum", "strata_of"]

_FEWEST = 5  # problems in a stratum


@dataclass(frozen=True, eq=False)
class Stratum:
    """The problems with neighbouring numbers of trials, and the distributions fitted to them."""

    ns: slice  # positions among the numbers of trials of the whole grid
    cells: slice  # positions among its pairs
    law: Law  # started at the fit to all problems, and mixed with it


def strata_of(ns: Sequence[int], problems: Sequence[float]) -> list[slice]:
    """Return positions of neighbouring numbers of trials, each with five problems or more.

    >>> strata_of([1, 2, 3, 4, 64], [9, 4, 3, 6, 2])
    [slice(0, 1, None), slice(1, 3, None), slice(3, 5, None)]
    """
    ends = list(_octave_ends(ns))
    cuts, since = [0], 0.0
    for start, end in zip([0, *ends], ends, strict=False):
        since += sum(problems[start:end])
        if since >= _FEWEST:
            cuts.append(end)
            since = 0.0
    if len(cuts) > 1:
        cuts.pop()  # what is left over goes to the last stratum
    cuts.append(len(ns))
    return [slice(start, end) for start, end in pairwise(cuts)]


def _octave_ends(ns: Sequence[int]) -> Iterator[int]:
    for at, n in enumerate(ns, start=1):
        if at == len(ns) or ns[at].bit_length() != n.bit_length():
            yield at
