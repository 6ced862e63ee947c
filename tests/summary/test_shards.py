"""A part of a run says so, wherever its numbers are shown."""

from pathlib import Path

import pytest

from commands import run


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
