from __future__ import annotations

import io

import pytest

from passband.errors import PassbandWarning
from passband.run.progress import (
    ProgressLine,
    RunProgress,
    Silent,
    TaskProgress,
    Waiting,
    make_watcher,
)


def progress(done: int, **options: object) -> RunProgress:
    failed = {"invalid": 2} if done > 5 else {}
    task = TaskProgress("t", done, 20, (0, 0), None, failed, None)
    given = {"rate": 2.5, "seconds_left": 71.0, "under_way": 1, "waiting": None, **options}
    return RunProgress([task], **given)  # type: ignore[arg-type]


def test_one_line_is_written_over() -> None:
    out = io.StringIO()
    line = ProgressLine(out)
    line.tick(progress(5))
    line.tick(progress(10, seconds_left=4000.0))
    line.tick(progress(10, seconds_left=None, waiting=Waiting("server-down", 3.0)))
    line.close()
    line.close()
    assert [part for part in out.getvalue().split("\r") if part.strip()][-1].endswith("\n")
    shown = [part.strip() for part in out.getvalue().split("\r")]
    assert "5 of 20 trials, 25 %, 2.5/s, 1:11 left" in shown
    assert "10 of 20 trials, 50 %, 2 failed, 2.5/s, 1:06:40 left" in shown
    assert "10 of 20 trials, 50 %, 2 failed, 2.5/s, waiting (server-down)" in shown


def test_a_warning_has_a_line_of_its_own() -> None:
    out = io.StringIO()
    line = ProgressLine(out)
    line.tick(progress(5))
    with pytest.warns(PassbandWarning, match="careful"):
        line.warn("careful")
    assert out.getvalue().endswith(" \r")


def test_nothing_is_shown_in_pipes() -> None:
    assert type(make_watcher(None)) is Silent
    assert type(make_watcher(True)) is ProgressLine
