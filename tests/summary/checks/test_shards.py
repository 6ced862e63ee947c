"""A part of a run says so, wherever its numbers are shown."""

from pathlib import Path

import pytest

from passband.trials.reader import Trials
from support.runs.commands import run


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    places = [tmp_path / f"part-{index}" for index in (1, 2, 3)]
    for index, place in enumerate(places, start=1):
        words = ("run", "arithmetic", "--model", "tiny", "-n", 2, "--limit", 9, "--batch", 1)
        assert run(*words, "--shard", f"{index}/3", "--out", place, "-q").code == 0
    return places


def test_a_part_of_a_run_is_called_one(parts: list[Path], tmp_path: Path) -> None:
    done = run("stats", parts[1], "-q")
    assert "warning: this is shard 2/3 of a run, not the run; merge all 3" in done.err
    merged = run("merge", *parts[:2], "-o", tmp_path / "run")
    assert "shard 3 of 3 is not merged yet" in merged.err
    shown = run("stats", tmp_path / "run", "-q").err
    assert "this is part of a run: shard 3 of 3 is not merged yet" in shown
    assert '"shards-missing"' in run("stats", tmp_path / "run", "--json").out
    assert run("merge", parts[2], "-o", tmp_path / "run").code == 0
    assert "part of a run" not in run("stats", tmp_path / "run", "-q").err


def test_the_only_shard_is_the_run(tmp_path: Path) -> None:
    words = ("run", "arithmetic", "--model", "tiny", "-n", 2, "--limit", 3, "--shard", "1/1")
    done = run(*words, "--out", tmp_path / "part", "-q")
    assert (done.code, "warning" in done.err) == (0, False)


def test_shards_that_wait_for_the_run_that_was_cut_off_are_named(
    parts: list[Path], tmp_path: Path
) -> None:
    whole = tmp_path / "run"
    assert run("merge", parts[0], "-o", whole).code == 0
    (whole / "shards").mkdir()
    for index in (2, 3):
        parts[index - 1].rename(whole / "shards" / f"{index}-of-3")
    assert "2 shards are not merged yet, and not counted" in run("stats", whole, "-q").err
    again = run("run", "arithmetic", "--model", "tiny", "-n", 2, "--limit", 9, "--batch", 1,
                "--out", whole, "-q")  # fmt: skip
    assert (again.code, (whole / "shards").exists()) == (0, False)
    assert "merging 2 shards of an earlier run that was cut off" in again.err
    assert "not merged yet" not in run("stats", whole, "-q").err


def test_a_shard_that_has_grown_waits_for_the_others(parts: list[Path], tmp_path: Path) -> None:
    whole = tmp_path / "run"
    assert run("merge", *parts, "-o", whole).err == ""
    words = ("run", "arithmetic", "--model", "tiny", "-n", 4, "--limit", 12, "--batch", 1, "-q")
    for index, missing in ((2, "shards 1 and 3 of 3 are"), (1, "shard 3 of 3 is")):
        assert run(*words, "--shard", f"{index}/3", "--out", parts[index - 1]).code == 0
        assert missing in run("merge", parts[index - 1], "-o", whole).err
    assert "shard 3 of 3 is not merged" in run("merge", parts[2], "-o", whole).err  # as it was
    assert run(*words, "--shard", "3/3", "--out", parts[2]).code == 0
    assert run("merge", parts[2], "-o", whole).err == ""
    with Trials(whole) as trials:
        (record,) = trials.runs()
    assert (record.config["n"], record.config["limit"]) == (4, 12)
