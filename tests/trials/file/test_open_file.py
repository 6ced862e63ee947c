"""A store that is deleted, moved, cut short or replaced while it is open."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from passband.trials.file.open_file import StoreLost
from passband.trials.file.schema import STORE_FILE
from passband.trials.repair.audit import audit_store
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, filled, read_back, writing


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "run", low_water=0)
    run, _ = begin(store)
    store.append(run, [TrialRow(0, trial, "ok", f"answer {trial}") for trial in range(5)])
    return store


def test_a_store_in_its_place_is_not_lost(store: Store) -> None:
    assert store.lost() is None
    store.append(1, [TrialRow(1, trial, "ok", "x" * 20_000) for trial in range(300)])
    assert store.lost() is None
    store.close()


def test_a_moved_store_takes_what_is_still_to_come(store: Store, tmp_path: Path) -> None:
    store.directory.rename(tmp_path / "elsewhere")
    lost = store.lost()
    assert lost is not None
    assert (lost.state, lost.where) == ("moved", tmp_path / "elsewhere" / STORE_FILE)
    assert f"--out {tmp_path / 'elsewhere'} to go on" in str(lost)
    store.append(1, [TrialRow(1, 0, "ok", "late")])
    assert store.saved(lost) is lost
    store.close()
    assert len(read_back(tmp_path / "elsewhere")[1]) == 6
    assert not store.directory.exists()


def deleted(directory: Path, tmp_path: Path) -> None:
    shutil.rmtree(directory)


def file_deleted(directory: Path, tmp_path: Path) -> None:
    (directory / STORE_FILE).unlink()


def replaced(directory: Path, tmp_path: Path) -> None:
    filled(tmp_path / "other", [[1, 0, 1]], model="other")
    (tmp_path / "other" / STORE_FILE).replace(directory / STORE_FILE)


@pytest.mark.parametrize("deed", [deleted, file_deleted, replaced])
def test_a_store_without_a_name_is_copied(
    store: Store, tmp_path: Path, deed: Callable[[Path, Path], None]
) -> None:
    deed(store.directory, tmp_path)
    lost = store.lost()
    assert lost is not None
    assert lost.state == ("replaced" if deed is replaced else "deleted")
    assert "is lost, unless there is a copy" in str(lost)
    store.append(1, [TrialRow(1, 0, "ok", "late")])
    error = store.saved(lost)
    store.close()
    assert f"--out {tmp_path / 'run.saved'} to go on" in str(error)
    assert audit_store(tmp_path / "run.saved").is_intact
    assert len(read_back(tmp_path / "run.saved")[1]) == 6
    with writing(tmp_path / "run.saved") as again:
        assert begin(again) == (1, [1])
    if deed is replaced:  # what is there now is whole, and has none of our log
        assert [row.text for row in read_back(store.directory)[1]] == [
            "The answer is 1.", "The answer is 0.", "The answer is 1.",
        ]  # fmt: skip


def test_a_copy_that_cannot_be_made_is_not_promised(store: Store, tmp_path: Path) -> None:
    (tmp_path / "run.saved").write_text("in the way")
    shutil.rmtree(store.directory)
    lost = store.lost()
    assert lost is not None
    assert store.saved(lost) is lost
    store.close()


@pytest.mark.parametrize("size", [0, 4096])
def test_a_store_cut_short_takes_nothing_more(store: Store, tmp_path: Path, size: int) -> None:
    path = store.directory / STORE_FILE
    with path.open("r+b") as file:
        file.truncate(size)
    lost = store.lost()
    assert lost is not None
    assert (lost.state, lost.is_writable) == ("truncated", False)
    with pytest.raises(StoreLost, match=r"was cut short by another program .* passband salvage"):
        store.append(1, [TrialRow(1, 0, "ok", "late")])
    store.close()  # which would bring the log into what is left
    assert path.stat().st_size == size
    assert (store.directory / f"{STORE_FILE}-wal").stat().st_size > 0


def test_a_store_that_another_overwrites_is_not_mixed_with_it(store: Store, tmp_path: Path) -> None:
    """As `cp` does: the same file with other contents."""
    filled(tmp_path / "other", [[1, 0] * 200], model="other")
    shutil.copyfile(tmp_path / "other" / STORE_FILE, store.directory / STORE_FILE)
    with pytest.raises(StoreLost, match="was overwritten by another program"):
        store.append(1, [TrialRow(1, 0, "ok", "late")])
    store.close()
    assert (store.directory / STORE_FILE).read_bytes() == (
        tmp_path / "other" / STORE_FILE
    ).read_bytes()


def test_a_checkpoint_by_another_program_is_no_loss(store: Store) -> None:
    store.begin_session(4)
    store.append(1, [TrialRow(2, 0, "ok", "later")])
    with closing(sqlite3.connect(store.directory / STORE_FILE)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    store.append(1, [TrialRow(1, 0, "ok", "late")])
    store.close()
    assert len(read_back(store.directory)[1]) == 7


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_log_that_is_deleted_is_noticed_and_nothing_is_lost(
    store: Store, is_replaced: bool
) -> None:
    """Commits go on into a log without a name, which would end with the process."""
    log = store.directory / f"{STORE_FILE}-wal"
    log.unlink()
    if is_replaced:
        log.touch()
    lost = store.lost()
    assert lost is not None
    assert (lost.state, lost.is_writable) == ("unlogged", True)
    assert "run the same command to go on" in str(store.saved(lost))
    store.append(1, [TrialRow(1, 0, "ok", "late")])
    store.close()
    assert audit_store(store.directory).is_intact
    assert len(read_back(store.directory)[1]) == 6
