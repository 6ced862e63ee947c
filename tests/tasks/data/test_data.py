import gzip
import json
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput, Place
from passband.tasks.data.rows import DataSource, plain_rows, read_rows

OBJECTS = [{"q": "a", "n": 1}, {"q": "b", "n": 2}, {"q": "c", "n": 3}]


@pytest.fixture
def source(tmp_path: Path):
    def make(path: str, **options: Any) -> DataSource:
        return DataSource(path, Place(tmp_path / "t.yaml", 3), tmp_path, options=options)

    return make


def test_json_is_a_list_lines_or_a_list_in_a_field(write, source):
    write("list.json", json.dumps(OBJECTS, indent=1))
    write("lines.json", "\n".join(map(json.dumps, OBJECTS)) + "\n\n")
    write("lines.jsonl", "\n".join(map(json.dumps, OBJECTS)))
    write("field.json", json.dumps({"version": 1, "rows": OBJECTS}, indent=1))
    assert read_rows(source("json", data_files="list.json"), None) == OBJECTS
    assert read_rows(source("json", data_files="lines.json"), None) == OBJECTS
    assert read_rows(source("json", data_files="lines.jsonl"), None) == OBJECTS
    assert read_rows(source("jsonl", data_files="lines.jsonl"), None) == OBJECTS
    assert read_rows(source("lines.jsonl"), None) == OBJECTS
    assert read_rows(source("json", data_files="field.json", field="rows"), None) == OBJECTS


def test_cells_of_csv_stay_as_they_are(write, source):
    write("rows.csv", 'id,answer,note\n007,1.50,"a, b"\n008,,"two\nlines"\n')
    assert read_rows(source("csv", data_files="rows.csv"), None) == [
        {"id": "007", "answer": "1.50", "note": "a, b"},
        {"id": "008", "answer": "", "note": "two\nlines"},
    ]


def test_other_delimiters_and_headers(write, source):
    write("rows.tsv", "a\tb\n1\t2\n")
    write("semicolon.csv", "a;b\n1;2\n")
    write("bare.csv", "1,2\n")
    expected = [{"a": "1", "b": "2"}]
    assert read_rows(source("rows.tsv"), None) == expected
    assert read_rows(source("csv", data_files="semicolon.csv", delimiter=";"), None) == expected
    assert read_rows(source("csv", data_files="semicolon.csv", sep=";"), None) == expected
    bare = source("csv", data_files="bare.csv", column_names=["a", "b"])
    assert read_rows(bare, None) == expected


def test_parquet(tmp_path, source):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(OBJECTS), tmp_path / "rows.parquet")
    assert read_rows(source("rows.parquet"), None) == OBJECTS
    assert read_rows(source("parquet", data_files="rows.parquet"), None, 2) == OBJECTS[:2]
    (tmp_path / "broken.parquet").write_bytes(b"no")
    with pytest.raises(InvalidInput, match=r"broken.parquet: is not a Parquet file"):
        read_rows(source("broken.parquet"), None)


def test_parquet_without_pyarrow(tmp_path, source, monkeypatch):
    (tmp_path / "rows.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match=r"pip install pyarrow"):
        read_rows(source("rows.parquet"), None)


def test_compressed_lines(tmp_path, source):
    with gzip.open(tmp_path / "rows.jsonl.gz", "wt") as file:
        file.write(json.dumps(OBJECTS[0]))
    assert read_rows(source("rows.jsonl.gz"), None) == OBJECTS[:1]


def test_files_by_split(write, source):
    for name in ("train", "test", "more"):
        write(f"{name}.jsonl", json.dumps({"from": name}))
    data = source("json", data_files={"train": "train.jsonl", "test": ["test.jsonl", "more.jsonl"]})
    assert read_rows(data, "train") == [{"from": "train"}]
    assert read_rows(data, "test") == [{"from": "test"}, {"from": "more"}]
    assert read_rows(data, None) == read_rows(data, "test")
    with pytest.raises(InvalidInput, match=r"t.yaml:3: there is no split 'tset' .*'test'\? Splits"):
        read_rows(data, "tset")


def test_one_file_serves_every_split(write, source):
    write("rows.jsonl", json.dumps({"a": 1}))
    data = source("json", data_files="rows.jsonl")
    assert read_rows(data, "train") == read_rows(data, "test") == [{"a": 1}]


def test_patterns_folders_and_data_dir(write, source):
    write("parts/test.1.jsonl", json.dumps({"a": 1}))
    write("parts/test.2.jsonl", json.dumps({"a": 2}))
    write("folder/test.csv", "a\n3\n")
    write("folder/train.csv", "a\n4\n")
    write("folder/README.md", "")
    parts = source("json", data_files="parts/*.jsonl")
    assert read_rows(parts, None) == [{"a": 1}, {"a": 2}]
    inside = source("json", data_files="test.2.jsonl", data_dir="parts")
    assert read_rows(inside, None) == [{"a": 2}]
    assert read_rows(source("folder"), "train") == [{"a": "4"}]
    assert read_rows(source("folder"), None) == [{"a": "3"}]


def test_no_more_is_read_than_asked_for(write, source):
    write("rows.jsonl", '{"a": 1}\n{"a": 2}\nnot JSON\n')
    write("rows.csv", "a,b\n1,2\n3\n")
    assert read_rows(source("rows.jsonl"), None, 2) == [{"a": 1}, {"a": 2}]
    assert read_rows(source("rows.csv"), None, 1) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("x.jsonl", '{"a": 1}\n\n{"a": \n', r"x.jsonl:3: is not JSON"),
        ("x.jsonl", '{"a": 1}\n[1]\n', r"x.jsonl:2: every row must be an object; got \[1\]"),
        ("x.json", '{"a": 1}\n5\n', r"x.json:2: every row must be an object; got 5"),
        ("x.json", '[{"a": 1}, 5]', r"x.json: item 2: every row must be an object"),
        ("x.json", '[\n{"a": 1},\n{"a": }\n]', r"x.json:3: is not JSON"),
        ("x.json", '{\n"data": [{"a": 1}]\n}', r"dataset_kwargs.field\)\. Its fields are data"),
        ("x.json", '"text"', "every row must be an object"),
        ("x.json", "{", r"x.json:1: is not JSON"),
        ("x.json", "[" * 100_000, r"x.json:1: JSON too large or too deeply nested"),
        ("x.json", "[]", "the data set has no rows"),
        ("x.jsonl", "", "the data set has no rows"),
        ("x.csv", "a,b\n1\n", r"x.csv:2: has 1 cell, but there are 2 columns"),
        ("x.csv", "a,a\n1,2\n", "x.csv:1: column names must be distinct; got a, a"),
        ("x.csv", 'a\n"b\n', r"x.csv:2: is not CSV"),
    ],
)
def test_wrong_data_are_told_with_their_line(write, source, name, text, told):
    write(name, text)
    with pytest.raises(InvalidInput, match=told):
        read_rows(source(name), None)


@pytest.mark.parametrize(
    ("path", "options", "told"),
    [
        ("json", {}, r"t.yaml:3: dataset_path json needs dataset_kwargs.data_files"),
        ("json", {"data_files": "none.jsonl"}, "there is no data file .*none.jsonl; paths are"),
        ("json", {"data_files": 5}, "data_files must be"),
        ("json", {"data_files": []}, "data_files must be"),
        ("json", {"data_files": "no*.jsonl"}, "no data file matches"),
        ("json", {"data_files": "x.jsonl", "fields": "a"}, "'fields' in dataset_kwargs. Did you"),
        ("json", {"data_files": "x.jsonl", "field": "b"}, "there is no field 'b'"),
        ("csv", {"data_files": "x.jsonl", "delimiter": "--"}, "delimiter must be one character"),
        ("json", {"data_files": {"train": "x.jsonl"}}, ""),
        ("none.jsonl", {}, "there is no data file"),
        ("./none", {}, "there is no data file"),
        ("empty", {}, "must hold files of one format"),
    ],
)
def test_wrong_settings(write, source, path, options, told):
    write("x.jsonl", '{"a": 1}')
    write("empty/x.txt", "")
    if told:
        with pytest.raises(InvalidInput, match=told):
            read_rows(source(path, **options), None)
    else:
        assert read_rows(source(path, **options), None) == [{"a": 1}]


def test_text_that_is_not_utf8(tmp_path, source):
    (tmp_path / "x.csv").write_bytes(b"a\n\xff\n")
    with pytest.raises(InvalidInput, match=r"x.csv: is not UTF-8"):
        read_rows(source("x.csv"), None)


def test_only_plain_values_are_kept():
    row = {"t": "x", "d": date(2024, 1, 31), "m": Decimal("1.50"), "b": b"raw", "o": object()}
    nested = {"l": (1, object(), {"k": 2.5}), "n": None}
    assert plain_rows([row | nested]) == [
        {"t": "x", "d": "2024-01-31", "m": "1.50", "l": [1, {"k": 2.5}], "n": None}
    ]


# -- the hub -------------------------------------------------------------------------------


class _Hub:
    """Stands for the datasets package."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def load_dataset(self, path: str, name: str | None, **options: Any) -> Any:
        self.asked.append((path, name, options))
        if path == "none/none":
            raise FileNotFoundError("no such data set")
        return _Rows(OBJECTS)


class _Rows(list):
    def select(self, indices: Any) -> Any:
        return [self[index] for index in indices]


def test_the_hub_is_asked_without_trust(source, monkeypatch, tmp_path):
    hub = _Hub()
    monkeypatch.setitem(sys.modules, "datasets", hub)
    data = source("org/set", trust_remote_code=True, revision="x")
    assert read_rows(data, "validation", 2) == OBJECTS[:2]
    assert read_rows(data, None) == OBJECTS
    assert hub.asked == [
        ("org/set", None, {"split": "validation", "revision": "x", "trust_remote_code": False}),
        ("org/set", None, {"split": "test", "revision": "x", "trust_remote_code": False}),
    ]
    with pytest.raises(InvalidInput, match=r"t.yaml:3: .*none/none.* no such data set"):
        read_rows(source("none/none"), None)


def test_the_hub_needs_a_package(source, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InvalidInput, match=r"pip install datasets"):
        read_rows(source("org/set"), None)
