"""Records come one by one with their place; bad ones are refused by number, or counted."""

import json
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.readers.file_head import first_record
from passband.readers.log import Source
from passband.readers.log_builder import LogBuilder
from passband.readers.options import Options
from passband.readers.records import Items, LeftOut, Lines

SKIP = Options(skip_bad=True)


def scores(records: Lines | Items) -> LogBuilder:
    builder = LogBuilder("t", "M", Source("none", "x", ""), ("right",))
    for place, record in records:
        with records.checking(place):
            builder.add(record.get("id"), record.get("trial"), scores={"right": record.get("s")})
    return builder


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    return path


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"id": ', "is not JSON: Expecting value."),
        ("[1]", "every line must be a JSON object; got [1]"),
        ('{"id": "b", "s": "x"}', "a score of right must be a number; got 'x'."),
        ('{"s": 1}', "the id of a problem must be text or a whole number; got None."),
    ],
)
def test_a_bad_line_is_named_or_counted(tmp_path: Path, bad: str, message: str) -> None:
    path = write(tmp_path / "t.jsonl", {"id": "a", "s": 1}, "", bad, {"id": "a", "s": 0})
    with pytest.raises(InvalidInput) as error:
        scores(Lines(path, Options()))
    assert str(error.value) == f"{path}:3: {message}"
    lines = Lines(path, SKIP)
    builder = scores(lines)
    assert len(builder) == 2
    assert [(str(remark), remark.important) for remark in lines.remarks()] == [
        ("left out 1 line that cannot be read (line 3)", True)
    ]


def test_bad_items_of_a_list(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    values = [{"id": "a", "s": 1}, 7, {"id": "a", "s": []}, {"id": "a"}]
    with pytest.raises(InvalidInput, match=r"t.json: item 2: every item must be a JSON object"):
        scores(Items(path, Options(), values))
    items = Items(path, SKIP, values)
    assert len(scores(items)) == 2
    assert str(items.remarks()[0]) == "left out 2 items that cannot be read (items 2 and 3)"


def test_a_clash_is_refused_even_then(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", {"id": "a", "trial": 0}, {"id": "a", "trial": 0})
    with pytest.raises(InvalidInput, match=r"t.jsonl:2: problem 'a' has trial 0 twice"):
        scores(Lines(path, SKIP))
    path = write(tmp_path / "t.jsonl", {"id": 1}, {"id": "1"})
    with pytest.raises(InvalidInput, match=r't.jsonl:2: both 1 and "1" are ids of problems'):
        scores(Lines(path, SKIP))


def test_many_bad_lines_are_named_briefly(tmp_path: Path) -> None:
    lines = Lines(write(tmp_path / "t.jsonl", *["x"] * 9), SKIP)
    assert list(lines) == []
    assert str(lines.remarks()[0]) == (
        "left out 9 lines that cannot be read (lines 1, 2, 3, 4, 5, ...)"
    )
    assert list(lines) == []  # read again, nothing is counted twice
    assert "left out 9" in str(lines.remarks()[0])


def test_none_were_left_out(tmp_path: Path) -> None:
    assert LeftOut(tmp_path, SKIP).remarks() == []


def test_the_first_record(tmp_path: Path) -> None:
    assert first_record(write(tmp_path / "t.jsonl", "", "x", {"a": 1})) == {"a": 1}
    assert first_record(write(tmp_path / "t.jsonl", [1], {"a": 1})) == {}
    assert first_record(write(tmp_path / "t.csv", {"a": 1})) == {}
    assert first_record(tmp_path / "none.jsonl") == {}
    (tmp_path / "t.jsonl").write_bytes(b"\xff\xfe")
    assert first_record(tmp_path / "t.jsonl") == {}
