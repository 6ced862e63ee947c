"""The first line of a run, and Ctrl-C while everything is still being loaded."""

import io
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from passband.cli.progress_lines import close_opening, show_opening
from support.runs.commands import finish

SWALLOWS = """\
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except:
    pass
signal.pause()
def answer(prompt): return "1"
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal where errors go; not as a fixture, which pytest would undo."""
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_a_run_shows_itself_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    assert show_opening(["run", "arithmetic", "--model", "tiny"])
    close_opening()
    assert terminal.getvalue() == "starting ...\r\x1b[K"


@pytest.mark.parametrize(
    "arguments",
    [[], ["stats", "run"], ["run", "-q"], ["run", "t", "--json"], ["run", "--help"]],
)
def test_other_commands_show_nothing(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    terminal = watched(monkeypatch)
    assert not show_opening(arguments)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_to_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    assert not show_opening(["run", "t"])
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not show_opening(["run", "t"])


@pytest.mark.process
def test_it_is_the_first_thing_on_a_terminal() -> None:
    """Written before any verb is imported, and written over by what follows."""
    here, there = pty.openpty()
    command = [sys.executable, "-m", "passband", "run", "nowhere", "--model", "tiny"]
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(command, stderr=there, stdout=there, env=environment) as process:
        os.close(there)
        seen = b""
        while not seen.endswith(b"\x1b[K"):
            seen += os.read(here, 65536)
        os.close(here)
    assert process.returncode == 2
    assert seen.startswith(b"starting ...\rpassband: ")


@pytest.mark.process
def test_an_interrupt_that_an_import_swallows_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "swallows.py").write_text(SWALLOWS)
    done = finish("run", "arithmetic", "--model", "python:swallows:answer", "--out",
                  tmp_path / "run", PYTHONPATH=str(tmp_path))  # fmt: skip
    assert done.code == 128 + signal.SIGINT
    assert "Traceback" not in done.err
