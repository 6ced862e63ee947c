"""The log of a store stays short, also while another process reads."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from passband.trials.file import writer
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, read_back, writing

LONG = 1_000_000
COMMIT = 260_000  # bytes of the log


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_LONG_LOG", LONG)
    monkeypatch.setattr(writer, "_GAP", 1)


def sizes(
    store: Store, trials: range, before: Callable[[int], object] = lambda trial: None
) -> list[int]:
    """The sizes of the log, commit by commit."""
    found = []
    for trial in trials:
        before(trial)
        text = random.Random(trial).randbytes(170_000).decode("latin-1")  # nothing to compress
        store.append(1, [TrialRow(0, trial, "ok", text)])
        found.append((store.directory / f"{STORE_FILE}-wal").stat().st_size)
    return found


READING = """
import sys
from pathlib import Path
from passband.trials.reader import Trials
with Trials(Path(sys.argv[1])) as trials:
    for line in sys.stdin:
        if line == "read\\n":
            (run,) = trials.runs()
            print(trials.statuses(run.number).get("ok", 0), flush=True)
        else:
            trials.refresh()
            print("refreshed", flush=True)
"""


@pytest.mark.process
def test_a_process_that_refreshes_does_not_make_the_log_grow(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        begin(store)
        command = [sys.executable, "-c", READING, str(tmp_path)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None

            def turn(trial: int) -> None:
                if trial % 2 == 0 and reader.stdin and reader.stdout:
                    word = "read" if trial % 4 == 0 else "refresh"
                    print(word, file=reader.stdin, flush=True)
                    answer = reader.stdout.readline()
                    assert answer == (f"{trial}\n" if word == "read" else "refreshed\n")

            found = sizes(store, range(50), turn)
            reader.stdin.close()
            assert reader.wait() == 0
    assert max(found) < 5 * LONG < 50 * COMMIT


def test_the_log_shrinks_when_a_reader_that_stayed_is_gone(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        begin(store)
        with Trials(tmp_path) as trials:
            assert trials.runs()
            assert max(sizes(store, range(16))) > 3 * LONG
            assert trials.recorded(1) == {}
        assert min(sizes(store, range(16, 24))) < LONG + COMMIT
    assert len(read_back(tmp_path)[1]) == 24
