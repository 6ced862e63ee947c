"""The watch that every test is under: it finds the key where it must not be."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.runs.commands import Done
from support.sandboxes import canary


def test_a_file_with_the_key_is_found(tmp_path: Path) -> None:
    with canary.planted():
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "clean.txt").write_text("nothing")
        os.mkfifo(tmp_path / "a" / "pipe")
        assert canary.files_with_key(tmp_path) == []
        (tmp_path / "a" / "leak.bin").write_bytes(b"\0" + canary.canary().encode())
        assert canary.files_with_key(tmp_path) == [tmp_path / "a" / "leak.bin"]


def test_output_with_the_key_is_found() -> None:
    with pytest.raises(AssertionError, match="was printed"):
        Done(0, "", f"error: {canary.canary()}")
    assert canary.is_shown("", canary.canary()[3:])
    assert not canary.is_shown("", canary.canary()[:9])


@pytest.mark.process
def test_a_process_of_passband_with_the_key_is_found() -> None:
    module = ModuleType("passband.hostile")
    code = "def start(**options): subprocess.run([sys.executable, '-c', ''], check=True, **options)"
    vars(module).update(subprocess=subprocess, sys=sys)
    exec(code, vars(module))
    with pytest.raises(AssertionError, match=r"a process of passband\.hostile would get the key"):
        module.start()
    module.start(env={"PATH": os.environ["PATH"]})
    subprocess.run([sys.executable, "-c", ""], check=True)  # of a test, as the command is


def test_the_key_is_planted_for_every_test() -> None:
    assert canary.canary().startswith("sk-canary-")
    assert os.environ["PASSBAND_CANARY_KEY"] == canary.canary()
