"""Measure how often a program gets another verdict under another hash seed.

A first verdict counts, whatever the second says. The second ones are stored beside them, and how
far they differ is part of the interval (`passband.stats.interval.flips`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from passband.run.loop.grader import Grader, identity_of, score_row, slow_threads
from passband.run.rescore.cluster import RemoteScoring
from passband.score import (
    Reference,
    Score,
    Scorer,
    TrialRef,
    again_entry,
    chosen_again,
    chosen_timeouts,
    hash_seed,
    outcome_in,
)
from passband.trials import ScoreRow, Store, TrialFilter, Trials

_EACH = 16  # programs for which another interpreter of their hash seed is worth starting
_LONGER = 2.0  # times the limits, for a program that ran out of them
Second = tuple[TrialRef, ScoreRow]
Program = tuple[str | None, Reference]


def recheck(
    store: Store,
    run: int,
    grader: Grader,
    problems: Sequence[int],
    remote: RemoteScoring | None = None,
) -> int:
    """Give some verdicts of every scorer of programs again; return how many.

    `problems` are their numbers in the store, in the order of the grader's references. With
    `remote`, they are given on the nodes of a cluster.
    """
    positions = {number: position for position, number in enumerate(problems)}
    count = 0
    for number, scorer in grader.scorers:
        if scorer.runs_tests:
            entry = again_entry(scorer.name, identity_of(scorer, grader.truncated))
            again = store.put_scorer(run, entry)
            rechecking = _Rechecking(
                store, run, number, again, scorer, grader.references, positions, remote
            )
            count += rechecking.run_all()
            scorer.close()
    return count


class _Rechecking:
    """The verdicts of one scorer, and those to be given again."""

    def __init__(
        self,
        store: Store,
        run: int,
        number: int,
        again: int,
        scorer: Scorer,
        references: Sequence[Reference] | Mapping[int, Reference],
        positions: Mapping[int, int],
        remote: RemoteScoring | None,
    ) -> None:
        self._store, self._run_number, self._number, self._again = store, run, number, again
        self._scorer, self._references, self._positions = scorer, references, positions
        self._remote = remote

    def run_all(self) -> int:
        """Run chosen programs again, and more of them where a verdict changes.

        Those that timed out come last and one by one, with twice the time.
        """
        with Trials(self._store.directory, trusted=True) as trials:
            self._open(trials)
            count = self._run(chosen_again(self._ended, self._seed), 1.0)
            if self._has_changes:
                count += self._run(chosen_again(self._ended, self._seed, more=True), 1.0)
            return count + self._run(chosen_timeouts(self._late, self._seed), _LONGER)

    def _open(self, trials: Trials) -> None:
        """Read the verdicts that there are, the first ones and the second ones."""
        run = trials.run_numbered(self._run_number)
        keys = {problem.number: problem.key for problem in trials.problems(run.number)}
        self._seed, self._chosen = run.name, trials.chosen(run, TrialFilter())
        self._numbers = {key: number for number, key in keys.items()}
        self._first = {
            TrialRef(keys[problem], trial): score
            for problem, trial, score in trials.scores(self._number)
            if score.status == "ok" and problem in self._positions
        }
        self._second = {
            TrialRef(keys[problem], trial): score.value
            for problem, trial, score in trials.scores(self._again)
        }
        timed_out = {p: outcome_in(score.detail) == "timed_out" for p, score in self._first.items()}
        self._ended = [place for place, is_late in timed_out.items() if not is_late]
        self._late = [place for place, is_late in timed_out.items() if is_late]

    @property
    def _has_changes(self) -> bool:
        return any(
            place in self._first and self._first[place].value != value
            for place, value in self._second.items()
        )

    def _run(self, places: Iterable[TrialRef], times: float) -> int:
        """Give the verdicts that are missing; store and count them."""
        missing = [place for place in places if place not in self._second]
        before = len(self._second)
        for second in self._verdicts(missing, times):
            self._store.add_scores(
                (self._numbers[place.problem], place.trial, score) for place, score in second
            )
            self._second |= {place: score.value for place, score in second}
        return len(self._second) - before

    def _verdicts(self, places: Iterable[TrialRef], times: float) -> Iterator[list[Second]]:
        """Yield second verdicts, those of one hash seed after the other; longer ones alone."""
        by_seed = sorted(places, key=lambda place: (hash_seed(place, self._seed), place))
        for hashes, group in groupby(by_seed, key=lambda place: hash_seed(place, self._seed)):
            asked = list(group)
            programs = [(self._text(place), self._reference(place)) for place in asked]
            scores = self._scores(programs, hashes, times)
            yield [
                (place, score_row(self._again, _kept(score, hashes), None))
                for place, score in zip(asked, scores, strict=True)
                if score.value is not None  # or else the sandbox failed
            ]

    def _scores(self, programs: Sequence[Program], hashes: int, times: float) -> list[Score]:
        """Return the second verdicts of programs under one hash seed."""
        if self._remote is not None:
            return self._remote.verdicts_again(self._scorer, programs, hashes, times)

        def again(program: Program) -> Score:
            return self._scorer.score_again(*program, hash_seed=hashes, times=times)

        most = 1 if times > 1 else slow_threads()
        with ThreadPoolExecutor(min(most, 1 + len(programs) // _EACH)) as threads:
            return list(threads.map(again, programs))

    def _text(self, place: TrialRef) -> str | None:
        return self._chosen.trial(self._numbers[place.problem], place.trial).text

    def _reference(self, place: TrialRef) -> Reference:
        return self._references[self._positions[self._numbers[place.problem]]]


def _kept(score: Score, hashes: int) -> Score:
    return score._replace(answer=None, rule=f"hash seed {hashes}")
