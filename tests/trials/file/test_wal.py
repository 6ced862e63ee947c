"""A bit that flips in the log of a store: the commits after it are missed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from passband.trials.file import wal
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.file.wal import is_log_damaged
from passband.trials.reader import Trials
from passband.trials.repair.audit import audit_store
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, read_back, writing

LOG = f"{STORE_FILE}-wal"
FRAME = 24 + 4096


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as a killed process leaves it, most of it in the log."""
    folder = tmp_path_factory.mktemp("log")
    with writing(folder / "run") as store:
        run, _ = begin(store)
        for trial in range(8):
            store.append(run, [TrialRow(0, trial, "ok", "x" * 5_000)])
        shutil.copytree(folder / "run", folder / "killed")
    (folder / "killed" / f"{STORE_FILE}-shm").unlink()
    return folder / "killed"


@pytest.fixture(autouse=True, params=[1_000, 3], ids=["at once", "in blocks"])
def together(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are read whole, or a few frames at a time."""
    monkeypatch.setattr(wal, "_TOGETHER", request.param)


def changed(killed: Path, new: Path, position: int, bit: int = 0) -> Path:
    shutil.copytree(killed, new)
    data = bytearray((new / LOG).read_bytes())
    data[position] ^= 1 << bit
    (new / LOG).write_bytes(data)
    return new


def test_a_whole_log_is_read(killed: Path, tmp_path: Path) -> None:
    assert not is_log_damaged(killed / STORE_FILE)
    shutil.copytree(killed, tmp_path / "new")
    assert len(read_back(tmp_path / "new")[1]) == 8


@pytest.mark.parametrize("position", [0, 6, 17, 26, 32, 36, 41, 50, 60, 32 + FRAME + 4, 9 * FRAME])
def test_a_flipped_bit_is_missed(killed: Path, tmp_path: Path, position: int) -> None:
    bad = changed(killed, tmp_path / "bad", position, bit=3)
    assert is_log_damaged(bad / STORE_FILE)
    for open_it in (Trials, Store):
        with pytest.raises(CorruptStore, match="its log is not what was written"):
            open_it(bad)
    assert "its log is not what was written" in audit_store(bad).damage[0]


def test_a_log_that_was_cut_off_is_read_up_to_there(killed: Path, tmp_path: Path) -> None:
    """That is what a power cut leaves: the last commit is there, or not."""
    data = (killed / LOG).read_bytes()
    for size in range(0, len(data), 3 * FRAME + 777):
        shutil.copytree(killed, tmp_path / str(size))
        (tmp_path / str(size) / LOG).write_bytes(data[:size])
        assert not is_log_damaged(tmp_path / str(size) / STORE_FILE)
    shutil.copytree(killed, tmp_path / "torn")
    (tmp_path / "torn" / LOG).write_bytes(data[:-3000] + bytes(3000))
    assert not is_log_damaged(tmp_path / "torn" / STORE_FILE)
    assert len(read_back(tmp_path / "torn")[1]) == 7


def test_a_log_that_began_again_is_whole(tmp_path: Path) -> None:
    """Behind its end are frames of the time before."""
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, trial, "ok", "x" * 5_000) for trial in range(9)])
        store.checkpoint()
        for trial in range(9, 12):
            store.append(run, [TrialRow(0, trial, "ok", "y")])
            assert not is_log_damaged(tmp_path / STORE_FILE)
