"""A run as people and programs watch it."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from passband.report.terminal import live
from passband.report.terminal.live import JsonEvents, LiveTable, PlainLines, Quiet, make_display
from passband.run.task_run import Price
from support.runs.watched import Clock, Watched

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\u202e[bold]evil"


def shown(
    run: Watched, *, width: int = 80, warning: str | None = None, later: int = 0
) -> tuple[str, str]:
    """Draw a run on a terminal; return what was sent to it, and the text of it."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=width, height=30, highlight=False)
    with LiveTable(console) as table:
        table.tick(run.progress())
        if later:
            run.clock.now += 2.0
            run.more(later, tokens=10)
            table.tick(run.progress())
        if warning:
            table.warn(warning)
    sent = file.getvalue()
    return sent, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent)


# -- the live table --------------------------------------------------------------------------


def test_everything_that_matters_is_on_the_screen() -> None:
    run = Watched(planned=100, price=Price(1.0, 10.0), failed=["refused", "gave_up", "gave_up"])
    _, text = shown(run, later=4)
    assert "sums" in text
    assert "13/100 (13%)" in text
    assert "2 s elapsed" in text
    assert "2/s" in text
    assert "44 s left" in text
    assert "6k tokens in, 12k out" in text
    assert "cost 0.13" in text
    assert "1 refused, 2 gave_up" in text
    assert "3 under way" in text
    assert re.search(r"avg 0\.50? \[0\.\d+, [01]\.\d+\]", text), text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_long_name_leaves_room_for_the_numbers(width: int) -> None:
    run = Watched(
        name="a_task_with_quite_a_long_name_as_they_come", planned=1_000_000, failed=["refused"],
        price=Price(1.0, 10.0), tokens=123_456,
    )  # fmt: skip
    _, text = shown(run, width=width)
    lines = [line.rstrip() for line in re.split(r"[\r\n]+", text) if line.strip()]
    assert len(lines) == 7  # that it starts, and three lines drawn twice
    assert lines[0] == "starting ..."
    assert re.fullmatch(
        r"a_task_with_quite_a…\s+━+\s+7/1000000 \(0%\)\s+avg 0\.50 \[0\.12, 0\.88\]", lines[1]
    )
    assert lines[2] == "  a_task_with_quite_a…: 741k tokens in, 1.5M out, cost 15.56, 1 refused"
    assert lines[3] == "0 s elapsed, 3 under way"


def test_hostile_names_are_shown_and_not_obeyed() -> None:
    sent, text = shown(Watched(name=HOSTILE), width=160, warning=HOSTILE)
    assert "\x1b]" not in sent
    assert "\x1b[2J" not in sent
    assert "\x07" not in sent
    assert "\u202e" not in sent
    assert "warning: \\x1b]52;c;aGk=\\x07\\x1b[2J\\u202e[bold]evil" in text  # nor is it markup


def test_a_warning_stays_above_the_table() -> None:
    _, text = shown(Watched(), warning="the server gave one of four")
    assert "warning: the server gave one of four" in text


def test_why_nothing_happens_is_said() -> None:
    _, text = shown(Watched(is_down=True, paused_for=30.0))
    assert "the server is down; next try in 30 s" in text


def test_what_is_repeated_is_said_by_kind() -> None:
    retries = {"rate_limited": 12, "unavailable": 1, "timed_out": 3, "odd": 2}
    _, text = shown(Watched(retries=retries, backing_off=5))
    assert "retried 12 rate limits, 1 server error, 3 timeouts, 2 odd, 5 waiting to retry" in text
    out = io.StringIO()
    PlainLines(out, every=0.0).tick(Watched(retries=retries, backing_off=5).progress())
    assert "retried 12 rate limits, 1 server error, 3 timeouts, 2 odd  5 waiting" in out.getvalue()


def test_a_terminal_that_becomes_narrower_keeps_no_stale_lines() -> None:
    """Rows that the terminal has wrapped are erased: as many as are drawn, and those beyond."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, height=30, highlight=False)
    with LiveTable(console) as table:
        run = Watched(planned=1_000)
        table.tick(run.progress())
        widths = table._widths
        start = file.tell()
        console.width = 40
        table.tick(run.progress())
        redrawn = file.getvalue()[start:]
    rows = sum(-(-wide // 40) for wide in widths)
    assert rows > len(widths)
    assert redrawn.count("\x1b[1A") == rows - 1
    assert redrawn.count("\x1b[2K") >= rows


def test_it_is_on_the_screen_before_the_first_look() -> None:
    file = io.StringIO()
    with LiveTable(Console(file=file, force_terminal=True, width=80, height=30)):
        assert "starting ..." in file.getvalue()


def test_nothing_has_come_yet() -> None:
    _, text = shown(Watched(rows=[], planned=0))
    assert "0/0" in text
    assert "3 under way" in text


def test_large_numbers_are_short() -> None:
    assert [live._short(n) for n in (0, 999, 1_000, 999_499, 1_000_000, 12_345_678)] == [
        "0", "999", "1k", "999k", "1.0M", "12.3M",
    ]  # fmt: skip


# -- plain lines -----------------------------------------------------------------------------


def test_a_line_every_few_seconds() -> None:
    out, clock = io.StringIO(), Clock()
    lines = PlainLines(out, every=5.0, clock=clock)
    run = Watched(planned=100, price=Price(1.0, 10.0), failed=["gave_up"])
    run.meter._clock = clock
    lines.tick(run.progress())
    assert out.getvalue() == ""
    clock.now = 5.0
    lines.tick(run.progress())
    lines.tick(run.progress())
    clock.now = 10.0
    lines.tick(run.progress())  # nothing new
    assert out.getvalue().count("\n") == 1
    clock.now = 15.0
    run.more(10)
    lines.tick(run.progress())
    first, second = out.getvalue().splitlines()
    assert first.startswith(
        "sums  7/100 (7%)  tokens 6000 in, 12000 out  cost 0.13  1 gave_up  avg 0.5"
    )
    assert second.startswith(
        "sums  17/100 (17%)  0.667/s  2 min 4 s left  tokens 6000 in, 12000 out"
    )


def test_plain_lines_are_harmless() -> None:
    out, clock = io.StringIO(), Clock()
    lines = PlainLines(out, every=0.0, clock=clock)
    lines.tick(Watched(name=HOSTILE, paused_for=9.0).progress())
    lines.warn(HOSTILE)
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()
    assert "the server asks to wait until" in out.getvalue()
    assert "warning: \\x1b]52" in out.getvalue()


def test_quiet_only_warns() -> None:
    out = io.StringIO()
    with Quiet(out) as quiet:
        quiet.tick(Watched().progress())
        assert out.getvalue() == ""
        quiet.warn("look\nhere")
        quiet.note("and\nhere")
    assert out.getvalue() == "warning: look\\nhere\nand\\nhere\n"


# -- events ----------------------------------------------------------------------------------


def test_events_are_json_line_by_line() -> None:
    out = io.StringIO()
    events = JsonEvents(out)
    run = Watched(name="\ud800 \u2028 " + HOSTILE, failed=["invalid"], price=Price(1, 1))
    events.tick(run.progress())
    events.warn("half \ud800")
    events.note("look")
    events.tick(Watched(rows=[]).progress())
    events.event("done", value=None)
    text = out.getvalue()
    assert text.isascii()
    assert "\x1b" not in text
    found = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert [event["event"] for event in found] == [
        "progress",
        "warning",
        "note",
        "progress",
        "done",
    ]
    (task,) = found[0]["tasks"]
    assert task["task"].startswith("\ud800 \u2028")
    assert (task["done"], task["planned"], task["failed"]) == (7, 12, {"invalid": 1})
    assert task["estimate"]["low"] <= task["estimate"]["value"] <= task["estimate"]["high"]
    assert found[1]["text"] == "half \ud800"


# -- who gets which --------------------------------------------------------------------------


def test_the_display_suits_who_is_watching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert type(make_display(as_json=True, quiet=True)) is JsonEvents
    assert type(make_display(as_json=False, quiet=True)) is Quiet
    assert type(make_display(as_json=False, quiet=False)) is PlainLines
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert type(make_display(as_json=False, quiet=False)) is LiveTable


@pytest.mark.process
def test_on_a_real_terminal(tmp_path: Path) -> None:
    """A whole run on a pseudo terminal: the table comes and goes, the result stays."""
    os.mkfifo(tmp_path / "gate")
    (tmp_path / "gated.py").write_text(
        "passed = []\n"
        "def answer(prompt, seed):\n"
        "    if len(passed) == 8:\n"
        "        open('gate').close()  # waits until the test opens it too\n"
        "    passed.append(seed)\n"
        "    return str(seed)\n"
    )
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: r.jsonl}\n"
        'doc_to_text: "{{ q }}"\ndoc_to_target: q\nrepeats: 16\ngeneration_kwargs: {until: []}\n'
    )
    (tmp_path / "r.jsonl").write_text('{"q": "1"}\n{"q": "2"}\n')
    here, there = pty.openpty()
    command = [sys.executable, "-m", "passband", "run", "t.yaml", "--model", "python:gated:answer"]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(
        [*command, "--out", "run", "--concurrency", "1"], cwd=tmp_path, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=there,
    ) as process:  # fmt: skip
        os.close(there)
        seen = read_terminal(here, until="under way")
        (tmp_path / "gate").write_bytes(b"")
        seen += read_terminal(here)
        os.close(here)
        assert process.stdout is not None
        out = process.stdout.read().decode()
    assert process.returncode == 0, seen
    assert "/32" in seen
    assert "under way" in seen
    assert "\x1b[" in seen
    assert "finished: 32/32 trials recorded (32 new)" in seen
    assert "\x1b" not in out
    assert out.startswith("metric")


def read_terminal(descriptor: int, until: str | None = None) -> str:
    """Read until a text has been shown, or without one until nobody holds the other end."""
    data, end = b"", time.monotonic() + 60.0
    while until is None or until.encode() not in data:
        if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
            pytest.fail(f"the terminal shows {data!r}, and then nothing")
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # nobody holds the other end any more
            break
        if not piece:
            break
        data += piece
    return data.decode(errors="replace")
