"""Trials as a data set: the same numbers as the run, the same bytes each time, whole or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.summary.from_sources import summarize
from passband.trials.exports import parquet_parts as module
from passband.trials.exports.parquet_parts import export_parts
from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow, TrialRow
from support.samples.stores import begin, writing

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with writing(tmp_path / "run") as store:
        number, _ = begin(store, scorers=[("main", "1")])
        store.append(
            number,
            [
                TrialRow(at, trial, "ok", "text", scores=[ScoreRow(1, float(trial % 2))])
                if (at, trial) != (1, 0)
                else TrialRow(at, trial, "errored", None)
                for at in range(3)
                for trial in range(4)
            ],
        )
    return tmp_path / "run"


def written(run: Path, folder: Path, rows: int) -> dict[str, bytes]:
    with pytest.MonkeyPatch.context() as patch, Trials(run) as trials:
        patch.setattr(module, "LEAST_ROWS", 1)
        export_parts(trials, trials.runs(), folder, rows_per_file=rows)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_rows_are_spread_over_files_in_order(run: Path, tmp_path: Path) -> None:
    files = written(run, tmp_path / "out", 5)
    assert list(files) == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    rows = [pq.read_metadata(tmp_path / "out" / name).num_rows for name in files]
    assert rows == [5, 5, 2]
    assert files == written(run, tmp_path / "again", 5)


@pytest.mark.parametrize("large", [False, True])
def test_statistics_are_those_of_the_run(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    written(run, tmp_path / "out", 5)
    if large:
        monkeypatch.setattr("passband.readers.dataset.reader.SMALL", -1)
    of_run = summarize(run, "pass@2").groups[0]
    for source in (tmp_path / "out", str(tmp_path / "out" / "*.parquet")):
        of_set = summarize(source, "pass@2").groups[0]
        estimates = [group.lines[0].estimate for group in (of_set, of_run)]
        # The rows of the run say more of its answers than its scores do.
        assert len({None if one is None else replace(one, notes=()) for one in estimates}) == 1
        assert of_set.task == of_run.task


def test_a_folder_that_is_not_empty_is_refused(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert written(run, tmp_path / "out", 50)
    with pytest.raises(InvalidInput, match="not empty"):
        written(run, tmp_path / "out", 50)


def test_small_files_are_refused(run: Path, tmp_path: Path) -> None:
    with Trials(run) as trials, pytest.raises(InvalidInput, match="at least 100,000 rows"):
        export_parts(trials, trials.runs(), tmp_path / "out", rows_per_file=5)


def test_a_failure_leaves_nothing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object, chunk_rows: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(module, "write_parquet", failing)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(OSError, match="no space"):
        written(run, tmp_path / "out", 5)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
