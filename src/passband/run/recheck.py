"""Verdicts given again: how often a program gets another one under another hash seed.

A first verdict counts, whatever the second says. The second ones are stored beside them, and how
far they differ is part of the interval (`passband.stats.interval.flips`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from passband.run.grade import SLOW_THREADS, Grader, identity_of, score_row
from passband.score.code.again import Place, again_entry, chosen_again, hash_seed
from passband.score.code.outcome import outcome_in
from passband.score.scorer import Reference
from passband.trials.chosen import Choice, ChosenTrials
from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow
from passband.trials.store import Store

__all__ = ["recheck"]

_LONGER = 2.0  # times the limits, for a program that ran out of them
Second = tuple[int, int, ScoreRow]  # of a problem's number and a trial


def recheck(store: Store, run: int, grader: Grader, problems: Sequence[int]) -> int:
    """Give some verdicts of every scorer of programs again; return how many.

    `problems` are their numbers in the store, in the order of the grader's references.
    """
    positions = {number: position for position, number in enumerate(problems)}
    count = 0
    for number, scorer in grader.scorers:
        if hasattr(scorer, "score_again"):
            entry = again_entry(scorer.name, identity_of(scorer, grader.truncated))
            again = store.put_scorer(run, entry)
            rechecking = _Rechecking(
                store, run, number, again, scorer, grader.references, positions
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
        scorer: Any,  # with `score_again`, as that of programs has it
        references: Sequence[Reference],
        positions: Mapping[int, int],
    ) -> None:
        self._store, self._run, self._number, self._again = store, run, number, again
        self._scorer, self._references, self._positions = scorer, references, positions

    def run_all(self) -> int:
        """Run the chosen programs again, those that timed out last and one by one."""
        with Trials(self._store.directory, trusted=True) as trials:
            run = trials.run_numbered(self._run)
            keys = {p.number: p.key for p in trials.problems(self._run)}
            seed = run.name
            some, timeouts = chosen_again(self._outcomes(trials, keys), seed)
            done = {Place(keys[p], trial) for p, trial, _ in trials.scores(self._again)}
            numbers = {key: number for number, key in keys.items()}
            chosen = trials.chosen(run, Choice())
            count = 0
            for places, times in ((some, 1.0), (timeouts, _LONGER)):
                missing = [place for place in places if place not in done]
                for second in self._verdicts(chosen, missing, numbers, seed, times):
                    self._store.add_scores(second)
                    count += len(second)
        return count

    def _outcomes(self, trials: Trials, keys: Mapping[int, str]) -> dict[Place, bool]:
        """Return every trial with a verdict, and whether it timed out."""
        return {
            Place(keys[problem], trial): outcome_in(score.detail) == "timed_out"
            for problem, trial, score in trials.scores(self._number)
            if score.status == "ok" and problem in self._positions
        }

    def _verdicts(
        self,
        chosen: ChosenTrials,
        places: Iterable[Place],
        numbers: Mapping[str, int],
        seed: str,
        times: float,
    ) -> Iterator[list[Second]]:
        """Yield second verdicts, those of one hash seed after the other; longer ones alone."""
        by_seed = sorted(places, key=lambda place: (hash_seed(place, seed), place))
        with ThreadPoolExecutor(1 if times > 1 else SLOW_THREADS) as threads:
            for hashes, group in groupby(by_seed, key=lambda place: hash_seed(place, seed)):
                rows = [(p, chosen.trial(numbers[p.problem], p.trial)) for p in group]

                def again(pair: tuple[Place, object], hashes: int = hashes) -> list[Second]:
                    return self._second(pair, numbers, hashes, times)

                yield [second for made in threads.map(again, rows) for second in made]

    def _second(
        self, pair: tuple[Place, object], numbers: Mapping[str, int], hashes: int, times: float
    ) -> list[Second]:
        """Return the second verdict of a trial; none where the sandbox failed."""
        place, row = pair
        number = numbers[place.problem]
        reference = self._references[self._positions[number]]
        text = getattr(row, "text", None)
        score = self._scorer.score_again(text, reference, hash_seed=hashes, times=times)
        if score.value is None:
            return []
        kept = score_row(self._again, score._replace(answer=None, rule=f"hash seed {hashes}"), None)
        return [(number, place.trial, kept)]
