"""Some of the trials of a run, from all over the data, for what only their rows can tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.rows import STATUSES

_OK = STATUSES.index("ok")
_ANSWERS = (
    "SELECT t.problem, b.codec, b.text, b.reasoning, b.transcript FROM trial AS t "
    "JOIN body AS b ON b.id=t.body WHERE t.run=? AND t.status=? AND t.trial<? "
    "AND t.problem IN ({}) ORDER BY t.problem, t.trial"
)
_SCORES = (
    "SELECT problem, value FROM score WHERE scorer=? AND value IS NOT NULL {} ORDER BY 1,trial"
)


def some(numbers: Sequence[int], most: int) -> Sequence[int]:
    """Return numbers from all over a list, at most as many.

    >>> list(some(range(10), 3)), some([4, 7], 5)
    ([0, 4, 8], [4, 7])
    """
    return numbers[:: -(-len(numbers) // most)] if len(numbers) > most else numbers


def sampled_answers(
    rows: CheckedRows, run: int, problems: Sequence[int], first: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield for each problem the answers to its first trials, as they are stored.

    Equal answers are stored equally, be they packed or not.
    """
    query = _ANSWERS.format(_listed(problems))
    for _, group in groupby(rows.each(query, run, _OK, first), itemgetter(0)):
        yield [row[1:] for row in group]


def sampled_scores(
    rows: CheckedRows, scorer: int, problems: Sequence[int] | None
) -> list[tuple[int, float]]:
    """Return (problem, score) of these problems' trials, or of all, in the order of trials."""
    chosen = "" if problems is None else f"AND problem IN ({_listed(problems)})"
    return list(rows.each(_SCORES.format(chosen), scorer))


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))
