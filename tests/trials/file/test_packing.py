"""The second copies of runs and scorers: written with them, deleted with them, salvaged from."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.reader import Trials
from passband.trials.repair.salvage import salvage_store
from support.samples.stores import begin, filled, writing


def copies(directory: Path) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        return connection.execute("SELECT name, number FROM spare ORDER BY 1, 2").fetchall()


def test_they_come_and_go_with_their_rows(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        begin(store, scorers=[("one", "1"), ("two", "1")], model="wrong")
    assert copies(tmp_path) == [("run", 1), ("scorer", 1), ("scorer", 2)]
    with writing(tmp_path) as store:
        begin(store, model="right")  # a run without trials is forgotten
    assert copies(tmp_path) == [("run", 1), ("scorer", 1)]


@pytest.mark.parametrize("table", ["run", "scorer"])
@pytest.mark.parametrize("how", ["flipped", "page"])
def test_a_lost_run_or_scorer_is_salvaged(tmp_path: Path, table: str, how: str) -> None:
    directory = filled(tmp_path / "run", [[1, 0, 1], [0, 0, 1]])
    with Trials(directory) as trials:
        expected = trials.runs(), list(trials.trials(trials.run()))
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        query = f"SELECT rootpage FROM sqlite_master WHERE name='{table}'"
        start = 4096 * (connection.execute(query).fetchone()[0] - 1)
    data = bytearray((directory / STORE_FILE).read_bytes())
    if how == "page":
        data[start : start + 4096] = bytes(4096)
    else:
        data[start + 4090] ^= 1
    (directory / STORE_FILE).write_bytes(data)
    with pytest.raises(CorruptStore), Trials(directory) as trials:
        trials.runs()
    salvage_store(directory, tmp_path / "new")
    with Trials(tmp_path / "new") as trials:
        assert (trials.runs(), list(trials.trials(trials.run()))) == expected
