"""Read trials with their scores, side by side, in the order of the problems.

`some` picks problems evenly from all over the data where a sample is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.unpacking import scores_of, trials_of
from passband.trials.query.counts import stretches
from passband.trials.rows import STATUSES, ScoreRow, TrialRow

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


_WHERE = "t.run=? AND t.problem BETWEEN ? AND ?"
_UNSEEN = (
    "NOT EXISTS (SELECT 1 FROM score AS s WHERE s.scorer=? AND s.problem=t.problem "
    "AND s.trial=t.trial)"
)


def scored_trials(
    rows: CheckedRows, run: int, numbers: Sequence[int], scorers: Sequence[int]
) -> Iterator[TrialRow]:
    """Yield every trial of a run with its scores, the problems in the order of their `numbers`."""
    counted = dict.fromkeys(scorers, 0)
    count = 0
    for stretch in stretches(numbers):
        scores = [_Lookahead(rows, scorer, stretch) for scorer in scorers]
        for trial in trials_of(rows, _WHERE, run, *stretch):
            count += 1
            for source in scores:
                score = source.take((trial.problem, trial.trial))
                if score is not None:
                    trial.scores.append(score)
                    counted[source.scorer] += 1
            yield trial
        for source in scores:
            source.require_end()
    rows.require("trial", run, count)
    for scorer, scored in counted.items():
        rows.require("score", scorer, scored)


def unseen_trials(
    rows: CheckedRows, run: int, numbers: Sequence[int], scorer: int
) -> Iterator[TrialRow]:
    """Yield the trials that a scorer has not seen, without scores, in the same order."""
    count = 0
    for stretch in stretches(numbers):
        for trial in trials_of(rows, f"{_WHERE} AND {_UNSEEN}", run, *stretch, scorer):
            count += 1
            yield trial
    rows.require("trial", run, count + rows.counter("score", scorer))


def all_scores(rows: CheckedRows, scorer: int) -> Iterator[tuple[int, int, ScoreRow]]:
    """Yield (problem, trial, score) of a scorer, by number of the problem and trial."""
    count = 0
    for row in scores_of(rows, "scorer=?", scorer):
        count += 1
        yield row
    rows.require("score", scorer, count)


class _Lookahead:
    """A scorer's scores in order, taken one by one as their trials come by."""

    def __init__(self, rows: CheckedRows, scorer: int, stretch: tuple[int, int]) -> None:
        self.scorer = scorer
        self._rows = rows
        self._source = scores_of(rows, "scorer=? AND problem BETWEEN ? AND ?", scorer, *stretch)
        self._next = next(self._source, None)

    def take(self, place: tuple[int, int]) -> ScoreRow | None:
        """Return the score of a trial, if it has one."""
        if self._next is None or self._next[:2] > place:
            return None
        if self._next[:2] < place:
            raise self._rows.corrupt("a score has lost its trial")
        score = self._next[2]
        self._next = next(self._source, None)
        return score

    def require_end(self) -> None:
        """Require that no score is left."""
        if self._next is not None:
            raise self._rows.corrupt("a score has lost its trial")
