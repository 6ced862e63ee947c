"""Schedules: every problem n times, and one that looks at what was answered."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from passband.generate.provider import Backend, Completion, Crashed, Provider, Request
from passband.generate.registry import Connection
from passband.run.loop import recorder
from passband.run.loop.loop import StuckSchedule
from passband.run.loop.queue import Queue
from passband.run.schedule.blocks import Block
from passband.run.schedule.schedule import EveryProblem, Schedule
from passband.run.session import RunResult
from passband.run.settings import Settings
from passband.run.task_run import TaskRun
from passband.trials.rows import TrialRow
from support.runs.runs import HURRIED, Bench, number_scorer, run_watched, sums

ENOUGH, MOST = 2, 6


class UntilTwoRight:
    """Asks each problem again until two answers are right, at most six times."""

    def __init__(self, run: TaskRun, size: int, rows: Iterable[TrialRow]) -> None:
        count = len(run.problems)
        self.right, self.seen = [0] * count, [0] * count
        self.asked = [0] * count
        self.calls: list[list[tuple[int, int]]] = []
        run.counters.planned = MOST * count
        self.committed(list(rows))
        self.asked = list(self.seen)

    def _wants_more(self, problem: int) -> bool:
        return self.right[problem] < ENOUGH and self.seen[problem] < MOST

    def next(self) -> Block | None:
        for problem, asked in enumerate(self.asked):
            if asked == self.seen[problem] and self._wants_more(problem):
                self.asked[problem] += 1
                reason = f"{self.right[problem]} of {asked} right"
                return Block(problem, range(asked, asked + 1), reason)
        return None

    @property
    def is_finished(self) -> bool:
        return not any(map(self._wants_more, range(len(self.seen))))

    def committed(self, rows: Sequence[TrialRow]) -> None:
        self.calls.append([(row.problem, row.trial) for row in rows])
        for row in rows:
            self.seen[row.problem] += 1
            self.right[row.problem] += any(score.value == 1 for score in row.scores)


class Scripted(Provider):
    """A model whose answers depend on the problem and on how often it was asked."""

    batch = 1
    name = "scripted"

    def __init__(self, rights: Sequence[str], stop_after: int | None = None) -> None:
        self.rights = rights  # by problem: r is right, w wrong, x a failure
        self.stop_after = stop_after
        self.seeds: list[int] = []
        self.places: dict[int, tuple[int, int]] = {}

    async def generate(self, request: Request) -> list[Completion]:
        if self.stop_after is not None and len(self.seeds) >= self.stop_after:
            raise KeyError("stopped here")
        await asyncio.sleep(0)
        problem = int(request.messages[-1].content.split()[2]) - 17
        (seed,) = request.seeds
        assert seed is not None
        self.seeds.append(seed)
        kind = self.rights[problem][self._trial(problem, seed)]
        if kind == "x":
            raise Crashed("no answer")
        return [Completion(f"It is {42 + 2 * problem + (kind == 'w')}", seed=seed)]

    def _trial(self, problem: int, seed: int) -> int:
        from passband.run.schedule.blocks import trial_seed

        return next(t for t in range(MOST) if trial_seed("s", "sums", f"p{problem}", t) == seed)

    async def close(self) -> None:
        pass


def run(bench: Bench, model: Any, schedule: Any = UntilTwoRight, task: Any = None) -> RunResult:
    return run_watched(
        bench.notes,
        [task or sums(len(model.rights))],
        model,
        bench.directory,
        settings=Settings(patience=HURRIED, seed="s", concurrency=8),
        connection=Connection(),
        schedule=schedule,
        low_water=0,
    )


RIGHTS = ["rr....", "rwr...", "wwwwww", "wwrwr.", "xrxr..", "wwwwwr"]
ASKED = [2, 3, 6, 5, 4, 6]


def trials_of(bench: Bench) -> list[int]:
    keys = bench.keys
    assert len(keys) == len(set(keys))
    return [sum(problem == at for problem, _ in keys) for at in range(len(RIGHTS))]


@pytest.mark.parametrize("slow", [False, True])
def test_an_adaptive_schedule_asks_what_it_needs_and_no_more(bench: Bench, slow: bool) -> None:
    scorer: Any = number_scorer()
    scorer.slow = slow  # scores come with the row, or in a commit of their own
    finished = run(bench, Scripted(RIGHTS), task=sums(len(RIGHTS), scorers=[scorer]))
    assert finished.ending == "finished"
    assert trials_of(bench) == ASKED
    counters = finished.task_runs[0].counters
    assert counters.done == counters.planned == sum(ASKED)


@pytest.mark.parametrize("stop_after", [1, 4, 9, 17])
def test_a_resumed_schedule_goes_on_where_it_stopped(
    bench: Bench, another: Bench, stop_after: int
) -> None:
    stopped = Scripted(RIGHTS, stop_after)
    with pytest.raises(KeyError):
        run(bench, stopped)
    again = Scripted(RIGHTS)
    run(bench, again)
    run(another, Scripted(RIGHTS))
    assert trials_of(bench) == ASKED
    assert bench.content == another.content
    assert run(bench, last := Scripted(RIGHTS)).ending == "finished"
    assert last.seeds == []
    assert any("nothing to ask" in note for note in bench.notes.notes)


def test_a_schedule_sees_a_row_once_it_is_on_disk_and_only_once(bench: Bench) -> None:
    made: list[UntilTwoRight] = []
    early: list[tuple[int, int]] = []

    class Looking(UntilTwoRight):
        def committed(self, rows: Sequence[TrialRow]) -> None:
            if made:
                keys = set(bench.keys)
                early.extend(
                    (row.problem, row.trial) for row in rows if (row.problem, row.trial) not in keys
                )
            super().committed(rows)

    def schedule(*arguments: Any) -> Schedule:
        made.append(Looking(*arguments))
        return made[-1]

    run(bench, Scripted(RIGHTS), schedule)
    seen = [key for call in made[0].calls for key in call]
    assert early == []
    assert sorted(seen) == sorted(set(seen)) == bench.keys


def test_a_schedule_that_waits_for_nothing_is_an_error_and_no_hang(bench: Bench) -> None:
    class Stuck(UntilTwoRight):
        is_finished = False

    with pytest.raises(StuckSchedule, match="sums: the schedule has no next block"):
        run(bench, Scripted(["rr...."]), Stuck)
    assert bench.keys == [(0, 0), (0, 1)]  # what was answered is recorded


def test_a_schedule_that_breaks_stops_the_run(bench: Bench) -> None:
    class Broken(UntilTwoRight):
        def committed(self, rows: Sequence[TrialRow]) -> None:
            if rows:
                raise ZeroDivisionError
            super().committed(rows)

    with pytest.raises(ZeroDivisionError):
        run(bench, Scripted(["rr...."] * 3), Broken)
    assert len(bench.keys) == 3


def test_a_schedule_can_be_interrupted_while_it_waits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_EVERY", 0.2)

    class Once(Scripted):
        async def generate(self, request: Request) -> list[Completion]:
            if not self.seeds:
                asyncio.get_running_loop().call_later(0.01, bench.notes.runner.interrupt)
            return await super().generate(request)

    assert run(bench, Once(RIGHTS)).ending == "interrupted"
    run(bench, Scripted(RIGHTS))
    assert trials_of(bench) == ASKED


def test_a_reason_goes_with_the_trial_also_when_it_is_put_back() -> None:
    class Two(Backend):
        batch = 2

    class One:
        is_finished = False

        def next(self) -> Block | None:
            done, self.is_finished = self.is_finished, True
            return None if done else Block(0, range(2), "hard")

        def committed(self, rows: Sequence[TrialRow]) -> None:
            pass

    task_run: Any = TaskRun(
        sums(1), Two(), 1, sums(1).load(None), sums().sampling, "s", 2, None, None  # type: ignore[arg-type]
    )  # fmt: skip
    queue = Queue([(task_run, One())])
    _, batch = queue.take() or (None, None)
    assert batch is not None
    assert [row.reason for row in batch.failed("invalid")] == ["hard", "hard"]
    assert [row.reason for row in batch.answered([Completion("x")], 1)] == ["hard"]
    queue.put_back(task_run, batch, batch.trials)
    _, single = queue.take() or (None, None)
    assert single is not None
    assert (list(single.trials), single.reason) == ([0], "hard")


def test_every_problem_knows_its_end_without_being_asked() -> None:
    assert EveryProblem(range(2), 1, {0: 1, 1: 1}, 4).is_finished
    schedule = EveryProblem(range(1), 2, {}, 4)
    assert not schedule.is_finished
    assert schedule.next() == Block(0, range(2))
    assert schedule.is_finished
    assert schedule.next() is None
