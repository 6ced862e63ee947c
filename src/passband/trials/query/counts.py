"""Count a run's trials, complete rounds and costs, and build its outcomes, from its tallies.

Scores themselves are read only where they are graded.

Costs are added up in whole units of 1e-12. A token at a price of up to six decimals per million is
a whole number of them, so a sum depends neither on the order of the trials nor on merging.

A run that stops by the width of its interval is measured on complete rounds: one trial of every
problem in each. The trials of a round that was cut short are those that came back first, and would
bias the estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.packing import STATUS
from passband.trials.file.tally_columns import ScoreTallies, TrialTallies
from passband.trials.rows import FAILED, SCORE_STATUSES, STATUSES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from passband.stats.data import GradedScores, Outcomes
    from passband.types import Floats, Ints

_UNITS = 10**12
_TAKEN = {
    "cost": "cost",
    "tokens": "prompt_tokens + completion_tokens",
    "latency": "latency_ms / 1000.0",
}
_FAILED = ",".join(str(STATUS[status]) for status in FAILED)


@dataclass(frozen=True)
class Costs:
    """How many trials have a cost, and the tokens of those without."""

    priced: int
    unpriced: int  #: answers without a cost; failed trials are not among them
    prompt_tokens: int  #: of trials without a cost
    completion_tokens: int


def total_cost(costs: Iterable[float]) -> float:
    """Return the sum of costs, the same in whatever order.

    >>> total_cost([0.1, 0.2, 0.3]), sum([0.1, 0.2, 0.3])
    (0.6, 0.6000000000000001)
    """
    return sum(round(cost * _UNITS) for cost in costs) / _UNITS


def read_costs(rows: CheckedRows, run: int) -> Costs:
    """Count the trials of a run with and without a cost; reads all of its rows."""
    query = (
        f"SELECT count(cost), total(cost IS NULL AND status NOT IN ({_FAILED})), "
        "total(prompt_tokens) - total(prompt_tokens * (cost IS NOT NULL)), "
        "total(completion_tokens) - total(completion_tokens * (cost IS NOT NULL)) "
        "FROM trial WHERE run=?"
    )
    ((priced, unpriced, prompt, completion),) = rows.each(query, run)
    return Costs(priced, int(unpriced), int(prompt), int(completion))


def read_taken(rows: CheckedRows, run: int, column: str) -> Iterator[tuple[int, int, float | None]]:
    """Yield problem, trial and what it took; failed trials only where they state it."""
    value = _TAKEN[column]
    query = (
        f"SELECT problem, trial, {value} FROM trial WHERE run=? "
        f"AND ({value} NOT NULL OR status NOT IN ({_FAILED})) ORDER BY problem, trial"
    )
    yield from rows.each(query, run)


class ProblemRef(NamedTuple):
    """A problem's number, key and cluster, and where the data have it."""

    number: int
    key: str
    cluster: str | None
    position: int


@dataclass(frozen=True)
class Counts:
    """The tallies of runs and scorers, each read when it is first needed."""

    rows: CheckedRows
    _trials: dict[int, TrialTallies] = field(default_factory=dict)
    _scores: dict[int, ScoreTallies] = field(default_factory=dict)

    def trial_tallies(self, run: int) -> TrialTallies:
        """Return those of a run."""
        if run not in self._trials:
            self._trials[run] = TrialTallies.read(self.rows, run)
        return self._trials[run]

    def score_tallies(self, scorer: int) -> ScoreTallies:
        """Return those of a scorer."""
        if scorer not in self._scores:
            self._scores[scorer] = ScoreTallies.read(self.rows, scorer)
        return self._scores[scorer]

    def outcomes(
        self, run: int, scorer: int, places: Sequence[ProblemRef], planned: int | None = None
    ) -> Outcomes:
        """Return scores by problem, in this order, and why some trials have none.

        Where it is known how many trials of each problem were `planned`, the others are missing.
        """
        import numpy as np

        from passband.stats.data import MISSING, Outcomes

        index = {place.number: position for position, place in enumerate(places)}
        trials, scores = self.trial_tallies(run), self.score_tallies(scorer)
        by_trial = _Adder(self._positions(run, trials.problems, index), len(places))
        by_score = _Adder(self._positions(run, scores.problems, index), len(places))
        unscored = self._unscored(trials, scores, by_trial, by_score)
        if planned is not None:
            recorded = by_trial.whole(trials.trials)
            unscored[MISSING] = np.maximum(0, planned - recorded)
        odd = any(scores.odd)
        totals = by_score.added(scores.totals)
        groups = [place.cluster for place in places]
        outcomes = Outcomes.from_counts(
            np.zeros(len(places), np.int64) if odd else totals.astype(np.int64),
            by_score.whole(scores.valued),
            problems=[place.key for place in places],
            clusters=None if None in groups else groups,
            unscored=dict(sorted(unscored.items())),
        )
        if not odd:
            return outcomes
        graded = self._graded(scorer, [place.number for place in places], outcomes.trials)
        return replace(outcomes, successes=None, graded=graded)

    def _unscored(
        self, trials: TrialTallies, scores: ScoreTallies, by_trial: _Adder, by_score: _Adder
    ) -> dict[str, Ints]:
        """Return, by reason, how many trials of each problem have no score with a value."""
        import numpy as np

        found: dict[str, Ints] = {}
        valueless = np.array(scores.scores, np.int64) - np.array(scores.valued, np.int64)
        kinds = list(zip(scores.trial_statuses, scores.statuses, strict=True))
        for kind in sorted(set(kinds)):
            counts = by_score.whole(valueless, [each == kind for each in kinds])
            _put(found, unscored_reason(*kind), counts)
        for status in sorted({*trials.statuses, *scores.trial_statuses}):
            there = by_trial.whole(trials.trials, [each == status for each in trials.statuses])
            chosen = [each == status for each in scores.trial_statuses]
            _put(
                found, unscored_reason(status, None), there - by_score.whole(scores.scores, chosen)
            )
        if any((counts < 0).any() for counts in found.values()):
            raise self.rows.corrupt("there are more scores than trials")
        return found

    def _positions(self, run: int, problems: Sequence[int], index: Mapping[int, int]) -> list[int]:
        """Return the places of problems in the order of the data."""
        try:
            return [index[problem] for problem in problems]
        except KeyError as error:
            place = self.rows.place(run, error.args[0])
            raise self.rows.corrupt(f"a problem is lost: {place}") from None

    def _graded(self, scorer: int, numbers: Sequence[int], trials: Ints) -> GradedScores:
        """Return scores that are not all 0 or 1; each problem has as many as `trials` says."""
        import numpy as np

        from passband.stats.data import GradedScores

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


class _Adder:
    """Adds numbers up by position."""

    def __init__(self, positions: Sequence[int], count: int) -> None:
        import numpy as np

        self._positions, self._count = np.array(positions, dtype=np.int64), count

    def added(self, values: ArrayLike, chosen: ArrayLike | None = None) -> Floats:
        """Return the sum at each position, of those values that are chosen."""
        import numpy as np

        numbers, positions = np.asarray(values, dtype=np.float64), self._positions
        if chosen is not None:
            is_chosen = np.asarray(chosen, dtype=bool)
            numbers, positions = numbers[is_chosen], positions[is_chosen]
        sums: Floats = np.bincount(positions, weights=numbers, minlength=self._count).astype(float)
        return sums

    def whole(self, values: ArrayLike, chosen: ArrayLike | None = None) -> Ints:
        """Return sums of whole numbers."""
        return self.added(values, chosen).astype("int64")


def _put(found: dict[str, Ints], reason: str, counts: Ints) -> None:
    """Add counts to those of a reason, unless there are none."""
    if counts.any():
        found[reason] = found[reason] + counts if reason in found else counts


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


def count_complete_rounds(recorded: Iterable[int]) -> int:
    """Return how many first trials all problems have; each has a number whose bits are its trials.

    >>> count_complete_rounds([0b111, 0b1011]), count_complete_rounds([])
    (2, 0)
    """
    return min((((mask + 1) & ~mask).bit_length() - 1 for mask in recorded), default=0)


def outcomes_of_rounds(
    counts: Counts, run: int, scorer: int, places: Sequence[ProblemRef], rounds: int
) -> Outcomes:
    """Return the outcomes of a run's first rounds, as `Counts.outcomes` returns those of all."""
    from passband.stats.data import Outcomes

    tallies = counts.trial_tallies(run)
    statuses = {
        (problem, trial): status
        for problem, status, places in zip(
            tallies.problems, tallies.statuses, tallies.places, strict=True
        )
        for trial in range(rounds)
        if int.from_bytes(places, "little") >> trial & 1
    }
    reasons = {place: unscored_reason(status, None) for place, status in statuses.items()}
    scores: dict[int, list[float]] = {place.number: [] for place in places}
    for row in counts.rows.rows("score", "scorer=?", scorer, order="problem, trial"):
        problem, trial, value, status = row[1:5]
        if (problem, trial) not in statuses:
            continue
        if value is None:
            reasons[problem, trial] = unscored_reason(statuses[problem, trial], status)
        else:
            scores[problem].append(value)
            del reasons[problem, trial]
    rows = [scores[place.number] for place in places]
    keys = [place.key for place in places]
    clusters = [place.cluster for place in places if place.cluster is not None]
    groups = clusters if len(clusters) == len(places) else None
    if any(rows):
        outcomes = Outcomes.from_array(rows, problems=keys, clusters=groups)
    else:
        outcomes = Outcomes.from_counts([0] * len(rows), 0, problems=keys, clusters=groups)
    return replace(outcomes, unscored=_by_reason(reasons, [place.number for place in places]))


def _by_reason(reasons: Mapping[tuple[int, int], str], problems: Sequence[int]) -> dict[str, Ints]:
    """Return, for every reason, of how many trials of each problem it is the reason."""
    import numpy as np

    index = {number: position for position, number in enumerate(problems)}
    result: dict[str, Ints] = {
        name: np.zeros(len(problems), dtype=np.int64) for name in sorted(set(reasons.values()))
    }
    for (problem, _), name in reasons.items():
        result[name][index[problem]] += 1
    return result
