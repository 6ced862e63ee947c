"""A copy of a store that is in use: whole, checked, and one that a run can go on with."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.trials.file.schema import STORE_FILE, CorruptStore, EmptyStore
from passband.trials.file.writer import DiskNearlyFull
from passband.trials.repair.backup import backup_store
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, filled, read_back, writing

HERE = Path(__file__).parents[1]


def test_a_store_that_is_being_written(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, _ = begin(store)
        for trial in range(20):
            store.append(run, [TrialRow(0, trial, "ok", "text " * 500)])
        report = backup_store(tmp_path / "run", tmp_path / "deep" / "copy")
        assert (report.is_intact, report.rows["trial"]) == (True, 20)
        store.append(run, [TrialRow(0, 20, "ok", "later")])
    assert sorted(path.name for path in (tmp_path / "deep" / "copy").iterdir()) == [
        "lock",
        STORE_FILE,
    ]
    assert read_back(tmp_path / "deep" / "copy")[1] == read_back(tmp_path / "run")[1][:-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "run"]
    with writing(tmp_path / "deep" / "copy") as copy:
        assert begin(copy) == (1, [1])
        copy.append(1, [TrialRow(0, 20, "ok", "again")])
    (tmp_path / "deep" / "copy" / STORE_FILE).write_bytes(b"")
    with pytest.raises(CorruptStore, match="it is empty, although trials have been recorded"):
        Store(tmp_path / "deep" / "copy")


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "run", [[1, 0]])
    before = (tmp_path / "run" / STORE_FILE).read_bytes()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / STORE_FILE).touch()
    with pytest.raises(InvalidInput, match="exists already"):
        backup_store(tmp_path / "run", tmp_path / "run")
    with pytest.raises(InvalidInput, match="is not a run directory"):
        backup_store(tmp_path / "none", tmp_path / "new")
    with pytest.raises(EmptyStore):
        backup_store(tmp_path / "empty", tmp_path / "new")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=99))
    with pytest.raises(DiskNearlyFull, match="Nothing was written"):
        backup_store(tmp_path / "run", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "run"]
    assert (tmp_path / "run" / STORE_FILE).read_bytes() == before


def test_damage_is_not_copied(tmp_path: Path) -> None:
    filled(tmp_path / "run", [[1, 0]])
    with closing(sqlite3.connect(tmp_path / "run" / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE body SET text=x'00' WHERE trial=1")
    with pytest.raises(
        CorruptStore, match="not whole: a completion is not what was written: trial"
    ):
        backup_store(tmp_path / "run", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
