"""`passband calibrate`: runs in, a bank out that can be run."""

import json
from pathlib import Path

import pytest

from commands import run
from passband.adaptive.bank import read_bank


@pytest.mark.slow
def test_runs_become_a_bank_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runs = []
    for temperature in (0.5, 1.0, 2.0):
        runs.append(f"runs/t{temperature}")
        words = ("--limit", 20, "-n", 3, "--temperature", temperature, "--out", runs[-1])
        assert run("run", "arithmetic", "--model", "tiny", *words).code == 0
    done = run("calibrate", *runs, "-o", "banks/mine.jsonl", "--content", "level")
    assert done.code == 0, done.err
    assert "3 respondents" in done.err
    assert "calibrated on 3 models" in done.err
    assert "dropped" in done.err
    bank = read_bank("banks/mine.jsonl")
    assert bank.provenance["names"][0] == "tiny (t0.5)"
    assert bank.sampling["max_tokens"] == 24
    again = run("calibrate", *runs, "-o", "banks/other.parquet", "--model", "1pl", "--json")
    told = json.loads(again.out)
    assert told["model"] == "1pl"
    assert len(told["respondents"]) == 3
    test = run("run", "mine:adaptive", "--model", "tiny", "--max-items", 5, "--out", "test")
    assert test.code == 0, test.err
    assert "bank accuracy" in test.out
    # The adaptive run is a respondent as well: what it was not asked is missing.
    assert run("calibrate", *runs, "test", "-o", "x.jsonl", "--task", "arithmetic").code == 2
    refused = run("calibrate", *runs, "test", "-o", "x.jsonl")
    assert "a bank is of one task" in refused.err


def test_what_cannot_be_calibrated_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"model": m, "problem": p, "score": (m + p) % 2} for m in range(4) for p in range(5)]
    Path("trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("calibrate", "trials.jsonl", "-o", "bank.jsonl")
    assert done.code == 2
    assert "has no prompt" in done.err or "dropped" in done.err or "left to calibrate" in done.err
    assert not Path("bank.jsonl").exists()
    done = run("calibrate", "trials.jsonl", "-o", "bank.csv")
    assert done.code == 2
