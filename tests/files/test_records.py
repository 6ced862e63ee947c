"""Records of data files: every format, compressed or not, and what is wrong with them by line."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from passband import read
from passband.errors import InvalidInput, Place
from passband.files import records
from passband.files.records import column_names, form_of, read_json, read_records, require_file

ROWS = [{"a": "1", "b": "x, y"}, {"a": "2", "b": 'say "z"'}]
TEXTS = {
    "t.csv": 'a,b\n1,"x, y"\n2,"say ""z"""\n',
    "t.tsv": 'a\tb\n1\tx, y\n2\t"say ""z"""\n',
    "t.json": json.dumps(ROWS, indent=1),
    "t.jsonl": "\n".join(map(json.dumps, ROWS)),
    "t.ndjson": "\n\n".join(map(json.dumps, ROWS)) + "\n",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_records(
    tmp_path: Path, name: str, mark: str, packed: bool
) -> None:
    data = (mark + TEXTS[name]).encode()
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    assert list(read_records(path)) == ROWS
    assert column_names(path) == ([] if name == "t.json" else ["a", "b"])


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    assert list(read_records(path)) == ROWS
    assert column_names(path) == ["a", "b"]
    assert form_of("t.parquet.gz") is None


def test_a_semicolon_is_recognized_and_a_delimiter_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;2\n")
    assert list(read_records(path)) == [{"a": "1,5", "b": "2"}]
    path.write_text("a|b\n1|2\n")
    assert list(read_records(path, delimiter="|")) == [{"a": "1", "b": "2"}]


def test_a_json_file_may_hold_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("[1]\n[2, 3]\n")
    assert read_json(path) == [[1], [2, 3]]
    path.write_text("[[1],\n[2, 3]]\n")
    assert read_json(path) == [[1], [2, 3]]
    path.write_text('{"a": 1}\n')
    assert read_json(path) == {"a": 1}
    assert list(read_records(path)) == [{"a": 1}]


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("t.csv", "a,b\n1,2\n3\n", 3, "has 1 cell, but there are 2 columns."),
        ("t.csv", "\na,a\n", 2, "column names must be distinct; got a, a."),
        ("t.csv", 'a\n"b\n', 2, "is not CSV: unexpected end of data."),
        ("t.jsonl", '{"a": 1}\n\n{"a": }\n', 3, "is not JSON: Expecting value."),
        ("t.json", '[\n{"a": }]', 2, "is not JSON: Expecting value."),
        ("t.jsonl", '{"a": 1}\n7\n', 2, "every row must be an object; got 7."),
    ],
)
def test_mistakes_have_a_place(
    tmp_path: Path, name: str, text: str, line: int, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidInput) as error:
        list(read_records(path))
    assert (error.value.place, error.value.message) == (Place(path, line), message)
    assert str(error.value) == f"{path}:{line}: {message}"


@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_bad_lines_can_be_left_out(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"a": 1}\n\n{"a": }\n7\n{"a": 2}\n')
    errors: list[InvalidInput] = []
    assert list(read_records(path, bad=errors.append)) == [{"a": 1}, {"a": 2}]
    assert [error.place for error in errors] == [Place(path, 3), Place(path, 4)]
    errors.clear()
    assert read_json(path, bad=errors.append) == [{"a": 1}, 7, {"a": 2}]
    assert [error.place for error in errors] == [Place(path, 3)]


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 10_000 + b"]"))
    monkeypatch.setattr(records, "LARGEST_DOCUMENT", 5_000)
    with pytest.raises(InvalidInput, match=r"t.json.gz: .*larger than 5,000 characters"):
        read_json(path)
    deep = tmp_path / "t.jsonl"
    deep.write_text('{"a": 1}\n' + "[" * 100_000)
    with pytest.raises(InvalidInput, match=r"t.jsonl:2: JSON too large or too deeply nested"):
        list(read_records(deep))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    whole = gzip.compress(b"".join(b'{"a": %d}\n' % number for number in range(1000)))
    for data in (whole[:-20], b"not gzip", whole[:200] + b"\0" * 50 + whole[250:]):
        path.write_bytes(data)
        with pytest.raises(InvalidInput, match=r"t.jsonl.gz"):
            list(read_records(path))


def test_records_come_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\nnot JSON\n')
    rows = read_records(path)
    assert next(rows) == {"a": 1}
    with pytest.raises(InvalidInput, match=r"t.jsonl:2: "):
        next(rows)


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.json.gz", "t.csv.gz"])
def test_a_line_that_fills_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(records, "LONGEST_LINE", 1000)
    path = tmp_path / name
    path.write_bytes(gzip.compress(b'{"a": 1}\n' + b" " * 5000 + b"\n"))
    with pytest.raises(InvalidInput, match="a line of more than 1,000 characters"):
        list(read_records(path))


def test_a_link_to_nothing_and_a_pipe_are_named(tmp_path: Path) -> None:
    link, pipe = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    link.symlink_to("gone.jsonl")
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="It is a link to nothing"):
        require_file(link)
    with pytest.raises(InvalidInput, match="a pipe or a device"):
        read(pipe)
