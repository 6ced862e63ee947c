"""Sources as they are named: folders of run directories, and what is in them."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.readers.folders import expand_sources, is_several, short_names
from passband.trials.file.schema import STORE_FILE


def made(*paths: Path) -> None:
    for path in paths:
        path.mkdir(parents=True)
        (path / STORE_FILE).touch()


def test_a_folder_is_what_it_holds(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    made(runs / "b", runs / "a", runs / "x" / "y" / "c", runs / "x" / "y" / "z" / "deep")
    made(runs / ".hidden" / "d", runs / "a" / "inner")
    (runs / "notes.txt").touch()
    found = [runs / "a", runs / "b", runs / "x" / "y" / "c"]
    assert is_several(runs)
    assert expand_sources([runs]) == found
    assert expand_sources([runs / "b", runs]) == [runs / "b", runs / "a", runs / "x" / "y" / "c"]
    assert expand_sources([f"{runs}/b", str(runs / "x" / ".." / "b")]) == [runs / "b"]


def test_what_is_one_source(tmp_path: Path) -> None:
    made(tmp_path / "run")
    (tmp_path / "t.csv").write_text("problem,score\na,1\n")
    for source in (tmp_path / "run", tmp_path / "t.csv", tmp_path / "nowhere", [[1, 0]], [], None):
        assert not is_several(source)
    assert is_several([tmp_path / "run"])
    assert is_several(["a.csv", tmp_path / "run"])


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="is not a run directory"):
        expand_sources([tmp_path / "empty"])


def test_names_tell_sources_apart(tmp_path: Path) -> None:
    made(tmp_path / "one" / "a", tmp_path / "two" / "a")
    (tmp_path / "t.csv").touch()
    paths = [tmp_path / "one" / "a", tmp_path / "t.csv"]
    assert short_names(paths) == ["a", "t"]
    twins = [tmp_path / "one" / "a", tmp_path / "two" / "a"]
    assert short_names(twins) == [str(path) for path in twins]
