"""Exports of runs with different settings are not pooled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.readers import read
from passband.readers.dataset import reader as dataset
from passband.trials.exports.export import export_trials
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from passband.trials.store import Store

pytest.importorskip("pyarrow")


def exported(
    folder: Path, out: Path, trials: range, config: Mapping[str, Any] | None = None, **spec: object
) -> None:
    """Record some trials with these settings, and export them."""
    store = Store(folder)
    run = store.begin("sums", "tiny", spec=spec, config=config or {}, name="tiny")
    store.add_problems(run, [ProblemRow(0, "p", '{"messages":[],"targets":[]}')])
    (scorer,) = store.set_scorers(run, [ScorerEntry("exact_match", "1")])
    store.append(
        run,
        [TrialRow(0, t, "ok", "4", scores=[ScoreRow(scorer, 1.0, "ok", "4", "r")]) for t in trials],
    )
    store.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    with Trials(folder) as stored:
        export_trials(stored, stored.runs(), "parquet", out)


@pytest.mark.parametrize("small", [dataset.SMALL, -1])
def test_other_settings_are_refused_unless_folders_set_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(dataset, "SMALL", small)
    for number, heat in enumerate((1.0, 0.5)):
        out = tmp_path / "set" / f"heat={heat}" / "part.parquet"
        own = range(2 * number, 2 * number + 2)
        exported(tmp_path / f"run-{heat}", out, own, sampling={"temperature": heat})
    message = r"temperature is 1\.0 here, 0\.5 there.*--by temperature"
    with pytest.raises(InvalidInput, match=message):
        read(tmp_path / "set")
    assert len(read(tmp_path / "set", by="heat").groups) == 2


def test_parts_of_one_run_are_one(tmp_path: Path) -> None:
    for number in range(2):
        out = tmp_path / "set" / f"{number}.parquet"
        own = range(2 * number, 2 * number + 2)
        addresses = [f"http://{number}/v1"]  # no setting
        exported(tmp_path / f"run-{number}", out, own, seed="s", addresses=addresses)
    assert read(tmp_path / "set").only().trials.tolist() == [4]


def shard(tmp_path: Path, index: int, of: int = 3) -> None:
    plan = {"shard": {"index": index, "of": of, "batch": 2}}
    own = range(2 * index, 2 * index + 2)
    exported(tmp_path / f"{index}", tmp_path / "set" / f"{index}.parquet", own, plan)


def test_missing_shards_are_named(tmp_path: Path) -> None:
    for index in (1, 3):
        shard(tmp_path, index)
    (remark,) = (one for one in read(tmp_path / "set").remarks if one.important)
    words = "sums by tiny is part of a run: shard 2 of 3 is not among these files"
    assert remark.text == words
    shard(tmp_path, 2)
    assert not any(one.important for one in read(tmp_path / "set").remarks)


def test_shards_of_different_plans_are_refused(tmp_path: Path) -> None:
    shard(tmp_path, 1)
    shard(tmp_path, 2, of=4)
    with pytest.raises(InvalidInput, match="not a shard of the same run"):
        read(tmp_path / "set")


def test_an_export_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    for name in "ab":
        exported(tmp_path / name, tmp_path / "set" / f"{name}.parquet", range(2))
    with pytest.raises(InvalidInput, match=r"row 3 repeats trial \(p, 0\)"):
        read(tmp_path / "set")
