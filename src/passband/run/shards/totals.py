"""The progress of all shards as that of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from passband.run.progress import Progress, ShardCounts, TaskProgress


def total_progress(
    before: Sequence[TaskProgress],
    shards: Iterable[Progress],
    running: Iterable[Progress],
    elapsed: float,
    counts: ShardCounts,
) -> Progress:
    """Add up tasks as they were before, and every shard's part; rates are of those that run."""
    every, asking = list(shards), list(running)
    tasks = [_task(task, [t for one in every for t in one.tasks]) for task in before]
    rates = [one.rate for one in asking if one.rate is not None]
    left = [one.seconds_left for one in asking]
    known = [seconds for seconds in left if seconds is not None]
    retries: Counter[str] = Counter()
    for one in every:
        retries.update(one.retries)
    waiting = [one.waiting for one in asking if one.waiting is not None]
    return Progress(
        tasks=tasks,
        rate=sum(rates) if rates else None,
        seconds_left=max(known, default=None) if len(known) == len(left) else None,
        under_way=sum(one.under_way for one in asking),
        waiting=waiting[0] if waiting and len(waiting) == len(asking) else None,
        elapsed=elapsed,
        retries=dict(retries),
        backing_off=sum(one.backing_off for one in asking),
        scoring=sum(one.scoring for one in asking),
        shards=counts,
    )


def _task(before: TaskProgress, parts: Sequence[TaskProgress]) -> TaskProgress:
    own = [part for part in parts if part.task == before.task]
    costs = [part.cost for part in own if part.cost is not None]
    if before.cost is not None:
        costs.append(before.cost)
    return TaskProgress(
        task=before.task,
        done=before.done + sum(part.done for part in own),
        planned=before.planned,
        tokens=(
            before.tokens[0] + sum(part.tokens[0] for part in own),
            before.tokens[1] + sum(part.tokens[1] for part in own),
        ),
        cost=sum(costs) if costs else None,
        failed=_failed(before.failed, [part.failed for part in own]),
        estimate=None,
    )


def _failed(before: Mapping[str, int], parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total = Counter(before)
    for part in parts:
        total.update(part)
    return dict(total)
