"""A run in shards: the store of a run of one process, whatever happens to the shards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput, PassbandError
from passband.run.request import RunRequest, make_request
from passband.run.session import RunResult
from passband.run.shards import lead
from passband.run.shards.driver import run_shards
from passband.run.shards.folder import leading
from passband.run.shards.job import ShardJob
from passband.run.shards.launch import Launch
from passband.run.shards.local import LocalProcesses, ShardProcess
from passband.run.shards.shard import Shard
from passband.run.task_run import Price
from passband.trials.file.lock import Busy
from passband.trials.file.schema import SHARDS_FOLDER
from passband.trials.reader import Trials
from support.runs.commands import run
from support.runs.runs import HURRIED, Notes
from support.servers.fault_server import Behaviour, FaultServer, Received, after, held, ok, status

pytestmark = pytest.mark.process


@dataclass
class Watched(LocalProcesses):
    """A launcher whose processes a test can reach; `on_start` is called with the first few."""

    on_start: Callable[[int, ShardProcess], None] = lambda number, process: None
    processes: list[ShardProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(1)

    def start(self, job: ShardJob) -> ShardProcess:
        process = super().start(job)
        self.processes.append(process)
        self.on_start(len(self.processes), process)
        return process


def request(task: Path, server: FaultServer, out: Path, **options: Any) -> RunRequest:
    arguments: dict[str, Any] = {
        "n": 4, "batch": 2, "seed": "bench", "concurrency": 8, "patience": HURRIED,
        "moved_server": True,
    }  # fmt: skip
    return make_request([task], "openai:model", out=out, base_url=server.url, **arguments | options)


def in_shards(made: RunRequest, shards: int = 3, **options: Any) -> RunResult:
    return run_shards(made, Launch(shards), options.pop("watcher", Notes()), **options)


def exported(directory: Path) -> str:
    file = directory.with_suffix(".jsonl")
    done = run("export", directory, "-o", file)
    assert done.code == 0, done.err
    return file.read_text()


@pytest.fixture
def single(task_file: Path, tmp_path: Path) -> str:
    """The export of the run of one process."""
    with FaultServer() as server:
        request(task_file, server, tmp_path / "single").run(Notes())
    return exported(tmp_path / "single")


def test_the_store_is_that_of_one_process(task_file: Path, tmp_path: Path, single: str) -> None:
    notes = Notes()
    with FaultServer() as server:
        finished = in_shards(request(task_file, server, tmp_path / "run"), watcher=notes)
        assert len(server.requests) == 40  # 20 problems x 4 trials, 2 at a time
    assert exported(tmp_path / "run") == single
    assert (finished.ending, finished.exit_code) == ("finished", 0)
    assert [r.counters.fresh for r in finished.task_runs] == [80]
    assert notes.progress[-1].tasks[0].done == 80
    assert not (tmp_path / "run" / SHARDS_FOLDER).exists()
    assert run("check", tmp_path / "run").code == 0


def test_more_trials_and_other_shards_ask_only_for_what_is_missing(
    task_file: Path, tmp_path: Path, single: str
) -> None:
    with FaultServer() as server:
        in_shards(request(task_file, server, tmp_path / "run", n=2), 2)
        assert len(server.requests) == 20
        in_shards(request(task_file, server, tmp_path / "run"), 5)
        assert len(server.requests) == 40
        notes = Notes()
        in_shards(request(task_file, server, tmp_path / "run"), 4, watcher=notes)
        assert len(server.requests) == 40
    assert any("nothing to ask" in note for note in notes.notes)
    assert exported(tmp_path / "run") == single


def test_a_shard_that_is_killed_is_started_again(
    task_file: Path, tmp_path: Path, single: str
) -> None:
    def kill(number: int, process: ShardProcess) -> None:
        if number <= 3:
            server.wait_for(1)
            os.kill(process.pid, signal.SIGKILL)

    notes = Notes()
    with FaultServer() as server:
        made = request(task_file, server, tmp_path / "run")
        in_shards(made, watcher=notes, launcher=Watched(on_start=kill))
    assert exported(tmp_path / "run") == single
    assert sum("was lost (its process ended with signal 9" in note for note in notes.notes) == 3
    assert [one.shards.lost for one in notes.progress if one.shards is not None][-1] == 3


def test_a_shard_that_is_lost_again_and_again_ends_the_run(task_file: Path, tmp_path: Path) -> None:
    def kill(number: int, process: ShardProcess) -> None:
        os.kill(process.pid, signal.SIGKILL)

    with FaultServer() as server:
        made = request(task_file, server, tmp_path / "run")
        with pytest.raises(PassbandError, match="lost 6 times"):
            in_shards(made, 1, launcher=Watched(on_start=kill))


def test_an_error_ends_all_shards_and_is_raised(task_file: Path, tmp_path: Path) -> None:
    with FaultServer(status(401)) as server, pytest.raises(PassbandError, match="401"):
        in_shards(request(task_file, server, tmp_path / "run"), 2)


def test_stopping_keeps_what_was_answered(task_file: Path, tmp_path: Path, single: str) -> None:
    stops: list[Callable[[], None]] = []

    def script(asked: Received) -> Behaviour:
        if asked.number == 10:
            stops[0]()
        return ok if asked.number < 10 else after(0.5)  # so that some are left when it stops

    with FaultServer(script) as server:
        made = request(task_file, server, tmp_path / "run", concurrency=2)
        finished = in_shards(made, 2, on_start=stops.append)
        assert (finished.ending, finished.exit_code) == ("interrupted", 130)
        counters = finished.task_runs[0].counters
        assert counters.done == 2 * len(server.requests) < 80 == counters.planned
        assert not (tmp_path / "run" / SHARDS_FOLDER).exists()
        in_shards(request(task_file, server, tmp_path / "run"), 3)
        assert len(server.requests) == 40
    assert exported(tmp_path / "run") == single


LEADING = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from test_driver import request, in_shards
class Server: url = sys.argv[2]
in_shards(request(Path(sys.argv[1]), Server, Path(sys.argv[3])), 2)
"""


def test_the_leading_process_may_be_killed(task_file: Path, tmp_path: Path, single: str) -> None:
    script = LEADING.format(path=[str(Path(__file__).parent), str(Path(__file__).parents[2])])
    with FaultServer(held()) as server:
        command = [sys.executable, "-c", script, task_file, server.url, tmp_path / "run"]
        leader = subprocess.Popen(list(map(str, command)))
        server.wait_for(2)
        leader.kill()
        leader.wait()
        server.release()
        notes = Notes()
        in_shards(request(task_file, server, tmp_path / "run"), 3, watcher=notes)
    assert exported(tmp_path / "run") == single
    assert any("merging 2 shards" in note for note in notes.notes)


def test_one_process_leads_and_nobody_else_asks(task_file: Path, tmp_path: Path) -> None:
    with FaultServer() as server:
        made = request(task_file, server, tmp_path / "run")
        with leading(tmp_path / "run"):
            with pytest.raises(Busy):
                in_shards(made)
            with pytest.raises(Busy, match="asks for it in shards"):
                made.run(Notes())
        assert not server.requests


def test_shards_share_a_limit_of_cost(task_file: Path, tmp_path: Path) -> None:
    price = Price(0.0, 1e6)  # a token costs 1
    with FaultServer() as server:
        made = replace(request(task_file, server, tmp_path / "all", n=1, batch=1), price=price)
        whole = in_shards(made, 2).cost
        assert whole is not None
        limit = whole / 2
        made = request(task_file, server, tmp_path / "run", n=1, batch=1, max_cost=limit)
        finished = in_shards(replace(made, price=price), 3)
    assert finished.ending == "max_cost"
    assert finished.cost is not None
    assert 0.6 * limit <= finished.cost <= limit


def test_a_budget_for_one_request_pays_for_one(task_file: Path, tmp_path: Path) -> None:
    price = Price(0.0, 1e6)
    with FaultServer() as server:
        made = request(task_file, server, tmp_path / "run", n=1, batch=1, max_cost=1e-3)
        for _ in range(2):  # the second time, its cost is known
            finished = in_shards(replace(made, price=price), 4)
            assert (finished.ending, len(server.requests)) == ("max_cost", 1)


def test_a_lost_shard_goes_on_with_the_lease_that_it_had(task_file: Path, tmp_path: Path) -> None:
    def kill(number: int, process: ShardProcess) -> None:
        if number <= 2:
            os.kill(process.pid, signal.SIGKILL)

    with FaultServer() as server:
        made = request(task_file, server, tmp_path / "run", n=1, batch=1, max_cost=1e6)
        made = replace(made, price=Price(0.0, 1e6))
        finished = in_shards(made, 2, launcher=Watched(on_start=kill))
    assert (finished.ending, finished.task_runs[0].counters.done) == ("finished", 20)


def test_a_shard_that_is_stuck_is_ended(
    task_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halt(number: int, process: ShardProcess) -> None:
        os.kill(process.pid, signal.SIGSTOP)

    monkeypatch.setattr(lead, "_GRACE", 0.0)
    patience = replace(HURRIED, drain=0.0)
    with FaultServer() as server:
        made = request(task_file, server, tmp_path / "run", patience=patience)
        finished = in_shards(made, 2, launcher=Watched(on_start=halt), on_start=lambda stop: stop())
    assert finished.ending == "interrupted"
    assert not (tmp_path / "run" / SHARDS_FOLDER).exists()


def test_a_run_without_shards_takes_in_those_that_were_cut_off(
    task_file: Path, tmp_path: Path, single: str
) -> None:
    run_directory, notes = tmp_path / "run", Notes()
    with FaultServer() as server:
        for shard in (Shard(1, 3), Shard(3, 3)):
            part = run_directory / SHARDS_FOLDER / shard.directory_name
            made = request(task_file, server, part, shard=shard)
            replace(made, settings=replace(made.settings, base="run")).run(Notes())
        asked = len(server.requests)
        request(task_file, server, run_directory).run(notes)
        assert (asked, len(server.requests)) == (26, 40)
    assert "merging 2 shards of an earlier run that was cut off" in notes.notes
    assert not (run_directory / SHARDS_FOLDER).exists()
    assert exported(run_directory) == single


def test_trials_that_failed_are_retried_in_shards(
    task_file: Path, tmp_path: Path, single: str
) -> None:
    def script(asked: Received) -> Behaviour:
        return status(400) if "19" in asked.prompt and is_failing else ok

    is_failing = True
    with FaultServer(script) as server:
        in_shards(request(task_file, server, tmp_path / "run"), 2)
        with Trials(tmp_path / "run") as trials:
            assert trials.statuses(1).keys() > {"ok"}
        is_failing = False
        in_shards(request(task_file, server, tmp_path / "run", retry_failed=True), 3)
    assert exported(tmp_path / "run") == single


@pytest.mark.parametrize(
    ("options", "message"),
    [({"until": object()}, "--until decides"), ({"shard": object()}, "--shard is one part")],
)
def test_what_cannot_be_split_is_refused(
    task_file: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with FaultServer() as server, pytest.raises(InvalidInput, match=message):
        request(task_file, server, tmp_path / "run", launch=Launch(2), **options)


def test_tasks_that_are_no_names_are_refused(tmp_path: Path) -> None:
    from support.runs.runs import sums

    made = make_request(sums(), "openai:model", out=tmp_path / "run", base_url="http://127.0.0.1:9")
    with pytest.raises(InvalidInput, match="by name"):
        in_shards(made)
