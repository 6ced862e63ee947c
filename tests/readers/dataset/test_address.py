"""Addresses of data sets: which sources are one, what is found, and what errors do not show."""

from __future__ import annotations

import importlib.util

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
