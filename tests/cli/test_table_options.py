"""The table of a run and of `stats`: on a terminal, in a pipe, long and wide."""

import fcntl
import os
import pty
import struct
import sys
import termios
from pathlib import Path

import pytest

from support.runs.commands import run
from support.samples.stores import filled

MATRIX = [[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]] * 3


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    filled(tmp_path / "run", MATRIX)
    return tmp_path / "run"


def on_terminal(columns: int, *words: str) -> str:
    """What a command prints to a terminal of so many columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "passband", *words]
    actions = [(os.POSIX_SPAWN_DUP2, child, 1), (os.POSIX_SPAWN_CLOSE, parent)]
    process = os.posix_spawn(command[0], command, {**kept, "PYTHONUTF8": "1"}, file_actions=actions)
    os.close(child)
    text = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(parent)
    assert os.waitpid(process, 0)[1] == 0
    return text.decode().replace("\r\n", "\n")


@pytest.mark.process
def test_a_wide_terminal_has_bars_and_a_narrow_one_and_a_pipe_have_none(stored: Path) -> None:
    plain = run("stats", stored, "-q").out
    assert on_terminal(99, "stats", str(stored), "-q") == plain
    drawn = on_terminal(120, "stats", str(stored), "-q").splitlines()
    assert all(map(str.startswith, drawn, plain.splitlines()))
    assert max(map(len, drawn)) <= 120
    assert all("●" in line for line in drawn[2:-1])
    assert drawn[-1].startswith("problems")
    assert drawn[-1].endswith("3 always, 6 sometimes, 3 never right")


def test_formats_of_the_wide_table(stored: Path) -> None:
    ask = ("stats", stored, "-q", "-m", "pass@1,4", "--layout", "wide", "--percent", "--digits", 1)
    assert run(*ask).out.splitlines()[2].split()[1] == "50.0"
    assert run(*ask, "--format", "markdown").out.splitlines()[2].count("|") == 6
    assert "50.0 [" in run(*ask, "--format", "latex").out
    head, row = run(*ask, "--format", "csv").out.splitlines()
    assert head.startswith("model,pass@1,pass@1 low,pass@1 high,pass@4,")
    assert row.split(",")[1] == "50.0"


@pytest.mark.parametrize("digits", ["-1", "13", "x"])
def test_impossible_digits_are_refused(stored: Path, digits: str) -> None:
    assert run("stats", stored, "--digits", digits).code == 2
