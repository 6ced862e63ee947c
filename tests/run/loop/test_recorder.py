"""Scoring on the way to the disk: requests never wait for it, and no score is lost by that."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from passband.run.loop import recorder
from passband.run.loop.grader import Grader
from passband.score import patterns
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.score.workers.worker_pool import pool
from passband.trials.rows import TrialRow
from support.runs.runs import Bench, sums
from support.samples.stores import writing
from support.servers.fault_server import FaultServer

HARD = {"function": "regex", "regex_pattern": r"answer is (.*?)\."}
REFERENCE = Reference(("42",))


class Run(SimpleNamespace):
    """What the recorder knows of a task; the key of its rows."""

    __hash__: Any = object.__hash__


@pytest.fixture(autouse=True)
def no_worker_left() -> Iterator[None]:
    yield
    pool.close()


def row(text: str) -> TrialRow:
    return TrialRow(problem=0, trial=0, status="ok", text=text)


def graded(texts: list[str], *steps: Any) -> tuple[list[TrialRow], set[int]]:
    grader = Grader([(1, make_scorer("exact_match", steps=steps))], [REFERENCE])
    run: Any = Run(quick=grader)
    rows = [row(text) for text in texts]
    return rows, asyncio.run(recorder._grade({run: rows}))


def test_ordinary_rows_are_scored_at_once() -> None:
    rows, aside = graded(["The answer is 42.", "The answer is 7.", "no"], HARD)
    assert [each.scores[0].value for each in rows] == [1.0, 0.0, 0.0]
    assert not aside


def test_rows_that_are_hard_or_long_are_left_for_later() -> None:
    rows, aside = graded(["answer is " * 2000, "The answer is 42.", "x" * 30_000], HARD)
    assert [bool(each.scores) for each in rows] == [False, True, False]
    assert aside == {id(rows[0]), id(rows[2])}


def test_other_work_gets_its_turn_while_many_rows_are_scored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorder, "_TURN", 0.0)
    turns = 0

    async def count_turns(until: asyncio.Event) -> None:
        nonlocal turns
        while not until.is_set():
            turns += 1
            await asyncio.sleep(0)

    async def both() -> None:
        over = asyncio.Event()
        grader = Grader([(1, make_scorer("exact_match"))], [REFERENCE])
        run: Any = Run(quick=grader)
        counting = asyncio.create_task(count_turns(over))
        await recorder._grade({run: [row("42") for _ in range(50 * recorder._TOGETHER)]})
        over.set()
        await counting

    asyncio.run(both())
    assert turns > 25


@pytest.mark.process
def test_scores_of_hard_rows_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every trial has its score in the end, whichever way it took."""
    monkeypatch.setattr(patterns, "MOST_NANOSECONDS", 1.0)  # nothing may run between requests
    monkeypatch.setattr(patterns, "_known", {})
    source = r"(-?[0-9]+)(?!.*[0-9])"
    step = {"function": "regex", "regex_pattern": source}
    quick = make_scorer("exact_match", steps=[step])
    quick.slow = False
    with FaultServer() as server:
        bench = Bench(tmp_path / "run")
        bench.run(server, sums(3, scorers=[quick]), n=4)
    rows = bench.rows
    assert len(rows) == 12
    for each in rows:
        assert each.text is not None
        assert each.scores[0].status == ("ok" if re.search(source, each.text) else "no_answer")
        assert each.scores[0].value is not None


def test_nobody_waits_for_scores_that_nobody_will_commit(tmp_path: Path) -> None:
    async def wait() -> None:
        with writing(tmp_path) as store:
            keeper = recorder.Recorder(store)
            keeper.start()
            assert keeper._task is not None
            keeper._task.cancel()
            await asyncio.sleep(0)
            never: Any = asyncio.Event().wait()
            keeper._slow.add(asyncio.ensure_future(never))
            waiting = asyncio.ensure_future(keeper.scored())
            for _ in range(3):
                await asyncio.sleep(0)
            assert waiting.done()

    asyncio.run(wait())
