"""One writer at a time, and no lock that outlives its holder."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from passband.trials.file.lock import Busy, Lock, holder

pytestmark = pytest.mark.process

HOLDING = """
import signal, sys
from pathlib import Path
from passband.trials.file.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("locked", flush=True)
signal.pause()
"""


@contextmanager
def another_process(directory: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the lock until it is killed."""
    command = [sys.executable, "-c", HOLDING, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield process
        finally:
            process.kill()


def test_the_second_process_is_told_who_was_first(tmp_path: Path) -> None:
    with another_process(tmp_path) as first:
        with pytest.raises(Busy, match=f"in use by process {first.pid} on .") as caught:
            Lock(tmp_path)
        assert caught.value.exit_code == 5
        assert str(tmp_path) in str(caught.value)
        assert f"process {first.pid}" in str(holder(tmp_path))


def test_a_lock_does_not_outlive_its_holder(tmp_path: Path) -> None:
    with another_process(tmp_path) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert holder(tmp_path) is None
        lock = Lock(tmp_path)
    with pytest.raises(Busy):
        Lock(tmp_path)
    lock.release()
    Lock(tmp_path).release()


def test_a_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        Lock(tmp_path).release()
        child.kill()


def test_a_holder_that_has_not_said_its_name(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    for text in ("", "[]", "{}", "\0", json.dumps({"pid": 1})):
        (tmp_path / "lock").write_text(text)
        with pytest.raises(Busy, match="in use by another process"):
            Lock(tmp_path)
        assert holder(tmp_path) == "another process"
    lock.release()


def test_asking_for_the_holder_changes_nothing(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
