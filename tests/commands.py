"""The `passband` command, run inside the test or as a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from canary import is_shown
from passband.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def __post_init__(self) -> None:
        assert not is_shown(self.out, self.err), "the key of the environment was printed"


def run(*arguments: object) -> Done:
    """Run the command in this process; an exception that it lets through fails the test."""
    out, err = io.StringIO(), io.StringIO()
    words = ["passband", *map(str, arguments)]
    with patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    return Done(code, out.getvalue(), err.getvalue())


def process(*arguments: object, **variables: str) -> subprocess.Popen[bytes]:
    """Start the command as a process, its output in pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "passband", *map(str, arguments)],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(*arguments: object, **variables: str) -> Done:
    """Run the command as a process to its end."""
    with process(*arguments, **variables) as started:
        out, err = started.communicate(timeout=60)
        return Done(started.returncode, out.decode(), err.decode())
