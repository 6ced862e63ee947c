"""Shards on a Ray cluster of three nodes: actors, nodes and the leading process are lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from passband.cluster.nodes import Node
from passband.errors import InvalidInput, PassbandError
from passband.run.request import RunRequest, make_request
from passband.run.session import RunResult
from passband.run.shards import ray as shards_ray
from passband.run.shards.driver import run_shards
from passband.run.shards.launch import Launch
from passband.run.shards.ray import ShardActor
from passband.trials.file.schema import SHARDS_FOLDER
from support.runs.commands import run
from support.runs.runs import HURRIED, Notes
from support.servers import clusters
from support.servers.fault_server import FaultServer, Received, held, ok

ray = pytest.importorskip("ray")
pytestmark = clusters.MARKS
CPUS = clusters.CPUS
ROWS = 20


def request(task: Path, url: str, out: Path, **options: Any) -> RunRequest:
    arguments: dict[str, Any] = {
        "n": 4, "batch": 2, "seed": "bench", "concurrency": 8, "patience": HURRIED,
        "moved_server": True, "base_url": url,
    }  # fmt: skip
    return make_request([task], "openai:model", out=out, **arguments | options)


def on_ray(made: RunRequest, notes: Notes | None = None, shards: int = 4) -> RunResult:
    return run_shards(made, Launch(shards, "ray"), notes or Notes())


def exported(directory: Path) -> str:
    file = directory.with_suffix(".jsonl")
    done = run("export", directory, "-o", file)
    assert done.code == 0, done.err
    return file.read_text()


@pytest.fixture
def single(task_file: Path, tmp_path: Path) -> str:
    """The export of the run of one process."""
    with FaultServer() as server:
        request(task_file, server.url, tmp_path / "single").run(Notes())
    return exported(tmp_path / "single")


@contextmanager
def losing(act: Callable[[], None]) -> Iterator[FaultServer]:
    """Serve; act while every shard has recorded something or waits, and then answer the rest.

    The first 8 requests are answered. With 8 more under way, every shard has as many as it may.
    """

    def script(asked: Received) -> Any:
        return ok if asked.number < 8 else held()

    def strike(server: FaultServer) -> None:
        try:
            server.wait_for(16)
            act()
        finally:
            server.release()

    with FaultServer(script) as server:
        striker = threading.Thread(target=strike, args=(server,))
        striker.start()
        yield server
        striker.join()


def test_the_store_is_that_of_one_process(
    cluster: Any, task_file: Path, tmp_path: Path, single: str
) -> None:
    with FaultServer() as server:
        finished = on_ray(request(task_file, server.url, tmp_path / "run"))
        assert len(server.requests) == 2 * ROWS
    assert finished.ending == "finished"
    assert exported(tmp_path / "run") == single
    assert not (tmp_path / "run" / SHARDS_FOLDER).exists()


def test_nothing_is_lost_with_a_node(
    cluster: Any, task_file: Path, tmp_path: Path, single: str
) -> None:
    cluster.add_node(**CPUS)
    notes = Notes()
    with losing(lambda: _switch_off_a_node(cluster)) as server:
        made = request(task_file, server.url, tmp_path / "run")
        on_ray(made, notes, shards=4)
        asked = len(server.requests)
    assert exported(tmp_path / "run") == single
    assert any("was lost (its actor or node is gone" in note for note in notes.notes)
    assert 2 * ROWS <= asked <= 2 * ROWS + 8  # again: what was in flight on that node
    assert run("check", tmp_path / "run").code == 0


def test_nothing_is_lost_with_an_actor(
    cluster: Any, task_file: Path, tmp_path: Path, single: str
) -> None:
    notes = Notes()
    with losing(lambda: os.kill(_actor_pid(), signal.SIGKILL)) as server:
        on_ray(request(task_file, server.url, tmp_path / "run"), notes, shards=2)
        asked = len(server.requests)
    assert exported(tmp_path / "run") == single
    assert any("was lost" in note for note in notes.notes)
    assert 2 * ROWS <= asked <= 2 * ROWS + 8


def _actor_pid() -> int:
    """Return the process of one of the actors."""
    return _numbers("pgrep", "-f", "ray::ShardActor")[0]


def _switch_off_a_node(cluster: Any) -> None:
    """End all processes of a node that has an actor and is not the head."""
    table = _numbers("ps", "-e", "-o", "pid=,ppid=")
    parent_of = dict(zip(table[::2], table[1::2], strict=True))
    actors = _numbers("pgrep", "-f", "ray::ShardActor")
    for node in cluster.worker_nodes:
        raylet = node.all_processes["raylet"][0].process.pid
        mine = [actor for actor in actors if parent_of[actor] == raylet]
        if mine:
            asking = [pid for pid, parent in parent_of.items() if parent in mine]
            cluster.remove_node(node, allow_graceful=False)
            for pid in (*mine, *asking):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return
    raise AssertionError("no node but the head has an actor")


def _numbers(*command: str) -> list[int]:
    lines = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(word) for word in lines.stdout.split()]


def test_nothing_is_lost_with_the_leading_process(
    cluster: Any, task_file: Path, tmp_path: Path, single: str
) -> None:
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    script = (
        f"import sys; sys.path[:0] = {folders}\n"
        "from pathlib import Path\n"
        "from test_ray import request, on_ray\n"
        "on_ray(request(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])), shards=2)\n"
    )
    with FaultServer(held()) as server:
        command = [sys.executable, "-c", script, task_file, server.url, tmp_path / "run"]
        environment = {**os.environ, "RAY_ADDRESS": cluster.address}
        leader = subprocess.Popen(list(map(str, command)), env=environment)
        server.wait_for(2)
        leader.kill()
        leader.wait()
        server.release()
        notes = Notes()
        run_shards(request(task_file, server.url, tmp_path / "run"), Launch(3), notes)
    assert exported(tmp_path / "run") == single
    assert any("merging 2 shards" in note for note in notes.notes)


def test_a_second_interruption_ends_everything_at_once(
    cluster: Any, task_file: Path, tmp_path: Path, single: str
) -> None:
    stops: list[Callable[[], None]] = []

    def stop_twice(asked: Received) -> Any:
        if asked.number == 2:
            stops[0]()
            stops[0]()
        return held()

    with FaultServer(stop_twice) as server:
        made = request(task_file, server.url, tmp_path / "run")
        finished = run_shards(made, Launch(2, "ray"), Notes(), on_start=stops.append)
    assert finished.ending == "interrupted"
    assert not list((tmp_path / "run").glob(f"{SHARDS_FOLDER}/*-of-*"))
    with FaultServer() as server:
        request(task_file, server.url, tmp_path / "run").run(Notes())
    assert exported(tmp_path / "run") == single


def test_a_node_that_does_not_see_the_storage_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(function: Any, marker: Path) -> list[tuple[Node, Any]]:
        other = tmp_path / "other" / "marker"
        return [
            (Node("node-1", "1", 2.0), function(marker)),
            (Node("node-2", "2", 2.0), function(other)),
        ]

    monkeypatch.setattr(shards_ray, "on_each_node", blind)
    marker = tmp_path / "marker"
    marker.touch()
    with pytest.raises(PassbandError, match="node-2 does not see"):
        shards_ray.check_storage(marker)
    actor = ShardActor(None, 1, tmp_path / "no" / "marker")
    assert "does not see the storage" in str(actor.events())


def test_secrets_are_not_sent(cluster: Any, task_file: Path, tmp_path: Path) -> None:
    made = request(
        task_file, "http://127.0.0.1:9/v1", tmp_path / "run", headers={"X-Key": "hush-hush"}
    )
    with pytest.raises(InvalidInput, match="environment of the nodes") as refused:
        on_ray(made)
    assert "hush" not in str(refused.value)


def test_files_are_counted_on_the_nodes(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    for number in range(3):
        rows = {"problem": [number, number, 9], "trial": [0, 1, number], "score": [1, 0, 1]}
        parquet.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
    words = ("stats", f"{tmp_path}/*.parquet", "-m", "pass@1", "--json")
    here, there = run(*words), run(*words, "--on", "ray")
    assert there.code == 0, there.err
    assert there.out == here.out
    refused = run("stats", "examples/trials.csv", "--on", "ray")
    assert (refused.code, "none was counted" in refused.err) == (2, True)
