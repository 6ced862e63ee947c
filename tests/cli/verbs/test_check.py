"""`passband check` from the outside."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from passband.trials.file.schema import STORE_FILE
from support.runs.commands import run
from support.samples.stores import filled


def test_whole_and_damaged_runs(tmp_path: Path) -> None:
    good = filled(tmp_path / "good", [[1, 0], [1, 1]])
    bad = filled(tmp_path / "bad run", [[1, 0], [1, 1]])
    done = run("check", good)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"{good}: 4 trials, 4 completions, 4 scores, 1 scorer, 2 problems, 0 failed attempts: "
        f"all as written.\n"
    )
    with closing(sqlite3.connect(bad / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE score SET value=0 WHERE value=1")
    done = run("check", good, bad)
    assert done.code == 1
    first, head, *rows, last = done.out.splitlines()
    assert "all as written" in first
    assert head.endswith("; DAMAGED:")
    assert rows[0] == ("  a row of score is not what was written: trial 0 of problem 'p0' of sums")
    assert len(rows) == 3
    assert last == f"passband salvage '{bad}' NEW copies what can be read."


def test_json(tmp_path: Path) -> None:
    done = run("check", filled(tmp_path / "run", [[1, 0]]), "--json")
    (report,) = json.loads(done.out)
    assert (done.code, report["is_intact"], report["damage"]) == (0, True, [])
    assert report["rows"]["trial"] == 2


def test_long_reports_end(tmp_path: Path) -> None:
    bad = filled(tmp_path / "run", [[1, 0] * 60])
    with closing(sqlite3.connect(bad / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE body SET text=x'00'")
    lines = run("check", bad).out.splitlines()
    assert len(lines) == 103
    assert lines[-2] == "  and 20 more; --json names them all"


def test_what_is_no_run(tmp_path: Path) -> None:
    done = run("check", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "is not a run directory" in done.err
