"""Whole runs by seed, under faults of the server, the disk, the clock and the process."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from passband.run import prepare
from passband.run.loop.attempts import Attempts, PendingBatch
from passband.run.loop.grader import Grader
from passband.run.loop.loop import Runner
from passband.run.loop.queue import Queue
from passband.run.loop.recorder import Recorder
from passband.run.schedule.blocks import Block
from passband.run.settings import Patience
from passband.run.task_run import TaskRun
from passband.stats import sequential
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from simulation.clock import Clock
from simulation.disk import WAYS
from simulation.event_loop import SimulatedLoop, Stuck, pause
from simulation.invariants import Broken
from simulation.scenario import Scenario, Session
from simulation.simulate import Simulation, simulate, simulate_scenario

SEEDS = 100
GROUP = 25  # seeds of one test

SMALL = Scenario(
    seed=0, front="provider", tasks=("sums",), concurrency=2, batch=1, habit="takes n",
    latency=0.1, timeout=60.0, patience=Patience(), has_too_long=False, has_slow_scorer=True,
    is_costly=False, half_width=None, is_adaptive=False, sessions=(Session(("p00", "p01"), 2),),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, GROUP))
def test_what_must_hold_holds(first: int) -> None:
    for seed in range(first, first + GROUP):
        try:
            simulate(seed)
        except Exception as error:
            replay = f"make soak FIRST={seed} SEEDS=1"
            raise AssertionError(f"seed {seed} failed; replay it with {replay}") from error


@pytest.mark.slow
def test_every_statement_may_fail() -> None:
    """Each statement of a small run fails, or is the last one: each in one way, in turn."""
    for statement in range(1, count_statements() + 1):
        way = WAYS[statement % len(WAYS)]
        session = replace(SMALL.sessions[0], stop="statement", at=float(statement), way=way)
        simulate_scenario(replace(SMALL, sessions=(session,)))


def count_statements() -> int:
    """Return how many statements the store runs when nothing fails."""
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation(SMALL, Path(folder))
        with simulation.clock.in_place("statements"):
            assert simulation.play(SMALL.sessions[0]) == "finished"
    assert simulation.disk.statements > 60
    return simulation.disk.statements


def test_a_seed_always_leads_to_the_same() -> None:
    assert simulate(1) == simulate(1)


# -- bugs that were found, and the seeds that found them -------------------------------------------


def put_back_without_attempts(
    self: Queue, run: TaskRun, batch: PendingBatch, trials: Sequence[int]
) -> None:
    blocks = [Block(batch.problem, range(t, t + 1), batch.reason) for t in trials]
    self._next.extendleft((run, self._made(run, block)) for block in reversed(blocks))


async def record_and_wait_for_another_commit(
    self: Runner, run: TaskRun, rows: list[TrialRow], batch: PendingBatch
) -> None:
    is_doubtful = self._first_scores.is_doubtful
    saved = self.recorder.add(run, rows, batch.scores, at_once=True)
    if getattr(run.subject, "is_costly", False):
        await saved.wait()
    if is_doubtful:
        await self._news.wait()


FOUND = {
    # A resumed run counted attempts of an earlier process that a rate limit had turned away.
    "limits of earlier processes": (59, (prepare, "TURNED_AWAY", ()), "attempts"),
    # After n was refused, the first single request began its count anew: its failures had the
    # number of the refusal, and so were not recorded.
    "attempts after n was refused": (
        67,
        (Queue, "put_back", put_back_without_attempts),
        "attempts",
    ),
    # A run until a width ended with an error, for good, where a round had no score at all.
    "rounds without a score": (
        50388,
        (sequential, "can_look", lambda *each: True),
        "NotEnoughData",
    ),
    # After waiting for the commit of a costly trial, the last worker waited for the one after it.
    "a commit that was past": (
        531,
        (Runner, "_record", record_and_wait_for_another_commit),
        "and no end",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_bug_that_was_found_stays_found(name: str) -> None:
    seed, bug, words = FOUND[name]
    simulate(seed)
    with patch.object(*bug), pytest.raises((Broken, Stuck), match=words):
        simulate(seed)


# -- the checks themselves ------------------------------------------------------------------------


def forgetful(append: Any) -> Any:
    """A store that acknowledges one trial more than it records."""

    def appending(self: Store, run: int, trials: Sequence[TrialRow], **options: Any) -> None:
        append(self, run, trials[1:] if trials[0].trial == 1 else trials, **options)

    return appending


def careless(add: Any) -> Any:
    """A recorder that drops an answer."""

    def adding(self: Recorder, run: TaskRun, rows: Sequence[TrialRow], *rest: Any, **o: Any) -> Any:
        return add(self, run, [row for row in rows if row.trial != 1], *rest, **o)

    return adding


def confused(answered: Any) -> Any:
    """A batch that gives the second trial the text of another."""

    def answering(self: PendingBatch, *arguments: Any) -> list[TrialRow]:
        rows: list[TrialRow] = answered(self, *arguments)
        return [replace(row, text=row.text and row.text[:-1]) for row in rows]

    return answering


def generous(grade_all: Any) -> Any:
    """A grader that gives everything full marks."""

    def grading(self: Grader, rows: Sequence[TrialRow]) -> None:
        grade_all(self, rows)
        for row in rows:
            row.scores = [score._replace(value=2.0) for score in row.scores]

    return grading


def impatient(pause: Any) -> Any:
    """A client that asks twice."""

    async def asking(self: Attempts, subject: Any, batch: PendingBatch, note: Any) -> Any:
        await subject.answer(batch.asked, batch.sampling, batch.seeds, batch.trials)
        return await pause(self, subject, batch, note)

    return asking


@pytest.mark.parametrize(
    ("sabotaged", "name", "sabotage", "words"),
    [
        (Store, "append", forgetful, "acknowledged and is lost"),
        (Recorder, "add", careless, "answered, and not recorded"),
        (PendingBatch, "answered", confused, "is not what the server sent"),
        (Grader, "grade_all", generous, "another score"),
        (Attempts, "ask", impatient, "answered twice in one session"),
    ],
)
def test_the_checks_notice(sabotaged: Any, name: str, sabotage: Any, words: str) -> None:
    planted = patch.object(sabotaged, name, sabotage(getattr(sabotaged, name)))
    with planted, pytest.raises(Broken, match=words):
        simulate_scenario(replace(SMALL, has_slow_scorer=False))


def test_waiting_for_nothing_is_noticed() -> None:
    loop = SimulatedLoop(Clock(), lambda: None, lambda: 0.0)
    with pytest.raises(Stuck):
        loop.complete(asyncio.Event().wait())


def test_an_hour_takes_no_time() -> None:
    clock = Clock()
    loop = SimulatedLoop(clock, lambda: None, lambda: 0.0)
    began = clock.now
    loop.complete(pause(3600.0))
    assert clock.now == pytest.approx(began + 3600.0)


def test_real_time_is_back_afterwards() -> None:
    clocks = time.monotonic, time.time, random.getstate()
    simulate(2)
    assert clocks == (time.monotonic, time.time, random.getstate())
