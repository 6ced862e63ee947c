"""Filter the trials of a run by number, status and score, and read them one at a time.

Finding them reads no completions; reading one reads no other. What is damaged is damage of one
trial, and the others can still be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from passband.errors import UnknownName, nearest
from passband.stats.data import UNSTATED, Scale
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.unpacking import scores_of, trials_of
from passband.trials.query.counts import ProblemRef, stretches
from passband.trials.records import ProblemRecord, RunRecord
from passband.trials.rows import SCORE_STATUSES, STATUSES, AttemptRow, TrialRow

_OF_SCORES = {
    "no_answer": f"s.status={SCORE_STATUSES.index('no_answer')}",
    "scorer_error": f"s.status={SCORE_STATUSES.index('error')}",
    "scorer_timeout": f"s.status={SCORE_STATUSES.index('timeout')}",
    "scorer_no_verdict": f"s.status={SCORE_STATUSES.index('no_verdict')}",
    "unscored": f"(t.status={STATUSES.index('ok')} AND s.status IS NULL)",
}
STATUS_WORDS = (*STATUSES, *_OF_SCORES)
"""The words for what became of a trial or of its score."""

_FROM = (
    "FROM trial AS t LEFT JOIN score AS s ON s.scorer=? AND s.problem=t.problem "
    "AND s.trial=t.trial WHERE t.run=? AND t.problem BETWEEN ? AND ? AND"
)
_ONE = "t.run=? AND t.problem=? AND t.trial=?"


class OtherScorer(NamedTuple):
    """A second scorer whose verdict is to differ: from which score on each of the two passes."""

    scorer: int
    least: float  #: of that scorer
    own_least: float  #: of the scorer whose scores count


@dataclass(frozen=True)
class TrialFilter:
    """A condition on trials; what is empty or None leaves all."""

    problems: tuple[int, ...] = ()  #: by number in the store
    trials: tuple[int, ...] = ()
    statuses: tuple[str, ...] = ()  #: any of `STATUS_WORDS`
    right: bool | None = None  #: whether the score is the best, where there is a score
    scorer: int | None = None  #: whose scores count
    scale: Scale = UNSTATED  #: of that scorer
    differs: OtherScorer | None = None  #: only trials on which another scorer says something else

    def where(self) -> str:
        """Return the condition in SQL, on a trial `t` and its score `s`."""
        parts = ["1"]
        if self.problems:
            parts.append(f"t.problem IN ({','.join(map(str, self.problems))})")
        if self.trials:
            parts.append(f"t.trial IN ({','.join(map(str, self.trials))})")
        if self.statuses:
            parts.append(f"({' OR '.join(map(_status, self.statuses))})")
        if self.right is not None:
            parts.append(f"s.value IS NOT NULL AND {'' if self.right else 'NOT '}{self.is_right()}")
        if self.differs is not None:
            other, least, own_least = self.differs
            parts.append(
                f"EXISTS (SELECT 1 FROM score AS o WHERE o.scorer={other} AND "
                f"o.problem=t.problem AND o.trial=t.trial AND "
                f"(o.value>={least!r}) <> (s.value>={own_least!r}))"
            )
        return " AND ".join(parts)

    def is_right(self) -> str:
        """Return in SQL whether a score is the best."""
        return f"s.value{'<=' if self.scale.lower_is_better else '>='}{self.scale.right!r}"


def _status(word: str) -> str:
    if word in _OF_SCORES:
        return _OF_SCORES[word]
    numbers = {str(status): number for number, status in enumerate(STATUSES)}
    if word not in numbers:
        hint = nearest(word, STATUS_WORDS) or f" Known: {', '.join(STATUS_WORDS)}."
        raise UnknownName(f"no trial has the status {word!r}.{hint}")
    return f"t.status={numbers[word]}"


class Matches(NamedTuple):
    """How many trials a choice finds, and of how many problems."""

    trials: int
    problems: int


class ProblemCounts(NamedTuple):
    """The trials of a problem: how many there are, have a score, and have the best one."""

    trials: int
    scored: int
    right: int


class FilteredTrials:
    """The trials of a run that a choice finds, in the order of the data."""

    def __init__(
        self, rows: CheckedRows, run: RunRecord, places: Sequence[ProblemRef], choice: TrialFilter
    ) -> None:
        self._rows, self._run, self._choice = rows, run, choice
        self._places = places
        self._where = choice.where()
        self._scorer = -1 if choice.scorer is None else choice.scorer

    @cached_property
    def _stretches(self) -> list[tuple[int, int]]:
        return list(stretches([place.number for place in self._places]))

    def count(self) -> Matches:
        """Return how many there are."""
        trials = problems = 0
        for stretch in self._stretches:
            query = f"SELECT count(*), count(DISTINCT t.problem) {_FROM} {self._where}"
            ((more, of),) = self._rows.each(query, self._scorer, self._run.number, *stretch)
            trials, problems = trials + more, problems + of
        return Matches(trials, problems)

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield (problem, trial) of each."""
        for stretch in self._stretches:
            query = f"SELECT t.problem, t.trial {_FROM} {self._where} ORDER BY t.problem, t.trial"
            place = self._scorer, self._run.number, *stretch
            for problem, trial in self._rows.each(query, *place):  # noqa: UP028
                yield problem, trial  # `yield from` would close the cursor after its connection

    def problem(self, number: int) -> ProblemRecord:
        """Return a problem as it was asked."""
        for row in self._rows.rows("problem", "run=? AND problem=?", self._run.number, number):
            _, number, position, key, cluster, record = row
            return ProblemRecord(number, position, key, cluster, self._rows.mapping(record))
        raise self._rows.corrupt(f"a problem is lost: {self._rows.place(self._run.number, number)}")

    def trial(self, problem: int, trial: int) -> TrialRow:
        """Return a trial with the scores of all scorers, the main one's first."""
        place = self._run.number, problem, trial
        for row in trials_of(self._rows, _ONE, *place):
            for scorer in self._run.scorers:
                where = "scorer=? AND problem=? AND trial=?"
                found = scores_of(self._rows, where, scorer.number, problem, trial)
                row.scores += [score for _, _, score in found]
            return row
        raise self._rows.corrupt(f"a trial is lost: {self._rows.place(*place)}")

    def failures(self, problem: int, trial: int) -> list[AttemptRow]:
        """Return the attempts at a trial that returned no completion."""
        place = self._run.number, problem, trial
        rows = self._rows.rows("attempt", "run=? AND problem=? AND trial=?", *place, order="4")
        return [AttemptRow(*row[1:]) for row in rows]

    def counts(self, problem: int) -> ProblemCounts:
        """Return how many trials of a problem there are, whatever is chosen."""
        query = f"SELECT count(*), count(s.value), sum({self._choice.is_right()}) {_FROM} 1"
        place = self._scorer, self._run.number, problem, problem
        ((trials, scored, right),) = self._rows.each(query, *place)
        return ProblemCounts(trials, scored, right or 0)
