"""The beginning of a file shows its keys, wherever it is cut off, and garbage shows none."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.readers import file_head
from passband.readers.file_head import completed, first_item, head_of
from support.fuzz.properties import times
from support.samples.any_files import json_values


@given(
    value=json_values.filter(lambda value: isinstance(value, (list, dict))), share=st.floats(0, 1)
)
def test_any_cut_is_completed(value: object, share: float) -> None:
    text = json.dumps(value)
    cut = text[: 1 + int(share * (len(text) - 1))]
    part = completed(cut)
    assert type(part) is type(value)
    if cut == text:
        assert json.dumps(part) == text
    elif isinstance(part, dict) and isinstance(value, dict):
        assert set(part) <= set(value)


def test_documents_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('[\n {"a": 1},\n {"b": 2}]')
    assert (head_of(path), first_item(path)) == ([{"a": 1}, {"b": 2}], {"a": 1})
    path.write_text('{"a": 1}\n{"b": 2}\n')
    assert first_item(path) == {"a": 1}
    path.write_text("[]")
    assert first_item(path) is None
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"a": 1}\n'))
    assert head_of(packed) == {"a": 1}


def test_only_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_head, "_BEGINNING", 40)
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"id": 1, "text": "x" * 10_000, "last": 1}]))
    assert head_of(path) == [{"id": 1}]
    path.write_text(json.dumps({"id": 1, "text": "x" * 10_000}) + '\n{"id": 2}\n')
    assert head_of(path) == {"id": 1}


@times(3)
@given(data=st.binary(max_size=60), name=st.sampled_from(["t.json", "t.jsonl", "t.json.gz", "t"]))
def test_garbage_raises_nothing(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    head_of(tmp_path / name)


def test_what_is_no_file(tmp_path: Path) -> None:
    assert head_of(tmp_path) is None
    assert head_of(tmp_path / "none.json") is None
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert head_of(deep) is None
