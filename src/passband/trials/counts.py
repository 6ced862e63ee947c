"""Counts and outcomes of a run, from its tallies; scores are read only where they are graded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from passband.trials.checked import CheckedRows
from passband.trials.rows import SCORE_STATUSES, STATUSES
from passband.trials.tallies import ScoreTally, TrialTally

if TYPE_CHECKING:
    from passband.stats.data.graded import GradedScores
    from passband.stats.data.outcomes import Outcomes
    from passband.types import Ints

__all__ = ["Counts", "Place", "stretches", "unscored_reason"]


class Place(NamedTuple):
    """A problem's number, key and cluster."""

    number: int
    key: str
    cluster: str | None


_TrialTallies = list[tuple[int, int, TrialTally]]  # with problem and status
_ScoreTallies = list[tuple[int, int, int, ScoreTally]]  # with problem, trial's status, status


@dataclass(frozen=True)
class Counts:
    """The tallies of runs and scorers, each read when it is first needed."""

    rows: CheckedRows
    _trials: dict[int, _TrialTallies] = field(default_factory=dict)
    _scores: dict[int, _ScoreTallies] = field(default_factory=dict)

    def trial_tallies(self, run: int) -> _TrialTallies:
        """Return (problem, status, tally) of a run."""
        if run not in self._trials:
            rows = self.rows.rows("trial_tally", "run=?", run)
            tallies = [(row[1], row[2], TrialTally.of_row(row)) for row in rows]
            self.rows.require("trial", run, sum(tally.trials for *_, tally in tallies))
            self._trials[run] = tallies
        return self._trials[run]

    def score_tallies(self, scorer: int) -> _ScoreTallies:
        """Return (problem, status of the trial, status, tally) of a scorer."""
        if scorer not in self._scores:
            rows = self.rows.rows("score_tally", "scorer=?", scorer)
            tallies = [(row[1], row[2], row[3], ScoreTally.of_row(row)) for row in rows]
            self.rows.require("score", scorer, sum(tally.scores for *_, tally in tallies))
            self._scores[scorer] = tallies
        return self._scores[scorer]

    def outcomes(
        self, run: int, scorer: int, places: Sequence[Place], planned: int | None = None
    ) -> Outcomes:
        """Return scores by problem, in this order, and why some trials have none.

        Where it is known how many trials of each problem were `planned`, the others are missing.
        """
        from passband.stats.data.outcomes import MISSING, Outcomes

        index = {place.number: position for position, place in enumerate(places)}
        scored, totals, odd = [0] * len(places), [0.0] * len(places), 0
        unscored: dict[str, list[int]] = defaultdict(lambda: [0] * len(places))
        uncounted: dict[tuple[int, int], int] = {}
        for problem, status, tally in self.trial_tallies(run):
            self._require_known(run, problem, index)
            uncounted[problem, status] = tally.trials
        for problem, trial_status, status, sums in self.score_tallies(scorer):
            self._require_known(run, problem, index)
            scored[index[problem]] += sums.valued
            totals[index[problem]] += sums.total
            odd += sums.odd
            if sums.scores > sums.valued:
                unscored[unscored_reason(trial_status, status)][index[problem]] += (
                    sums.scores - sums.valued
                )
            uncounted[problem, trial_status] = (
                uncounted.get((problem, trial_status), 0) - sums.scores
            )
        for (problem, status), count in uncounted.items():
            if count:
                unscored[unscored_reason(status, None)][index[problem]] += count
        if any(count < 0 for counts in unscored.values() for count in counts):
            raise self.rows.corrupt("there are more scores than trials")
        if planned is not None:
            recorded = self._recorded(run, index)
            unscored[MISSING] = [max(0, planned - count) for count in recorded]
        groups = [place.cluster for place in places]
        outcomes = Outcomes.from_counts(
            [0 if odd else int(total) for total in totals],
            scored,
            problems=[place.key for place in places],
            clusters=None if None in groups else groups,
            unscored=dict(sorted(unscored.items())),
        )
        if not odd:
            return outcomes
        graded = self._graded(scorer, [place.number for place in places], outcomes.trials)
        return replace(outcomes, successes=None, graded=graded)

    def _recorded(self, run: int, index: dict[int, int]) -> list[int]:
        """Return how many trials of each problem are recorded."""
        counts = [0] * len(index)
        for problem, _, tally in self.trial_tallies(run):
            counts[index[problem]] += tally.trials
        return counts

    def _require_known(self, run: int, problem: int, index: dict[int, int]) -> None:
        if problem not in index:
            raise self.rows.corrupt(f"a problem is lost: {self.rows.place(run, problem)}")

    def _graded(self, scorer: int, numbers: Sequence[int], trials: Ints) -> GradedScores:
        """Return scores that are not all 0 or 1; each problem has as many as `trials` says."""
        import numpy as np

        from passband.stats.data.graded import GradedScores

        values: list[float] = []
        seen = 0
        for low, high in stretches(numbers):
            where = "scorer=? AND problem BETWEEN ? AND ?"
            for row in self.rows.rows("score", where, scorer, low, high, order="problem, trial"):
                seen += 1
                if row[3] is not None:
                    values.append(row[3])
        self.rows.require("score", scorer, seen)
        if len(values) != trials.sum():
            raise self.rows.corrupt("the scores are not as many as their tallies say")
        offsets = np.concatenate([[0], np.cumsum(trials)])
        return GradedScores(np.array(values, dtype=np.float64), offsets)


def stretches(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of stretches that are in order, and between which there is no other.

    Problems are stored by number and wanted by position. Mostly those agree, and all is one
    stretch; where the data grew at the front there are two.

    >>> list(stretches([3, 4, 0, 1, 2]))
    [(3, 4), (0, 2)]
    """
    following = dict(zip(ordered := sorted(numbers), ordered[1:], strict=False))
    first = last = None
    for number in numbers:
        if first is not None and last is not None and following.get(last) != number:
            yield first, last
            first = None
        first = number if first is None else first
        last = number
    if first is not None and last is not None:
        yield first, last


def unscored_reason(status: int, scored: int | None) -> str:
    """Return in a word why a trial has no score."""
    if STATUSES[status] != "ok" or scored is None:
        return "unscored" if STATUSES[status] == "ok" else STATUSES[status]
    return f"scorer_{SCORE_STATUSES[scored]}"
