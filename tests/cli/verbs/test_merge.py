"""`passband merge` from the outside."""

import json
from pathlib import Path

from support.runs.commands import run
from support.samples.stores import filled, read_back, shard, writing


def test_two_models_in_one_directory(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", [[1, 0]], model="a")
    two = filled(tmp_path / "two", [[1, 1]], model="b")
    done = run("merge", one, two, "-o", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"{tmp_path / 'out'}: 4 trials, 2 problems and 4 scores added; "
        f"0 trials were there already.\n"
    )
    for directory in (one, two, tmp_path / "out"):
        assert run("export", directory, "-o", directory / "x.jsonl").code == 0
    exported = (tmp_path / "out" / "x.jsonl").read_bytes()
    assert exported == (one / "x.jsonl").read_bytes() + (two / "x.jsonl").read_bytes()


def test_json(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", [[1, 0]])
    done = run("merge", one, one, "-o", tmp_path / "out", "--json")
    assert json.loads(done.out) == {
        "destination": str(tmp_path / "out"), "sources": 2, "runs": 1, "problems": 1,
        "trials": 2, "scores": 2, "trials_there": 2, "calls": 0, "replaced": 0, "missing": [],
        "warnings": [],
    }  # fmt: skip
    assert len(read_back(tmp_path / "out")[1]) == 2


def test_a_folder_of_shards_and_those_that_are_missing(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for index in (1, 3):
        shard(runs / f"shard-{index}", index, 4)
    done = run("merge", runs, "-o", runs / "all")
    assert done.code == 0
    assert done.err == "warning: sums by tiny: shards 2 and 4 of 4 are not merged yet\n"
    for index in (2, 4):
        shard(runs / f"shard-{index}", index, 4)
    done = run("merge", runs, "-o", runs / "all", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["sources"] == 4  # the destination is in the folder too


def test_a_shard_that_is_being_written(tmp_path: Path) -> None:
    shard(tmp_path / "one", 1, 1)
    with writing(tmp_path / "one"):
        done = run("merge", tmp_path / "one", "-o", tmp_path / "out")
        assert (done.code, done.out) == (5, "")
        assert "--partial" in done.err
        assert run("merge", tmp_path / "one", "-o", tmp_path / "out", "--partial").code == 0


def test_what_is_refused(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", [[1, 0]])
    other = filled(tmp_path / "other", [[0, 0]])
    done = run("merge", one, other, "-o", tmp_path / "out")
    assert (done.code, done.out) == (2, "")
    assert "trial 0 of problem 'p0' of sums is recorded twice" in done.err
    assert not (tmp_path / "out").exists()
    assert run("merge", one).code == 2
