"""Which trials are requested next."""

from types import SimpleNamespace
from typing import Any

from passband.generate.provider import Sampling
from passband.run.blocks import trial_seed
from passband.run.queue import Queue
from passband.run.schedule import every_problem
from runs import sums


class Part(SimpleNamespace):
    """As much of a task's run as the queue looks at."""

    __hash__ = object.__hash__


def task_run(name: str, problems: int, n: int, **more: Any) -> Any:
    task = sums(problems, name=name)
    fields = {"recorded": {}, "attempts": {}, "seed": "s", "sampling": Sampling()} | more
    return Part(task=task, problems=task.load(None), n=n, **fields)


def queue_of(task_runs: list[Any], batch: int) -> Queue:
    return Queue([(each, every_problem(each, batch, ())) for each in task_runs], batch)


def taken(queue: Queue) -> list[tuple[str, int, list[int]]]:
    found = []
    while (next_one := queue.take()) is not None:
        which, batch = next_one
        found.append((which.task.name, batch.problem, list(batch.trials)))
    return found


def test_task_after_task_and_trial_after_trial() -> None:
    queue = queue_of([task_run("a", 2, 3), task_run("b", 1, 1)], 2)
    assert taken(queue) == [
        ("a", 0, [0, 1]), ("a", 1, [0, 1]), ("a", 0, [2]), ("a", 1, [2]), ("b", 0, [0]),
    ]  # fmt: skip
    assert queue.take() is None
    assert queue.is_finished


def test_what_is_recorded_is_not_asked() -> None:
    queue = queue_of([task_run("a", 2, 3, recorded={0: 0b111, 1: 0b010})], 1)
    assert taken(queue) == [("a", 1, [0]), ("a", 1, [2])]


def test_what_is_put_back_is_asked_next_and_singly() -> None:
    queue = queue_of([task_run("a", 3, 4)], 4)
    first = queue.take()
    assert first is not None
    queue.ask_one_by_one()
    queue.put_back(*first, [2, 3])
    assert queue.batch == 1
    assert taken(queue) == [
        ("a", problem, [trial])
        for problem, trials in ((0, [2, 3]), (1, range(4)), (2, range(4)))
        for trial in trials
    ]


def test_an_empty_queue_may_be_filled_again() -> None:
    queue = Queue([(only := task_run("a", 1, 1), every_problem(only, 1, ()))], 1)
    first = queue.take()
    assert first is not None
    assert queue.is_finished
    queue.put_back(*first, [0])
    assert not queue.is_finished
    assert taken(queue) == [("a", 0, [0])]


def test_nobody_is_lost_in_a_long_queue() -> None:
    queue = queue_of([task_run("a", 300, 3)], 2)
    found = [(problem, trial) for _, problem, trials in taken(queue) for trial in trials]
    assert sorted(found) == [(problem, trial) for problem in range(300) for trial in range(3)]


def test_a_question_knows_its_seeds_and_its_past() -> None:
    queue = queue_of([task_run("a", 1, 3, attempts={(0, 2): 4})], 2)
    _, first = queue.take() or (None, None)
    _, second = queue.take() or (None, None)
    assert first is not None
    assert second is not None
    assert first.seeds == tuple(trial_seed("s", "a", "p0", trial) for trial in (0, 1))
    assert (first.attempts, second.attempts) == (0, 4)


def test_without_a_seed_none_is_asked_for() -> None:
    _, question = queue_of([task_run("a", 1, 2, seed=None)], 2).take() or (None, None)
    assert question is not None
    assert question.seeds == (None, None)
