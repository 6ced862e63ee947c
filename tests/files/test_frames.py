"""Data frames of trials and of summaries: the rows of an export, and a row for each line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from passband import InvalidInput, Trials, summarize
from passband.trials.exports.export import export_trials
from passband.trials.rows import ScoreRow, TrialRow
from support.samples.stores import begin, filled, writing


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Two scorers, statuses, a half character, and empty cells in every column that allows them."""
    with writing(tmp_path / "run") as store:
        run, (exact, close) = begin(store, scorers=[("exact", "1"), ("close", "1")])
        store.append(
            run,
            [
                TrialRow(0, 0, "ok", "half \ud800", seed=-7, prompt_tokens=5,
                         scores=[ScoreRow(exact, 1.0, answer="4"), ScoreRow(close, 0.25)]),
                TrialRow(0, 1, "gave_up"),
                TrialRow(1, 0, "ok", "é", scores=[ScoreRow(exact, 0.0)]),
            ],
        )  # fmt: skip
    return tmp_path / "run"


def test_trials_are_the_rows_of_an_export(mixed: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "out.parquet"
    with Trials(mixed) as trials:
        export_trials(trials, trials.runs(), "parquet", path)
        arrow, pandas, polars = trials.to_arrow(), trials.to_pandas(), trials.to_polars()
    assert arrow.equals(parquet.read_table(path))
    assert polars.to_dicts() == arrow.to_pylist()
    assert list(pandas.columns) == arrow.column_names
    assert pandas["score"].tolist()[0] == 1.0
    assert pandas["score"].isna().tolist() == [False, True, False]
    assert pandas["seed"].dropna().tolist() == [-7]
    assert pandas["completion"].tolist() == ["half \\ud800", None, "é"]


def test_frames_can_be_read_back(mixed: Path) -> None:
    with Trials(mixed) as trials:
        frames = [trials.to_arrow(), trials.to_pandas(), trials.to_polars()]
        expected = summarize(mixed, "pass@1").estimate("pass@1")
    for frame in frames:
        assert summarize(frame, "pass@1").estimate("pass@1").value == expected.value


def test_summaries_have_a_row_for_each_line(tmp_path: Path) -> None:
    table = {"model": ["M", "M", "N", "N"], "problem": list("abab"), "score": [1, 0, 1, 1]}
    summary = summarize(table, ["pass@1", "pass@9"])
    for rows in (summary.to_arrow().to_pylist(), summary.to_polars().to_dicts()):
        assert [(row["model"], row["metric"], row["value"]) for row in rows] == [
            ("M", "pass@1", 0.5), ("M", "pass@9", None),
            ("N", "pass@1", 1.0), ("N", "pass@9", None),
        ]  # fmt: skip
        assert "pass@9" in rows[1]["reason"]
        assert (rows[0]["n_problems"], rows[0]["reason"]) == (2, None)
    frame = summary.to_pandas()
    assert frame["value"].dropna().tolist() == [0.5, 1.0]
    assert frame["low"].dtype == "Float64"


def test_a_run_directory_without_scores(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, _ = begin(store, scorers=[])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
    with Trials(tmp_path / "run") as trials:
        assert trials.to_arrow().num_rows == 1
        assert trials.to_polars()["score"].to_list() == [None]


@pytest.mark.parametrize(
    ("name", "package"),
    [("arrow", "'passband\\[parquet\\]'"), ("pandas", "pandas"), ("polars", "polars")],
)
def test_the_package_that_is_missing_is_named(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow" if name == "arrow" else name, None)
    summary = summarize(filled(tmp_path / "run", [[1, 0]]))
    with pytest.raises(InvalidInput, match=f"pip install {package}"):
        getattr(summary, f"to_{name}")()
