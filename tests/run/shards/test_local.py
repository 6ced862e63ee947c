"""Processes of shards on this machine: how their end is reported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from passband.run.request import make_request
from passband.run.shards.job import ShardJob
from passband.run.shards.local import LocalProcesses, ShardProcess
from passband.run.shards.wire import Event, Failed, Lost, StopOrder
from support.runs.runs import HURRIED

pytestmark = pytest.mark.process


def job(folder: Path, version: str) -> ShardJob:
    made = make_request(["arithmetic"], "tiny", out=folder / "shard", n=1, patience=HURRIED)
    assert made.recipe is not None
    return ShardJob(
        made.recipe, folder / "shard", made.settings, None, None, {}, str(folder), (), version
    )


def last_event(launcher: LocalProcesses, process: ShardProcess) -> Event:
    events: list[Event] = []
    while not events or not isinstance(events[-1], (Failed, Lost)):
        launcher.wait(10.0)
        events += process.events()
    return events[-1]


def test_a_job_of_another_version_fails(tmp_path: Path) -> None:
    launcher = LocalProcesses()
    try:
        event = last_event(launcher, launcher.start(job(tmp_path, "0.0.1")))
    finally:
        launcher.close()
    assert isinstance(event, Failed)
    assert "install the same version" in event.text


def test_a_process_that_dies_is_lost_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nprintf 'out of\\nmemory' >&2\nkill -9 $$\n")
    dying.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(dying))
    launcher = LocalProcesses()
    try:
        process = launcher.start(job(tmp_path, "0.0.1"))
        event = last_event(launcher, process)
        process.send(StopOrder())  # nobody is there
    finally:
        launcher.close()
    assert event == Lost("its process ended with signal 9: out of memory")
