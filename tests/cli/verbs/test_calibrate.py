"""`passband calibrate`: runs in, a bank out that can be run."""

import json
import math
import random
from pathlib import Path

import pytest

from passband.adaptive.bank import read_bank
from support.runs.commands import run


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


@pytest.mark.slow
def test_a_table_of_responses_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(7).random
    rows = [
        f"m{m},p{p},0,{int(draw() < 1 / (1 + math.exp((p - m) / 6)))},What is {p}?,{p}"
        for m in range(30)
        for p in range(20)
    ]
    Path("resp.csv").write_text("model,problem,trial,score,prompt,target\n" + "\n".join(rows))
    done = run("calibrate", "resp.csv", "-o", "direct.jsonl")
    assert done.code == 0, done.err
    assert run("import", "resp.csv", "-o", "rd").code == 0
    assert run("calibrate", "rd", "-o", "stored.jsonl").code == 0
    direct, stored = (read_bank(f"{name}.jsonl").items for name in ("direct", "stored"))
    assert [item.key for item in direct] == [item.key for item in stored]
    assert direct[0].prompt == stored[0].prompt == f"What is {direct[0].key[1:]}?"
