"""Exports of runs with different settings are not pooled."""

from __future__ import annotations

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.readers import read
from passband.readers.dataset import reader as dataset
from passband.trials.export import export
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from passband.trials.store import Store

pytest.importorskip("pyarrow")


def exported(folder: Path, out: Path, trials: range, **spec: object) -> None:
    """Record some trials with these settings, and export them."""
    store = Store(folder)
    run = store.begin("sums", "tiny", spec=spec, config={}, name="tiny")
    store.add_problems(run, [ProblemRow(0, "p", '{"messages":[],"targets":[]}')])
    (scorer,) = store.set_scorers(run, [ScorerEntry("exact_match", "1")])
    store.append(
        run,
        [TrialRow(0, t, "ok", "4", scores=[ScoreRow(scorer, 1.0, "ok", "4", "r")]) for t in trials],
    )
    store.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    with Trials(folder) as stored:
        export(stored, stored.runs(), "parquet", out)


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
