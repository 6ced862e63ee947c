"""Plain CSV files read by numpy: cell for cell what Python's csv reads, or left to it."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import read
from passband.readers.tables import table
from passband.readers.tables.table import coded_columns
from support.fuzz.properties import times

plain = st.text(st.sampled_from("ab01. -=\t;'"), max_size=20)
odd = st.sampled_from(['"', '"a"', "a\r", "é", "\0", " a", "a ", "", "x" * 63, "x" * 65, "1e9"])
names = st.lists(
    st.sampled_from(["p", "score", "q r", "x1", "1", "nan", ""]), min_size=1, max_size=4
)


@st.composite
def files(draw: st.DrawFn) -> str:
    header = draw(names)
    width = st.integers(len(header), len(header) + draw(st.sampled_from([0, 0, 0, 1])))
    cells = draw(st.sampled_from([plain, plain, plain | odd]))
    rows = draw(st.lists(width.flatmap(lambda n: st.lists(cells, min_size=n, max_size=n))))
    mark = draw(st.sampled_from(",,;\t"))
    lines = [mark.join(row) for row in [header, *rows]]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


def by_csv(path: Path, delimiter: str | None) -> tuple[list[str], list[list[str]]]:
    text = path.read_text()
    first = next((line for line in text.split("\n") if line.strip()), "")
    mark = delimiter or next((mark for mark in ",;\t" if mark in first), ",")
    with path.open(newline="") as file:
        rows = list(csv.reader(file, delimiter=mark, skipinitialspace=True, strict=True))
    return [name.strip() for name in rows[0]], [row for row in rows[1:] if row]


@given(files(), st.sampled_from([None, "\t"]))
@times(3)
def test_cells_are_those_of_csv(text: str, delimiter: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(text, newline="")
        columns = coded_columns(path, delimiter, least=1)
        if columns is None:
            return
        header, rows = by_csv(path, delimiter)
        assert list(columns) == header
        assert [list(row) for row in zip(*columns.values(), strict=True)] == rows
        for column in columns.values():
            assert column.values == list(dict.fromkeys(column))


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n"1",2\n', "a,b\r\n1,2\r\n", "a,b\n1, 2\n", "a,b\n1\n", "a,b\n\n1,2\n", "a,b\n1,é\n",
        "a,a\n1,2\n", "1,2\n3,4\n", "a,\n1,2\n", "a,b\n", f"a,b\n1,{'x' * 65}\n", "\n1,2\n",
    ],
)  # fmt: skip
def test_what_is_left_to_csv(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, newline="")
    assert coded_columns(path, None, least=1) is None


def test_small_and_packed_files_are_left_to_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    assert coded_columns(path, None) is None
    assert coded_columns(path.rename(tmp_path / "t.csv.gz"), None, least=1) is None


def test_both_ways_give_the_same_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    rows = [
        f"{model},problem {number % 700},{number // 700},{number % 3 // 2 if number % 5 else ''},"
        f"{'ok' if number % 5 else 'timeout'}\n"
        for model in ("M", "a rather long name of a model")
        for number in range(30_000)
    ]
    path.write_text("model,problem,trial,score,status\n" + "".join(rows))
    fast = read(path)
    assert coded_columns(path, None) is not None
    monkeypatch.setattr(table, "coded_columns", lambda path, delimiter: None)
    slow = read(path)
    assert fast.remarks == slow.remarks
    assert [group.key for group in fast.groups] == [group.key for group in slow.groups]
    assert [group.outcomes for group in fast.groups] == [group.outcomes for group in slow.groups]
