"""`passband view` from its start to Ctrl-C."""

import signal
import urllib.request
from pathlib import Path

import pytest

from passband.view.server.serving import redirect_file
from support.runs.commands import process, run
from support.samples.stores import filled


@pytest.mark.process
def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    filled(tmp_path / "runs" / "a", [[1, 0], [0, 1]])
    with process("view", tmp_path / "runs") as started:
        assert started.stdout is not None
        address = started.stdout.readline().decode().split()[-1]
        with urllib.request.urlopen(address) as answer:
            assert b"sums" in answer.read()
        with urllib.request.urlopen(f"{address}events"):  # open while it ends
            started.send_signal(signal.SIGINT)
            _, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, b"")


def test_a_source_that_does_not_exist_is_named(tmp_path: Path) -> None:
    done = run("view", tmp_path / "nothing")
    assert done.code == 2
    assert "nothing does not exist" in done.err


def test_the_browser_is_led_by_a_file_that_others_cannot_read() -> None:
    path = redirect_file("http://127.0.0.1:1/x&y/")
    try:
        assert path.stat().st_mode & 0o777 == 0o600
        assert "url=http://127.0.0.1:1/x&amp;y/" in path.read_text()
    finally:
        path.unlink()
