"""Page through the trials that match a filter.

The tallies say which problems have such trials, and only those are looked at: a page takes as long
at the end of a million trials as at their beginning, however rare what is looked for.

How many trials of each problem a choice finds, as far as the tallies say it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.tally_columns import ScoreTallies, TrialTallies
from passband.trials.file.unpacking import scores_of
from passband.trials.query.counts import Counts, ProblemRef
from passband.trials.query.filters import TrialFilter
from passband.trials.records import RunRecord
from passband.trials.rows import SCORE_STATUSES, STATUSES, TrialRow

_TRIAL_STATUSES = {str(status): number for number, status in enumerate(STATUSES)}
_SCORE_WORDS = {
    "no_answer": SCORE_STATUSES.index("no_answer"),
    "scorer_error": SCORE_STATUSES.index("error"),
    "scorer_timeout": SCORE_STATUSES.index("timeout"),
    "scorer_no_verdict": SCORE_STATUSES.index("no_verdict"),
}

Counted = dict[int, int | None]


def count_matches(
    choice: TrialFilter, trials: TrialTallies, scores: ScoreTallies | None
) -> Counted:
    """Return the number of such trials by problem; problems without one are left out.

    The number is None where only the rows say it: of several conditions at once, and of right and
    wrong where scores are graded.
    """
    conditions: list[Counted] = []
    if choice.problems:
        conditions.append(dict.fromkeys(choice.problems))
    if choice.trials:
        conditions.append(dict.fromkeys(trials.problems))
    if choice.statuses:
        words = [_of_word(word, trials, scores) for word in dict.fromkeys(choice.statuses)]
        conditions.append(words[0] if len(words) == 1 else dict.fromkeys(set().union(*words)))
    if choice.differs is not None:
        conditions.append(dict.fromkeys(trials.problems))
    if choice.right is not None and scores is not None:
        conditions.append(_of_scores(choice, scores))
    if not conditions:
        return _added(zip(trials.problems, trials.trials, strict=True))
    if len(conditions) == 1:
        return conditions[0]
    return dict.fromkeys(set(conditions[0]).intersection(*conditions[1:]))


def _of_word(word: str, trials: TrialTallies, scores: ScoreTallies | None) -> Counted:
    if word in _TRIAL_STATUSES:
        return _added(_of_status(_TRIAL_STATUSES[word], trials))
    if scores is None:
        return _added(_of_status(_TRIAL_STATUSES["ok"], trials)) if word == "unscored" else {}
    if word in _SCORE_WORDS:
        columns = zip(scores.problems, scores.statuses, scores.scores, strict=True)
        return _added((p, n) for p, status, n in columns if status == _SCORE_WORDS[word])
    return _added(_unscored(trials, scores))


def _of_status(status: int, trials: TrialTallies) -> Iterator[tuple[int, int]]:
    for problem, each, count in zip(trials.problems, trials.statuses, trials.trials, strict=True):
        if each == status:
            yield problem, count


def _unscored(trials: TrialTallies, scores: ScoreTallies) -> Iterator[tuple[int, int]]:
    """Yield trials that were answered, and those of them with a score as negative numbers."""
    yield from _of_status(_TRIAL_STATUSES["ok"], trials)
    columns = zip(scores.problems, scores.trial_statuses, scores.scores, strict=True)
    for problem, status, count in columns:
        if status == _TRIAL_STATUSES["ok"]:
            yield problem, -count


def _of_scores(choice: TrialFilter, scores: ScoreTallies) -> Counted:
    """Return how many scores are the best, or are not; None where some are neither 0 nor 1."""
    ones, zeros = (choice.scale.is_right(value) == choice.right for value in (1.0, 0.0))
    counted = _added(
        (problem, int(total) * ones + (valued - int(total)) * zeros)
        for problem, valued, total in zip(
            scores.problems, scores.valued, scores.totals, strict=True
        )
    )
    graded = {p for p, odd in zip(scores.problems, scores.odd, strict=True) if odd}
    return {**counted, **dict.fromkeys(graded)}


def _added(counts: Iterator[tuple[int, int]] | zip[tuple[int, int]]) -> Counted:
    sums: dict[int, int] = {}
    for problem, count in counts:
        sums[problem] = sums.get(problem, 0) + count
    return {problem: count for problem, count in sums.items() if count}


_OF_PROBLEM = (
    "SELECT t.trial FROM trial AS t LEFT JOIN score AS s ON s.scorer=? AND s.problem=t.problem "
    "AND s.trial=t.trial WHERE t.run=? AND t.problem=? AND t.trial{0}? AND {1} "
    "ORDER BY t.trial {2} LIMIT ?"
)
_PLACE = "run=? AND problem=? AND trial=?"
_FIRST, _LAST = -1, 1 << 62


class TrialId(NamedTuple):
    """The number of a problem in the store, and that of a trial of it."""

    problem: int
    trial: int


class TrialPages:
    """The trials that a choice finds, in the order of the data, from any place on."""

    def __init__(
        self,
        rows: CheckedRows,
        run: RunRecord,
        places: Sequence[ProblemRef],
        choice: TrialFilter,
        counts: Counts,
    ) -> None:
        self._rows, self._run, self._places, self._choice = rows, run, places, choice
        self._counts = counts
        self._scorer = -1 if choice.scorer is None else choice.scorer

    @cached_property
    def matches(self) -> Mapping[int, int | None]:
        """How many trials of a problem are chosen, by its number; None where only rows say so."""
        trials = self._counts.trial_tallies(self._run.number)
        scorer = self._choice.scorer
        scores = None if scorer is None else self._counts.score_tallies(scorer)
        return count_matches(self._choice, trials, scores)

    def count(self) -> int | None:
        """Return how many trials are chosen; None where the tallies do not say so."""
        counts = list(self.matches.values())
        return None if None in counts else sum(count or 0 for count in counts)

    def after(self, place: TrialId | None, limit: int) -> list[TrialId]:
        """Return the first trials after a place, or from the beginning."""
        return self._some(place, limit, forwards=True)

    def before(self, place: TrialId | None, limit: int) -> list[TrialId]:
        """Return the last trials before a place, or from the end, in the order of the data."""
        return self._some(place, limit, forwards=False)[::-1]

    def _some(self, place: TrialId | None, limit: int, *, forwards: bool) -> list[TrialId]:
        found: list[TrialId] = []
        for problem in self._problems(place, forwards):
            edge = _FIRST if forwards else _LAST
            if place is not None and problem == place.problem:
                edge = place.trial
            trials = self._trials(problem, edge, limit - len(found), forwards)
            found += [TrialId(problem, trial) for trial in trials]
            if len(found) >= limit:
                break
        return found

    def _problems(self, place: TrialId | None, forwards: bool) -> Iterator[int]:
        """Yield the numbers of problems with such trials, that of the place first."""
        step = 1 if forwards else -1
        ordered = self._ordered[::step]
        start = 0
        if place is not None and place.problem in self._position:
            position = self._position[place.problem]
            start = position if forwards else len(ordered) - 1 - position
        for number in ordered[start:]:
            if self.matches.get(number, 0) != 0:
                yield number

    @cached_property
    def _ordered(self) -> list[int]:
        return [place.number for place in self._places]

    @cached_property
    def _position(self) -> dict[int, int]:
        return {number: position for position, number in enumerate(self._ordered)}

    def _trials(self, problem: int, edge: int, limit: int, forwards: bool) -> list[int]:
        direction = (">", "ASC") if forwards else ("<", "DESC")
        query = _OF_PROBLEM.format(direction[0], self._choice.where(), direction[1])
        place = self._scorer, self._run.number, problem, edge, limit
        return [trial for (trial,) in self._rows.each(query, *place)]

    # -- rows ------------------------------------------------------------------------------

    def row(self, place: TrialId, characters: int) -> TrialRow:
        """Return a trial with its scores; of its completion only the beginning, unchecked.

        A page of trials costs no more where each of them is ten megabytes long.
        """
        for row in self._rows.rows("trial", _PLACE, self._run.number, *place):
            (_, problem, trial, status, prompt, completion, latency, attempts, seed, request, body,
             cost, reason, source, finish_reason, reasoned, cached) = row  # fmt: skip
            found = TrialRow(
                problem, trial, self._rows.status(status), self._beginning(body, characters), None,
                prompt, completion, latency, attempts, seed, request, [], None, cost, reason,
                source, finish_reason, reasoned, cached,
            )  # fmt: skip
            for scorer in self._run.scorers:
                where = "scorer=? AND problem=? AND trial=?"
                scores = scores_of(self._rows, where, scorer.number, problem, trial)
                found.scores += [score for _, _, score in scores]
            return found
        raise self._rows.corrupt(f"a trial is lost: {self._rows.place(self._run.number, *place)}")

    def _beginning(self, body: int | None, characters: int) -> str | None:
        query = "SELECT codec, substr(text, 1, ?) FROM body WHERE id=?"
        for codec, data in self._rows.each(query, 4 * characters, body):
            if data is None:
                return None
            try:
                raw = zlib.decompressobj().decompress(data, 4 * characters) if codec else data
            except zlib.error as error:
                raise self._rows.corrupt(f"a completion cannot be read: {error}") from error
            return str(raw.decode("utf-8", "replace"))[:characters]
        return None
