"""Files of every kind: what is in them comes out, and what is wrong with them is said."""

import io
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, PassbandWarning
from passband.errors import UnknownName
from passband.readers import outcomes_of, read

COLUMNS = {"task_id": ["a", "a", "b"], "trial": [1, 2, 1], "passed": [True, False, True]}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def counts(outcomes: Outcomes) -> tuple[list[str], list[int], list[int]]:
    assert outcomes.successes is not None
    return list(outcomes.problems), outcomes.trials.tolist(), outcomes.successes.tolist()


def text_file(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# -- what is in them -------------------------------------------------------------------------

LINES = "task_id,trial,passed\na,1,True\na,2,False\nb,1,True\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", LINES),
        ("t.CSV", LINES),
        ("t.csv", LINES.rstrip()),
        ("t.csv", "\n\n" + LINES + "\n"),
        ("t.csv", "\ufeff" + LINES),
        ("t.csv", LINES.replace("\n", "\r\n")),
        ("t.csv", LINES.replace("\n", "\r")),
        ("t.csv", LINES.replace(",", ";")),
        ("t.csv", LINES.replace(",", "\t")),
        ("t.csv", LINES.replace(",", ", ")),
        ("t.csv", 'task_id,passed,said\na,1,"x\ny"\na,0,"""z"", ok"\nb,1,\n'),
        ("t.csv", ",task_id,passed,,\n0,a,1,,\n1,a,0,,\n2,b,1,,\n"),
        ("t.csv", "task_id,passed,said\na,1," + "x" * 200_000 + "\na,0,\nb,1,\n"),
        ("t.csv", "task_id,trial_1,trial_2\na,1,0\nb,1\n".replace("b,1", "b,1,")),
        ("t.csv", "task_id,n,c\na,2,1\nb,1,1\n"),
        ("t.tsv", LINES.replace(",", "\t")),
        ("t.json", json.dumps(RECORDS)),
        ("t.json", json.dumps(RECORDS, indent=2)),
        ("t.json", json.dumps(COLUMNS)),
        ("t.json", "\n".join(map(json.dumps, RECORDS))),
        ("t.json", json.dumps({"a": [1, 0], "b": [1]})),
        ("t.jsonl", "\n".join(map(json.dumps, RECORDS))),
        ("t.jsonl", "\ufeff" + "\r\n\r\n".join(map(json.dumps, RECORDS)) + "\r\n"),
        ("t.ndjson", "\n".join(map(json.dumps, RECORDS))),
    ],
)
def test_tables_as_text(tmp_path: Path, name: str, text: str) -> None:
    found = Outcomes.from_file(text_file(tmp_path, name, text))
    assert counts(found) == (["a", "b"], [2, 1], [1, 1])


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(COLUMNS), path)
    assert counts(Outcomes.from_file(path)) == (["a", "b"], [2, 1], [1, 1])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("m.csv", "1,0,1\n0,0,1\n", ([3, 3], [2, 1])),
        ("m.csv", "1,0,1\n\n0, ,\n", ([3, 1], [2, 0])),
        ("m.csv", "1;0\n0;1\n", ([2, 2], [1, 1])),
        ("m.csv", "1,0,1\n0\n", ([3, 1], [2, 0])),
        ("m.csv", "nan,1\n0,1\n", ([1, 2], [1, 1])),
        ("m.csv", "1\n0\n", ([1, 1], [1, 0])),
        ("m.csv", ",0,1\n0,1,0\n1,1,1\n", ([2, 2], [1, 2])),  # as pandas writes a matrix
        ("m.csv", ",0,1\n1,1,0\n", ([2, 3], [1, 2])),
        ("m.tsv", "1\t0\t1\n0\t0\t1\n", ([3, 3], [2, 1])),
        ("m.json", "[[1, 0, true], [null, 0]]", ([3, 1], [2, 0])),
        ("m.json", "[[1, 0, 1], [NaN, 0]]", ([3, 1], [2, 0])),
        ("m.jsonl", "[1, 0, 1]\n[0]\n", ([3, 1], [2, 0])),
    ],
)
def test_matrices_as_text(
    tmp_path: Path, name: str, text: str, expected: tuple[list[int], list[int]]
) -> None:
    assert counts(Outcomes.from_file(text_file(tmp_path, name, text)))[1:] == expected


def test_numpy(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.array([[1, 0], [1, 1]]))
    np.savez(tmp_path / "one.npz", scores=np.array([[1, 0], [1, 1]]))
    np.savez_compressed(
        tmp_path / "counts.npz", successes=[1, 2], trials=[2, 2], problems=["0", "1"]
    )
    np.savez(tmp_path / "table.npz", problem=[0, 0, 1, 1], score=[1, 0, 1, 1])
    for path in sorted(tmp_path.iterdir()):
        assert counts(Outcomes.from_file(path)) == (["0", "1"], [2, 2], [1, 2]), path.name


def test_roles_are_passed_on(tmp_path: Path) -> None:
    path = text_file(tmp_path, "t.csv", "name,good\na,1\n")
    assert counts(Outcomes.from_file(path, problem="name", score="good")) == (["a"], [1], [1])
    assert counts(Outcomes.from_file(str(path), problem="name", score="good"))[1] == [1]


def test_read_says_whether_there_are_columns(tmp_path: Path) -> None:
    assert read(text_file(tmp_path, "t.csv", "problem,score\na,1\n")).columns is not None
    matrix = text_file(tmp_path, "m.csv", "1,0\n")
    assert read(matrix).columns is None
    with pytest.raises(InvalidInput, match="a matrix without column names; there is no 'model'"):
        read(matrix, by=["model"])
    with pytest.raises(InvalidInput, match="there is no 'passed'"):
        Outcomes.from_file(matrix, score="passed")


# -- samples of lm-eval in a data frame ------------------------------------------------------


def samples(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    shared = {"doc": {"question": "?"}, "target": "1", "resps": [["1"]], "filtered_resps": ["1"]}
    return [shared | row for row in rows]


def test_filters_are_not_trials() -> None:
    rows = [
        {"doc_id": doc, "filter": name, "metrics": ["exact_match"], "exact_match": float(right)}
        for doc in range(4)
        for name, right in (("strict-match", doc == 0), ("flexible-extract", doc < 2))
    ]
    groups = read(samples(rows))
    assert groups.by == ("filter",)
    assert {g.key: g.outcomes.required_successes().sum() for g in groups.groups} == {
        ("strict-match",): 1, ("flexible-extract",): 2,
    }  # fmt: skip


def test_scores_are_named_by_the_log() -> None:
    rows = [{"doc_id": doc, "metrics": ["math_verify"], "math_verify": 1.0} for doc in range(4)]
    groups = read(samples(rows))
    assert groups.columns is not None
    assert groups.columns.score == "math_verify"
    assert not any(remark.important for remark in groups.remarks)


def test_responses_without_scores_of_their_own_are_named() -> None:
    rows = [{"doc_id": doc, "acc": 1.0, "resps": [["1", "2", "1"]]} for doc in range(4)]
    with pytest.warns(PassbandWarning, match="resps holds 3 responses per problem, but column acc"):
        assert outcomes_of(samples(rows)).most_trials() == 1
    repeated = samples([row | {"acc_repeats": [1.0, 0.0, 1.0]} for row in rows])
    assert outcomes_of(repeated).most_trials() == 3


# -- what is wrong with them -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.csv", "", "the file is empty"),
        ("e.csv", "\n\n", "the file is empty"),
        ("e.csv", "\ufeff", "the file is empty"),
        ("e.json", "", "the file is empty"),
        ("e.jsonl", "\n", r"need records, columns or rows of scores; got \[\]"),
        ("e.csv", "problem,score\n", r"there are columns \(problem, score\) but no rows"),
        ("e.csv", "problem,score,score\na,1,1\n", "column names must be distinct"),
        ("e.csv", "problem,score\na,1\nb,1,2\n", "e.csv:3: has 3 cells, but there are 2 columns"),
        ("e.csv", "problem,score\n\n\na\n", "e.csv:4: has 1 cell, but"),
        ("e.csv", 'problem,score\n"a\nb",1\nc\n', "e.csv:4: has 1 cell, but"),
        ("e.csv", 'problem,score,said\na,1,"open\nb,0,x\n', "e.csv:3: is not CSV: unexpected end"),
        ("e.csv", 'problem,score\n"a"b,1\n', "e.csv:2: is not CSV"),
        ("e.csv", "1,0\n\n1,x\n", "e.csv:3: 'x' in a matrix of numbers"),
        ("e.csv", "1,0\n1,inf\n", "infinite"),
        ("e.csv", b"problem,score\n\xff,1\n", "not UTF-8 text"),
        ("e.csv", "problem,score\na,1\n".encode("utf-16"), "not UTF-8 text"),
        ("e.json", b'["\xff"]', "not UTF-8 text"),
        ("e.jsonl", b'{"a": "\xff"}', "not UTF-8 text"),
        (
            "e.jsonl",
            '{"problem": "a"}\n\n{"problem": }\n',
            "e.jsonl:3: is not JSON: Expecting",
        ),
        ("e.json", '[{"problem": "a"},\n{"problem": }]', "e.json:2: is not JSON: Expecting value"),
        ("e.json", "[" * 100_000, "e.json:1: JSON too large or too deeply nested: .*recursion"),
        ("e.jsonl", "1\n" + "9" * 5000, "e.jsonl:2: JSON too large or too deeply nested: .*digits"),
        ("e.json", "3", "need records, columns or rows of scores; got 3"),
        ("e.json", "{}", r"need records, columns or rows of scores; got \{\}"),
        ("e.json", "[1, 0]", "row 1 is int, not a record"),
        ("e.json", '[{"problem": "a"}, 3]', "row 2 is int, not a record"),
        ("e.json", "[[1, 0], 3]", "problem 1 must be a list of scores; got 3"),
        ("e.json", '[[1, "0"]]', "problem 0 has '0'"),
        ("e.json", '{"problem": "a", "score": 1}', "column problem must be a list"),
        ("e.json", '{"problem": {"0": "a"}, "score": {"0": 1}}', "column problem must be a list"),
        ("e.json", '{"data": [{"problem": "a"}]}', "no column looks like a problem; found: data"),
        ("e.json", '{"problem": ["a"], "score": [1e999]}', "finite"),
        ("e.parquet", b"not that", "not a Parquet file"),
        ("e.parquet", b"PAR1" + b"x" * 50 + b"PAR1", "not a Parquet file"),
        ("e.npy", b"not that", "not a numpy"),
        ("e.npz", b"PK\x03\x04" + b"x" * 50, "not a numpy"),
        ("e.xlsx", "x", r"file type from '.xlsx'; known: .csv, .json, "),
        ("e.cvs", "x", r"Did you mean '.csv'\?"),
        ("e", "x", "file type from a name without an ending; known: "),
    ],
)
def test_broken_files(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    path = text_file(tmp_path, name, text)
    with pytest.raises(InvalidInput, match=message) as error:
        Outcomes.from_file(path)
    assert "\n" not in str(error.value)


def test_messages_begin_with_the_file(tmp_path: Path) -> None:
    path = text_file(tmp_path, "e.csv", "problem,score\na\n")
    with pytest.raises(InvalidInput) as error:
        read(path)
    assert str(error.value).startswith(f"{path}:2: ")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    text_file(tmp_path, "trials.csv", LINES)
    with pytest.raises(InvalidInput, match=r"no such file. Did you mean 'trials.csv'\?"):
        read(tmp_path / "trails.csv")
    with pytest.raises(InvalidInput, match=r"no such file\.$"):
        read(tmp_path / "nowhere" / "trials.csv")
    with pytest.raises(InvalidInput, match="is not a run directory"):
        read(tmp_path)
    with pytest.raises(InvalidInput, match="name too long"):
        read(tmp_path / ("x" * 5000 + ".csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match="is not a run directory"):
        read(tmp_path / "folder.csv")


class Trap:
    """Leaves a trace if anybody unpickles it."""

    def __reduce__(self) -> tuple[object, ...]:
        return (open, ("sprung", "w"))


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare.npy").write_bytes(pickle.dumps(Trap()))
    np.save(tmp_path / "inside.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "inside.npz", scores=np.array([[Trap()]], dtype=object))
    for name in ("bare.npy", "inside.npy", "inside.npz"):
        with pytest.raises(InvalidInput, match="pickled objects are not loaded"):
            read(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_damaged_archives(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.savez_compressed(whole, scores=np.arange(1000).reshape(10, 100) % 2)
    data = bytearray(whole.getvalue())
    for at in range(0, len(data), 7):
        damaged = data.copy()
        damaged[at] ^= 0xFF
        with suppress(InvalidInput):
            Outcomes.from_file(text_file(tmp_path, "d.npz", bytes(damaged)))
    with zipfile.ZipFile(tmp_path / "empty.npz", "w"):
        pass
    with pytest.raises(InvalidInput, match="the table is empty"):
        read(tmp_path / "empty.npz")


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "npy", "npz", "parquet"])
@given(data=st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(tmp_path: Path, kind: str, data: bytes) -> None:
    prefix = {"npy": b"\x93NUMPY\x01\x00", "npz": b"PK\x03\x04", "parquet": b"PAR1"}
    path = text_file(tmp_path, f"any.{kind}", prefix.get(kind, b"") + data)
    with suppress(InvalidInput):
        Outcomes.from_file(path)


def test_an_unknown_ending_is_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        read(text_file(tmp_path, "t.txt", LINES))
