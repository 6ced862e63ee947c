"""A function over many items on the nodes of a cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passband.cluster import tasks
from passband.cluster.nodes import ClusterFailed, Node
from passband.cluster.tasks import map_tasks
from passband.errors import InvalidInput
from passband.system.cpus import available_cpus
from support.servers import clusters

pytestmark = clusters.MARKS


def square(item: int) -> int:
    return item * item


def refuse_three(item: int) -> int:
    if item == 3:
        raise InvalidInput("three is refused.")
    return item


def share(item: int) -> int:
    return available_cpus()


def die_once(item: Path) -> str:
    """End the process the first time."""
    if not item.exists():
        item.touch()
        os._exit(1)
    return "done"


def die(item: int) -> None:
    os._exit(1)


def wait_for_an_event(item: int) -> bool:
    return threading.Event().wait(60)  # until it is cancelled, or ends with the cluster


def test_results_are_in_order(cluster: Any) -> None:
    assert list(map_tasks(square, range(20))) == [n * n for n in range(20)]
    assert sorted(map_tasks(square, range(20), ordered=False)) == [n * n for n in range(20)]
    assert list(map_tasks(square, [])) == []


def test_items_are_taken_as_they_are_needed(cluster: Any) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    results = map_tasks(square, items(), workers=2)
    assert next(results) == 0
    assert len(taken) <= 10  # workers, and as many results as may wait
    results.close()  # type: ignore[attr-defined]


def test_a_process_knows_its_share(cluster: Any) -> None:
    assert list(map_tasks(share, [0, 1])) == [1, 1]
    assert list(map_tasks(share, [0], cpus_each=2)) == [2]


def test_what_the_function_raises_is_raised(cluster: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^three is refused\.$"):
        list(map_tasks(refuse_three, range(9)))


def test_an_item_whose_process_is_lost_is_computed_again(cluster: Any, tmp_path: Path) -> None:
    assert list(map_tasks(die_once, [tmp_path / "died"])) == ["done"]


def test_an_item_that_ends_every_process_is_an_error(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "RETRIES", 0)
    with pytest.raises(ClusterFailed, match="lost 1 times over the same piece"):
        list(map_tasks(die, [1]))


def test_a_cluster_without_nodes_is_given_up(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "working_nodes", list[Node])
    with pytest.raises(ClusterFailed, match="no node of the cluster has a processor"):
        list(map_tasks(square, [1]))
    monkeypatch.setattr(tasks, "_total_cpus", lambda: 1.0)
    monkeypatch.setattr(tasks, "_ALONE", -1.0)
    monkeypatch.setattr(tasks, "_LOOK", 0.01)
    with pytest.raises(ClusterFailed, match="no node to work on"):
        list(map_tasks(wait_for_an_event, [1]))
