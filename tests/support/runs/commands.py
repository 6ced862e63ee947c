"""The `passband` command, run inside the test or as a process of its own."""

from __future__ import annotations

import io
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from passband.cli import main
from support.sandboxes.canary import is_shown

# What most commands import, loaded once in the process that commands are forked from.
_LOADED = (
    "passband.cli.app",
    "passband.generate.servers.http",
    "passband.generate.tiny.provider",
    "passband.readers.tables.table",
    "passband.report.run",
    "passband.report.summary",
    "passband.run.study.build",
    "passband.run.request",
    "passband.run.session",
    "passband.summary.compare.compare",
    "passband.summary.from_run",
    "passband.summary.from_sources",
    "scipy.special",
)


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


def apart(*arguments: object, **variables: str) -> Done:
    """Run the command in a process of its own to its end, where how it starts is not the point."""
    return forked([*map(str, arguments)], Path.cwd(), os.environ | variables, 60)


def forked(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str], timeout: float
) -> Done:
    """Run the command in a fork of a process that has imported passband: a second less each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_LOADED])
    with TemporaryDirectory() as outputs:
        call = (list(arguments), folder, dict(variables), outputs)
        child = context.Process(target=_be_the_command, args=call)
        child.start()
        child.join(timeout)
        if child.exitcode is None:
            child.kill()
            raise subprocess.TimeoutExpired([*arguments], timeout)
        texts = [(Path(outputs) / name).read_bytes().decode() for name in ("out", "err")]
        return Done(child.exitcode, *texts)


def _be_the_command(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str], outputs: str
) -> None:
    """Run the command in this process, which is its own, and end with its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["passband", *arguments]
    for descriptor, name in ((1, "out"), (2, "err")):
        file = os.open(Path(outputs) / name, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(file, descriptor)
        os.close(file)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    try:
        main()
    finally:
        sys.stdout.flush()
