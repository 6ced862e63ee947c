"""The calls to judges as a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.trials.exports.judge_calls import export_calls
from passband.trials.reader import Trials
from support.runs.commands import run
from support.samples.stores import call, entries, filled, judged, writing


def exported(directory: Path, form: str = "jsonl", **options: bool) -> bytes:
    file = io.BytesIO()
    with Trials(directory) as trials:
        export_calls(trials, trials.runs(), form, file, **options)
    return file.getvalue()


def test_one_row_per_call(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in exported(judged(tmp_path / "run")).splitlines()]
    assert rows[0] == {
        "task": "sums", "model": "tiny", "scorer": "exact", "problem_id": "p0", "trial": 0,
        "vote": 0, "swapped": 0, "attempt": 1, "status": "ok", "verdict": 1.0, "cached": 0,
        "prompt_tokens": 50, "completion_tokens": 9, "cost": 0.25, "seed": 0,
        "reply": "It is right, 0.\nVERDICT: PASS", "failure": None, "http": None, "detail": None,
        "key": b"1 0 0 0".hex(),
    }  # fmt: skip
    places = [(row["problem_id"], row["trial"], row["swapped"], row["attempt"]) for row in rows]
    assert places == [
        ("p0", 0, 0, 1), ("p0", 0, 1, 1), ("p0", 1, 0, 1), ("p0", 1, 0, 2), ("p1", 0, 0, 1),
    ]  # fmt: skip
    assert [row["status"] for row in rows] == ["ok", "ok", "failed", "no_verdict", "ok"]
    assert [row["cached"] for row in rows] == [0, 0, 0, 0, 1]
    assert sum(row["cost"] or 0 for row in rows) == 0.75


def test_what_took_how_long_is_asked_for(tmp_path: Path) -> None:
    directory = judged(tmp_path / "run")
    assert b"latency_ms" not in exported(directory)
    assert json.loads(exported(directory, timing=True).splitlines()[0])["latency_ms"] == 80


def test_scorers_that_are_no_longer_used_are_there(tmp_path: Path) -> None:
    directory = judged(tmp_path / "run")
    with writing(directory) as store:
        store.set_scorers(1, entries([("exact", "2")]))
        store.add_calls([call(2, 1, 1)])
    rows = [json.loads(line) for line in exported(directory).splitlines()]
    assert [row["trial"] for row in rows] == [1, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables(tmp_path: Path, form: str) -> None:
    data = exported(judged(tmp_path / "run"), form, timing=True)
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(data.decode())))
        assert [row["cost"] for row in rows] == ["0.25", "0.25", "", "0.25", ""]
        return
    table = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(data))
    assert table["cost"].to_pylist() == [0.25, 0.25, None, 0.25, None]
    assert table["at_ms"].to_pylist() == [1000] * 5


def test_from_the_command(tmp_path: Path) -> None:
    directory = judged(tmp_path / "run")
    done = run("export", directory, "--calls", "-o", tmp_path / "calls.jsonl")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "calls.jsonl").read_bytes() == exported(directory)
    done = run("export", directory, "--calls", "--with", "prompt", "-o", tmp_path / "x.csv")
    assert done.code == 2
    assert "--calls has its own columns" in done.err
    done = run("export", directory, "--calls", "--format", "lm-eval", "-o", tmp_path / "x.json")
    assert "calls are written as jsonl, csv, parquet; got lm-eval" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.jsonl", "run"]


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.csv"])
def test_votes_are_not_taken_for_trials(tmp_path: Path, name: str) -> None:
    directory = judged(tmp_path / "run")
    run("export", directory, "--calls", "-o", tmp_path / name)
    done = run("stats", tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert "score" in done.err


def test_without_judges_it_is_empty(tmp_path: Path) -> None:
    assert exported(filled(tmp_path / "run", [[1, 0]])) == b""
    with Trials(tmp_path / "run") as trials, pytest.raises(InvalidInput, match="calls are written"):
        export_calls(trials, trials.runs(), "eval", io.BytesIO())
