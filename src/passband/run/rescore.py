"""Scores for trials that are recorded already: after a crash, or by another scorer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from passband.run.grade import Grader
from passband.run.part import Part
from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow, TrialRow
from passband.trials.store import Store

__all__ = ["catch_up", "score_recorded"]

_CHUNK = 500  # trials between two commits


async def catch_up(store: Store, part: Part, is_stopping: Callable[[], bool]) -> None:
    """Score what an earlier process recorded and this run's scorers have not seen."""

    def note(problem: int, score: ScoreRow) -> None:
        if problem < len(part.problems):
            part.tally.scored(problem, score)

    loop = asyncio.get_running_loop()
    await loop.run_in_executor(
        None, score_recorded, store, part.task.name, part.grader, is_stopping, note
    )


def score_recorded(
    store: Store,
    task: str,
    grader: Grader,
    is_stopping: Callable[[], bool] = lambda: False,
    note: Callable[[int, ScoreRow], None] = lambda problem, score: None,
) -> int:
    """Score recorded trials that lack a score, and return how many scores were added."""
    added = 0
    with Trials(store.directory) as trials, ThreadPoolExecutor(4) as threads:
        run = trials.run(task)
        for number, scorer in grader.scorers:
            one = Grader([(number, scorer)], grader.references, grader.truncated)
            rows = (
                row
                for row in trials.trials(run, unscored_by=number)
                if row.status in one.scored_statuses and row.problem < len(one.references)
            )
            while (chunk := list(islice(rows, _CHUNK))) and not is_stopping():
                found = threads.map(one.grade, chunk) if scorer.slow else map(one.grade, chunk)
                added += _commit(store, chunk, list(found), note)
    return added


def _commit(
    store: Store,
    rows: Sequence[TrialRow],
    scores: Sequence[list[ScoreRow]],
    note: Callable[[int, ScoreRow], None],
) -> int:
    new = [
        (row.problem, row.trial, score)
        for row, made in zip(rows, scores, strict=True)
        for score in made
    ]
    store.add_scores(new)
    for problem, _, score in new:
        note(problem, score)
    return len(new)
