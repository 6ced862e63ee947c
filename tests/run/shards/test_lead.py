"""The leading process, with shards whose processes a test plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from passband.errors import ExitCode, PassbandError
from passband.run.request import RunRequest, make_request
from passband.run.shards import lead
from passband.run.shards.driver import run_shards
from passband.run.shards.job import ShardJob
from passband.run.shards.launch import Launch
from passband.run.shards.wire import Ended, Event, Failed, Grant, Lost, Order, ShardNote, StopOrder
from passband.trials.file.schema import SHARDS_FOLDER
from support.runs.runs import HURRIED, Notes


@dataclass
class Played:
    """A process that reports one list of events after the other, and is lost when it is killed."""

    job: ShardJob
    events_to_come: list[list[Event]]
    orders: list[Order] = field(default_factory=list)
    is_killed: bool = False

    def events(self) -> Sequence[Event]:
        if self.is_killed:
            return [Lost("signal 9")]
        return self.events_to_come.pop(0) if self.events_to_come else []

    def send(self, order: Order) -> None:
        self.orders.append(order)
        if isinstance(order, StopOrder) and not self.events_to_come:
            self.events_to_come.append([Ended("interrupted")])

    def kill(self) -> None:
        self.is_killed = True


@dataclass
class Playing:
    """A launcher of processes that are played by a script: lists of events for each start."""

    script: list[list[list[Event]]]
    started: list[Played] = field(default_factory=list)

    def start(self, job: ShardJob) -> Played:
        self.started.append(Played(job, self.script[len(self.started)]))
        return self.started[-1]

    def wait(self, seconds: float) -> None:
        pass

    def close(self) -> None:
        pass


def request(task: Path, out: Path) -> RunRequest:
    url = "http://127.0.0.1:9/v1"
    return make_request(
        [task], "openai:m", out=out, n=2, concurrency=5, base_url=url, patience=HURRIED
    )


@pytest.fixture
def made(task_file: Path, tmp_path: Path) -> RunRequest:
    return request(task_file, tmp_path / "run")


def test_an_error_of_one_shard_stops_the_others_and_keeps_its_exit_code(made: RunRequest) -> None:
    full = Failed("the disk is nearly full", int(ExitCode.DISK_FULL))
    launcher = Playing([[[full]], []])
    with pytest.raises(PassbandError, match="shard 1/2: the disk") as error:
        run_shards(made, Launch(2), Notes(), launcher=launcher)
    assert error.value.exit_code is ExitCode.DISK_FULL
    assert any(isinstance(order, StopOrder) for order in launcher.started[1].orders)
    assert not (made.directory / SHARDS_FOLDER).exists()


def test_a_shard_that_is_started_again_gets_its_lease_again(made: RunRequest) -> None:
    ends: list[Event] = [Ended("finished")]
    launcher = Playing([[[Lost("gone")]], [ends], [ends]])
    notes = Notes()
    run_shards(made, Launch(2), notes, launcher=launcher)
    assert [started.job.name for started in launcher.started] == ["1/2", "2/2", "1/2"]
    assert launcher.started[0].orders[0] == Grant(None, 3, True)
    assert launcher.started[2].orders[0] in (Grant(None, 3, True), Grant(None, 5, True))
    assert "shard 1/2 was lost (gone); starting it again" in notes.notes


def test_what_several_shards_say_is_shown_once(made: RunRequest) -> None:
    texts: list[list[Event]] = [
        [ShardNote(f"17 retries in shard {n}"), Ended("finished")] for n in (1, 2)
    ]
    notes = Notes()
    run_shards(made, Launch(2), notes, launcher=Playing([[texts[0]], [texts[1]]]))
    assert [note for note in notes.notes if "retries" in note] == ["17 retries in shard 1"]


def test_a_shard_that_says_nothing_is_pointed_out(
    made: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lead, "_SILENT", -1.0)
    notes = Notes()
    run_shards(made, Launch(1), notes, launcher=Playing([[[], [], [Ended("finished")]]]))
    (warning,) = (text for text in notes.warnings if "reported nothing" in text)
    assert warning.startswith("shard 1/1 has")


def test_the_second_stop_kills(made: RunRequest) -> None:
    def stop_twice(stop: object) -> None:
        assert callable(stop)
        stop()
        stop()

    launcher = Playing([[[] for _ in range(99)], [[] for _ in range(99)]])
    finished = run_shards(made, Launch(2), Notes(), stop_twice, launcher)
    assert (finished.ending, finished.exit_code) == ("interrupted", 130)
    assert all(process.is_killed for process in launcher.started)
