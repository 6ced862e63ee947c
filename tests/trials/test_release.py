"""The run directory that 0.1.0 wrote is read, and goes on: the promise of its layout."""

from __future__ import annotations

import json
import lzma
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.trials.file.schema import STORE_FILE, VERSION
from passband.trials.reader import Trials
from passband.trials.repair.audit import audit_store
from passband.trials.repair.salvage import salvage_store
from passband.trials.store import Store
from support.runs.commands import run
from support.runs.first_release import STORED, command, counted, write_task
from support.servers.fault_server import FaultServer

SCORES = "11110000000011110110"  # by problem and trial
STATS = {
    "exact_match (first)": (0.4, 5), "pass@1": (0.5, 20), "pass@2": (17 / 30, 20),
    "pass@4": (0.6, 20), "pass^2": (13 / 30, 20), "pass^4": (0.4, 20),
}  # fmt: skip


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a copy of the run directory, and the task that it was asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / STORE_FILE).write_bytes(lzma.decompress(STORED.read_bytes()))
    write_task(tmp_path)
    return tmp_path / "run"


def test_stats_show_and_export(stored: Path) -> None:
    before = (stored / STORE_FILE).read_bytes()
    (group,) = json.loads(run("stats", "run", "--json").out)["groups"]
    lines = {line["metric"]: line["estimate"] for line in group["lines"]}
    assert lines.keys() == STATS.keys()
    for name, (value, trials) in STATS.items():
        assert lines[name]["value"] == pytest.approx(value, abs=1e-15)
        assert lines[name]["n_trials"] == trials
    first = run("show", "run", "--problem", 0, "--trial", 0, "--full").out
    assert "trial 0   right: 42 by regex" in first
    assert "40 tokens in, 9 out (32 cached, 6 reasoning)" in first
    assert "seed 1928774354" in first
    assert run("export", "run", "--format", "jsonl", "-o", "rows.jsonl").code == 0
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "task": "sums", "model": "release", "problem_id": "0", "trial": 0, "status": "ok",
        "score": 1.0, "score_status": "ok", "answer": "42", "rule": "regex", "target": "42",
        "cluster": None, "seed": 1928774354, "prompt_tokens": 40, "completion_tokens": 9,
        "completion": "Way 38530473: I add the two numbers. The answer is 42.",
        "reasoning": None, "finish_reason": None, "reasoning_tokens": 6, "cached_tokens": 32,
        "cost": 1.0300000000000001e-05,
    }  # fmt: skip
    assert [int(row["score"]) for row in rows] == [int(bit) for bit in SCORES]
    assert (stored / STORE_FILE).read_bytes() == before
    assert audit_store(stored).damage == []


def test_it_goes_on(stored: Path) -> None:
    """Another server is refused until it is said to be the same; what is there is not asked."""
    with FaultServer(counted) as server:
        hotter = command(server.url, "--moved-server", "--temperature", 0.5)
        for words in (command(server.url, "-n", 6), hotter):
            assert run(*words).code == 2
        assert server.requests == []
        assert run(*command(server.url, "-n", 6, "--moved-server")).code == 0
        assert len(server.requests) == 10
    with Trials(stored) as trials:
        number = trials.run().number
        assert trials.statuses(number) == {"ok": 30}
        assert trials.tokens(number) == (1200, 270)
        assert (trials.reasoning_tokens(number), trials.cached_tokens(number)) == (180, 960)
        assert trials.cost(number) == 0.000309


@pytest.mark.parametrize("version", [1, VERSION - 1])
def test_an_earlier_layout_is_refused(stored: Path, tmp_path: Path, version: int) -> None:
    """Where its tables are its own, salvaging refuses it too; else its number is damaged."""
    with closing(sqlite3.connect(stored / STORE_FILE)) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    words = rf"a passband before 0\.1\.0 \(layout {version}; this one knows {VERSION}\)"
    for opened in (Trials, Store):
        with pytest.raises(InvalidInput, match=words):
            opened(stored)
    done = run("stats", "run")
    assert done.code == 2
    assert re.search(words, done.err)
    salvage_store(stored, tmp_path / "saved")
    assert audit_store(tmp_path / "saved").rows["trial"] == 20
    with closing(sqlite3.connect(stored / STORE_FILE)) as connection:
        connection.execute("ALTER TABLE trial DROP COLUMN cached_tokens")
    with pytest.raises(InvalidInput, match=words):
        salvage_store(stored, tmp_path / "not")
    assert not (tmp_path / "not").exists()
