"""Which trials are requested next."""

from types import SimpleNamespace
from typing import Any

from passband.generate.provider import Sampling
from passband.run.loop.queue import Queue
from passband.run.schedule.blocks import trial_seed
from passband.run.schedule.schedule import every_problem
from support.runs.runs import sums


class Part(SimpleNamespace):
    """As much of a task's run as the queue looks at."""

    __hash__: Any = object.__hash__


def task_run(name: str, problems: int, n: int, **more: Any) -> Any:
    task = sums(problems, name=name)
    fields = {"taken": {}, "attempts": {}, "seed": "s", "sampling": Sampling()} | more
    fields = {"turned_away": {}} | fields
    fields = {"batch": 1, "has_one_seed": False, "subject": None} | fields
    return Part(task=task, problems=task.load(None), order=range(problems), n=n, **fields)


def queue_of(task_runs: list[Any], batch: int | None = None) -> Queue:
    for each in task_runs if batch is not None else ():
        each.batch = batch
    return Queue([(each, every_problem(each, each.batch, ())) for each in task_runs])


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
    queue = queue_of([task_run("a", 2, 3, taken={0: 0b111, 1: 0b010})], 1)
    assert taken(queue) == [("a", 1, [0]), ("a", 1, [2])]


def test_what_is_put_back_is_asked_next_and_singly() -> None:
    queue = queue_of([task_run("a", 3, 4)], 4)
    first = queue.take()
    assert first is not None
    queue.ask_one_by_one(first[0])
    queue.put_back(*first, [2, 3])
    assert queue.batch == 1
    assert taken(queue) == [
        ("a", problem, [trial])
        for problem, trials in ((0, [2, 3]), (1, range(4)), (2, range(4)))
        for trial in trials
    ]


def test_an_empty_queue_may_be_filled_again() -> None:
    queue = queue_of([task_run("a", 1, 1)])
    first = queue.take()
    assert first is not None
    assert queue.is_finished
    queue.put_back(*first, [0])
    assert not queue.is_finished
    assert taken(queue) == [("a", 0, [0])]


def test_every_task_is_asked_in_the_batches_of_its_own_subject() -> None:
    shared, own = object(), object()
    a = task_run("a", 1, 4, batch=2, subject=shared)
    b = task_run("b", 1, 2, batch=1, subject=own, has_one_seed=True)
    c = task_run("c", 1, 4, batch=2, subject=shared)
    queue = queue_of([a, b, c])
    assert queue.batch == 2
    first = queue.take()
    assert first is not None
    assert list(first[1].trials) == [0, 1]
    queue.ask_one_by_one(a)
    assert taken(queue) == [
        ("a", 0, [2]), ("a", 0, [3]), ("b", 0, [0]), ("b", 0, [1]),
        ("c", 0, [0]), ("c", 0, [1]), ("c", 0, [2]), ("c", 0, [3]),
    ]  # fmt: skip


def test_a_task_is_exhausted_once_nothing_of_it_is_left() -> None:
    a, b = task_run("a", 1, 1), task_run("b", 1, 1)
    queue = queue_of([a, b])
    assert not queue.is_exhausted(a)
    first = queue.take()
    assert first is not None
    assert (queue.is_exhausted(a), queue.is_exhausted(b)) == (True, False)
    queue.put_back(*first, [0])
    assert not queue.is_exhausted(a)


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


def test_what_a_rate_limit_turned_away_drew_nothing() -> None:
    part = task_run("a", 1, 1, attempts={(0, 0): 3}, turned_away={(0, 0): 2})
    _, batch = queue_of([part]).take() or (None, None)
    assert batch is not None
    assert (batch.attempts, batch.draws) == (3, 1)


def test_the_first_trial_of_a_refused_batch_goes_on_with_its_attempts() -> None:
    queue = queue_of([task_run("a", 1, 3)], 3)
    first = queue.take()
    assert first is not None
    first[1].attempts, first[1].limited = 2, 1
    queue.put_back(*first, [0, 1, 2])
    singles = [taken[1] for _ in range(3) if (taken := queue.take()) is not None]
    assert [(single.attempts, single.draws) for single in singles] == [(2, 1), (0, 0), (0, 0)]


def test_without_a_seed_none_is_asked_for() -> None:
    _, question = queue_of([task_run("a", 1, 2, seed=None)], 2).take() or (None, None)
    assert question is not None
    assert question.seeds == (None, None)
