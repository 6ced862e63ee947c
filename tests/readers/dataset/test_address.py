"""Addresses of data sets: which sources are one, what is found, and what errors do not show."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.readers import read
from passband.readers.dataset.address import find_files, is_glob, masked
from passband.readers.folders import is_dataset, is_several

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
fsspec = pytest.importorskip("fsspec")

TABLE = pa.table({"problem": [1, 1, 2], "trial": [0, 1, 0], "correct": [True, False, True]})


def test_a_file_with_brackets_in_its_name_stays_a_file(tmp_path):
    path = tmp_path / "trials[1].parquet"
    pq.write_table(TABLE, path)
    assert not is_glob(str(path))
    assert not is_dataset(path)
    assert read(path).only().n_trials == 3


def test_a_folder_of_parquet_files_is_one_source(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "_SUCCESS").touch()
    assert is_dataset(tmp_path)
    assert not is_several(tmp_path)
    assert read(tmp_path).only().n_trials == 3


def test_a_folder_without_parquet_files_is_none(tmp_path):
    (tmp_path / "a.csv").write_text("problem,score\n1,1\n")
    assert not is_dataset(tmp_path)


def test_other_files_that_match_are_refused(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("problem,score\n1,1\n")
    with pytest.raises(InvalidInput, match=r"b\.csv is none"):
        find_files(str(tmp_path / "*"))


def test_what_is_not_parquet_is_named(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_text("nothing of the kind")
    with pytest.raises(InvalidInput, match=r"b\.parquet: is not a Parquet file"):
        read(str(tmp_path / "*.parquet"))


def test_a_glob_that_matches_nothing_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no file matches"):
        read(str(tmp_path / "*.parquet"))


def test_folders_of_different_keys_are_refused(tmp_path):
    for name in ("step=1", "epoch=1"):
        (tmp_path / name).mkdir()
        pq.write_table(TABLE, tmp_path / name / "a.parquet")
    with pytest.raises(InvalidInput, match=r"has epoch, and .* has step"):
        read(tmp_path)


@pytest.mark.parametrize("pattern", ["memory://set/*.parquet", "memory://set", "memory://set/**"])
def test_addresses_are_read_through_fsspec(pattern):
    system = fsspec.filesystem("memory")
    system.mkdirs("/set", exist_ok=True)
    try:
        for number, name in enumerate(("a", "b")):
            with system.open(f"/set/{name}.parquet", "wb") as file:
                trials = pa.array([2 * number, 2 * number + 1, number])
                pq.write_table(TABLE.set_column(1, "trial", trials), file)
        assert read(pattern).only().trials.tolist() == [4, 2]
        files = [str(file) for file in find_files(pattern)]
        assert [file.rpartition("/")[2] for file in files] == ["a.parquet", "b.parquet"]
    finally:
        system.rm("/set", recursive=True)


def test_an_unknown_protocol_is_named():
    with pytest.raises(InvalidInput, match="no file system is known for nowhere://"):
        read("nowhere://bucket/a.parquet")


def test_a_protocol_whose_package_is_missing_names_the_package():
    if importlib.util.find_spec("s3fs"):
        pytest.skip("s3fs is installed")
    with pytest.raises(InvalidInput, match="s3fs"):
        read("s3://bucket/a.parquet")


def test_errors_show_no_credentials():
    address = "https://user:hunter2@127.0.0.1:1/a.parquet?token=verysecret"
    assert masked(address) == "https://***@127.0.0.1:1/a.parquet?***"
    with pytest.raises(InvalidInput) as caught:
        read(address)
    assert "hunter2" not in str(caught.value)
    assert "verysecret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def names(address: object) -> list[str]:
    return [file.address for file in find_files(str(address))]


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_what_other_tools_hide_is_passed_over_unless_it_is_named(tmp_path: Path) -> None:
    paths = [tmp_path / name / "a.parquet" for name in ("x", "_temporary", ".part")]
    touch(*paths, tmp_path / "x" / "_metadata.parquet")
    for address in (tmp_path, tmp_path / "**/*.parquet", tmp_path / "*/*.parquet"):
        assert names(address) == [str(paths[0])]
    assert names(tmp_path / "_temporary" / "*.parquet") == [str(paths[1])]


def test_a_file_with_several_names_is_one_file(tmp_path: Path) -> None:
    touch(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to("a.parquet")
    (tmp_path / "c.parquet").hardlink_to(tmp_path / "a.parquet")
    (tmp_path / "loop").symlink_to(".")
    for address in (tmp_path, tmp_path / "*.parquet", tmp_path / "**/*.parquet"):
        assert names(address) == [str(tmp_path / "a.parquet")]


def test_links_to_folders_are_followed(tmp_path: Path) -> None:
    touch(tmp_path / "elsewhere/a.parquet", tmp_path / "logs/b.parquet")
    (tmp_path / "logs/link").symlink_to("../elsewhere")
    (tmp_path / "logs/gone.parquet").symlink_to("nowhere")  # opening it is an error
    for address in (tmp_path / "logs", tmp_path / "logs/**/*.parquet"):
        assert [Path(name).name for name in names(address)] == [
            "b.parquet",
            "gone.parquet",
            "a.parquet",
        ]


def test_capitals_question_marks_and_folders_with_the_ending_are_found(tmp_path: Path) -> None:
    touch(tmp_path / "what?" / "A.PARQUET", tmp_path / "what?" / "b.parquet" / "part-0.parquet")
    assert len(names(tmp_path / "what?")) == 2
    assert len(names(tmp_path / "what[?]" / "*")) == 2


def test_a_folder_that_cannot_be_read_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path / "x" / "a.parquet")

    def walk(folder: str, onerror: Callable[[OSError], None], **options: object) -> list[object]:
        onerror(PermissionError(13, "Permission denied", "x/locked"))
        return []

    monkeypatch.setattr("os.walk", walk)
    for address in (tmp_path, tmp_path / "**/*.parquet"):
        with pytest.raises(InvalidInput, match="x/locked: cannot be read: Permission denied"):
            find_files(str(address))
