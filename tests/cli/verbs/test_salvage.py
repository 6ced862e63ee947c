"""`passband salvage` from the outside."""

import json
from pathlib import Path

from passband.trials.file.schema import STORE_FILE
from support.runs.commands import run
from support.samples.stores import filled, read_back


def damaged(directory: Path) -> Path:
    filled(directory, [[1, 0] * 100] * 20)
    path = directory / STORE_FILE
    data = bytearray(path.read_bytes())
    start = 2 * len(data) // 3 // 4096 * 4096
    data[start : start + 4096] = b"\xaa" * 4096
    path.write_bytes(data)
    return directory


def test_a_damaged_run_names_its_own_remedy(tmp_path: Path) -> None:
    bad = damaged(tmp_path / "bad run")
    before = (bad / STORE_FILE).read_bytes()
    for verb in ("stats", "export", "score"):
        done = run(verb, bad)
        assert done.code == 1
        assert f"passband salvage '{bad}' NEW copies what can still be read" in done.err
    done = run("salvage", bad, tmp_path / "new")
    assert done.code == 0
    head, _, *rows = done.out.splitlines()
    assert head.split() == ["what", "rescued", "left", "out"]
    found = {row[:15].strip(): row[15:].split() for row in rows}
    assert found["tasks"] == ["1", "0"]
    assert found["problems"] == ["20", "0"]
    assert int(found["trials"][0]) == len(read_back(tmp_path / "new")[1])
    assert 2_000 < int(found["trials"][0]) <= 4_000
    assert f"--out {tmp_path / 'new'}" in done.err
    assert (bad / STORE_FILE).read_bytes() == before
    assert run("stats", tmp_path / "new").code == 0


def test_json(tmp_path: Path) -> None:
    done = run("salvage", filled(tmp_path / "run", [[1, 0]]), tmp_path / "new", "--json")
    assert done.err == ""
    assert json.loads(done.out) == {
        "rows": {"run": 1, "session": 0, "source": 0, "scorer": 1, "problem": 1, "trial": 2,
                 "body": 2, "score": 2, "attempt": 0, "call": 0},
        "incomplete": {},
        "restored": 0,
    }  # fmt: skip


def test_what_is_refused(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1]])
    for old, new in ((tmp_path / "none", tmp_path / "new"), (directory, directory)):
        done = run("salvage", old, new)
        assert (done.code, done.out) == (2, "")
        assert done.err.count("\n") == 1
