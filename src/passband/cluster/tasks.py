"""Map a function over many items on all nodes of a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from passband.cluster.nodes import ClusterFailed, unwrapped, working_nodes
from passband.system import CPUS_VARIABLE

RETRIES = 5  # of an item whose process or node was lost
_AHEAD = 2  # items under way for each processor, so that none waits for the next
_BUFFERED = 4  # times as many results may wait for an earlier one
_LOOK = 1.0  # seconds between two looks at whether there is still a cluster
_ALONE = 60.0  # seconds without any node

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_tasks(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    ordered: bool = True,
    cpus_each: int = 1,
) -> Iterator[Result]:
    """Yield function(item) for each item, computed on the nodes of the connected cluster.

    The function is shipped by its name, so it belongs to a module that the nodes can import; items
    and results are pickled. Items are taken as they are needed, and only some are under way: at
    most `workers`, by default as many as keep every processor busy. Results come in the order of
    the items, or with ordered=False as they are ready.

    An item whose process or node is lost is computed again, so the function must not mind. What it
    raises is raised here, and what else is under way is then cancelled.
    """
    import ray
    from ray.exceptions import RayError

    task = ray.remote(num_cpus=cpus_each, max_retries=RETRIES, scheduling_strategy="SPREAD")(_call)
    most = workers or _AHEAD * max(1, int(_total_cpus() // cpus_each))
    waiting, running, ready = enumerate(items), _Running(), dict[int, Result]()
    following, is_more = 0, True
    try:
        while True:
            while is_more and len(running) < most and len(running) + len(ready) < _BUFFERED * most:
                index, item = next(waiting, (None, None))
                if index is None:
                    is_more = False
                else:
                    running.add(index, task.remote(function, item, cpus_each))
            if not running:
                return
            call, index = running.next_done()
            try:
                ready[index] = ray.get(call)
            except RayError as error:
                raise _explained(error) from None
            if not ordered:
                yield ready.pop(index)
            while following in ready:
                yield ready.pop(following)
                following += 1
    finally:
        running.cancel()


class _Running:
    """Calls under way, and the indices of their items."""

    def __init__(self) -> None:
        self._calls: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, index: int, call: Any) -> None:
        self._calls[call] = index

    def next_done(self) -> tuple[Any, int]:
        """Wait for a call to end; raise if there has been no node for a while."""
        import ray

        alone_since = None
        while True:
            done, _ = ray.wait(list(self._calls), num_returns=1, timeout=_LOOK)
            if done:
                return done[0], self._calls.pop(done[0])
            if working_nodes():
                alone_since = None
                continue
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > _ALONE:
                raise ClusterFailed(
                    f"the cluster has had no node to work on for {_ALONE:g} s; once it has, the "
                    "same command goes on with the rest."
                )

    def cancel(self) -> None:
        """Cancel the calls under way."""
        if self._calls:
            import ray

            for call in self._calls:
                ray.cancel(call, force=False)


def _call(function: Callable[[Any], Any], item: Any, cpus_each: int) -> Any:
    """Call a function on a node, in a process that knows its share of the processors."""
    os.environ[CPUS_VARIABLE] = str(cpus_each)
    return function(item)


def _total_cpus() -> float:
    total = sum(node.cpus for node in working_nodes())
    if total < 1:
        raise ClusterFailed("no node of the cluster has a processor to work with (ray status).")
    return total


def _explained(error: Exception) -> Exception:
    """Return the error for a call that failed, or whose process was lost time after time."""
    if hasattr(error, "cause"):
        return unwrapped(error)
    return ClusterFailed(
        f"a process of the cluster was lost {RETRIES + 1} times over the same piece of work, by "
        f"lack of memory perhaps ({type(error).__name__}); the same command goes on with the rest."
    )
