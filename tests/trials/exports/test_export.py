"""Exports: the same trials, the same bytes; whole files or none; nothing that a program obeys."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.data.outcomes import Outcomes
from passband.trials.encoding import canonical_json
from passband.trials.exports import export as module
from passband.trials.exports.export import EXPORT_FORMATS, export_trials
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow
from support.samples.stores import TASK, any_text, begin, filled, problem, trial_rows, writing

ROWS = [
    TrialRow(
        at, trial, "ok", f"text {at} {trial}", "thought", 3, 4, 250, 2, 77, "id-1",
        [ScoreRow(1, float(trial), answer=f"a{trial}", rule="boxed"), ScoreRow(2, 0.5)],
    )
    for at in range(3)
    for trial in range(2)
]  # fmt: skip


def written(directory: Path, rows: list[TrialRow], *, batch: int = 3) -> Path:
    with writing(directory) as store:
        run, _ = begin(store, scorers=[("main", "1"), ("other", "1")])
        for start in range(0, len(rows), batch):
            store.append(run, rows[start : start + batch])
    return directory


def exported(directory: Path, form: str = "jsonl", *, timing: bool = False) -> bytes:
    file = io.BytesIO()
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), form, file, timing=timing)
    return file.getvalue()


def lines(directory: Path, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported(directory, **options).splitlines()]


def cells(directory: Path) -> list[dict[str, str]]:
    text = exported(directory, "csv").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


# -- what is in it ---------------------------------------------------------------------------


def test_one_row_per_trial_in_order(tmp_path: Path) -> None:
    found = lines(written(tmp_path, ROWS[::-1]))
    assert [(row["problem_id"], row["trial"]) for row in found] == [
        (f"p{at}", trial) for at in range(3) for trial in range(2)
    ]
    assert found[0] == {
        "task": "sums", "model": "tiny", "problem_id": "p0", "trial": 0, "status": "ok",
        "score": 0.0, "score_status": "ok", "answer": "a0", "rule": "boxed", "target": "42",
        "cluster": None, "seed": 77, "prompt_tokens": 3, "completion_tokens": 4,
        "completion": "text 0 0", "reasoning": "thought", "finish_reason": None,
        "score:other": 0.5,
        "score_status:other": "ok", "answer:other": "text 0 0",
    }  # fmt: skip
    timed = lines(tmp_path, timing=True)
    assert {key: timed[0][key] for key in timed[0].keys() - found[0].keys()} == {
        "latency_ms": 250, "attempts": 2, "request_id": "id-1",
    }  # fmt: skip


def test_what_has_no_score_has_none(tmp_path: Path) -> None:
    rows = [
        TrialRow(0, 0, "gave_up"),
        TrialRow(0, 1, "ok", "x", scores=[ScoreRow(1, None, "timeout", detail="3 s")]),
        TrialRow(0, 2, "ok", "x", scores=[ScoreRow(1, 0.0, "no_answer")]),
    ]
    found = lines(written(tmp_path, rows))
    keys = ("status", "score", "score_status", "answer", "completion")
    assert [tuple(row[key] for key in keys) for row in found] == [
        ("gave_up", None, None, None, None),
        ("ok", None, "timeout", None, "x"),
        ("ok", 0.0, "no_answer", None, "x"),
    ]


@pytest.mark.parametrize(
    ("targets", "shown"), [([], None), (["a"], "a"), (["a", "é"], '["a", "é"]')]
)
def test_targets(tmp_path: Path, targets: list[str], shown: str | None) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store, [ProblemRow(0, "p", canonical_json({"targets": targets}))])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
    assert lines(tmp_path)[0]["target"] == shown


def test_several_tasks_share_their_columns(tmp_path: Path) -> None:
    filled(tmp_path, [[1, 0]], task="b")
    with writing(tmp_path) as store:
        run, (one, two) = begin(store, [problem(0)], [("f1", "1"), ("exact", "2")], task="a")
        scores = [ScoreRow(one, 0.5), ScoreRow(two, 1.0)]
        store.append(run, [TrialRow(0, 0, "ok", "x", scores=scores)])
    first, *others = lines(tmp_path)
    assert (first["task"], first["score"], first["score:exact"]) == ("a", 0.5, 1.0)
    assert [(row["task"], row["score"], row["score:exact"]) for row in others] == [
        ("b", 1.0, None), ("b", 0.0, None),
    ]  # fmt: skip


@pytest.mark.parametrize("form", EXPORT_FORMATS)
def test_a_run_without_trials_is_an_empty_table(tmp_path: Path, form: str) -> None:
    with writing(tmp_path / "run") as store:
        begin(store)
    path = tmp_path / f"out.{form}"
    path.write_bytes(exported(tmp_path / "run", form))
    if form == "csv":
        assert path.read_text().startswith('"task","model"')
        assert path.read_text().count("\n") == 1
    elif form == "jsonl":
        assert path.read_bytes() == b""
    else:
        import pyarrow.parquet as pq

        assert pq.read_table(path).num_rows == 0


def test_our_own_statistics_read_it(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0, 1], [0, 0, 0]])
    for form in EXPORT_FORMATS:
        path = tmp_path / f"out.{form}"
        path.write_bytes(exported(directory, form))
        found = Outcomes.from_file(path)
        assert found.successes is not None
        assert (found.trials.tolist(), found.successes.tolist()) == ([3, 3], [2, 0])


# -- the same bytes --------------------------------------------------------------------------


@pytest.mark.parametrize("form", EXPORT_FORMATS)
def test_the_same_trials_are_the_same_bytes(tmp_path: Path, form: str) -> None:
    one = written(tmp_path / "one", ROWS, batch=6)
    slower = [replace(row, latency_ms=9, attempts=9, request_id="id-9") for row in ROWS[::-1]]
    other = written(tmp_path / "other", slower, batch=1)
    assert exported(one, form) == exported(one, form) == exported(other, form)
    assert exported(one, form, timing=True) != exported(other, form, timing=True)


def test_tasks_entered_in_another_order(tmp_path: Path) -> None:
    for directory, tasks in (("one", "abc"), ("other", "cab")):
        for task in tasks:
            filled(tmp_path / directory, [[1, 0], [0, 1]], task=task)
    assert exported(tmp_path / "one") == exported(tmp_path / "other")


# -- any text --------------------------------------------------------------------------------


@given(st.data())
def test_jsonl_holds_any_text_exactly(tmp_path: Path, data: st.DataObject) -> None:
    directory = tmp_path / str(len(list(tmp_path.iterdir())))
    row = data.draw(trial_rows(0, 0, [1, 2]))
    found = lines(written(directory, [row]), timing=True)
    assert len(found) == 1
    assert found[0]["completion"] == row.text
    assert found[0]["reasoning"] == row.reasoning
    assert found[0]["request_id"] == row.request_id
    assert found[0]["score"] == row.scores[0].value


@given(any_text, any_text)
def test_csv_has_as_many_rows_as_there_are_trials(tmp_path: Path, text: str, answer: str) -> None:
    directory = tmp_path / str(len(list(tmp_path.iterdir())))
    rows = [TrialRow(0, n, "ok", text, scores=[ScoreRow(1, 1.0, answer=answer)]) for n in (0, 1)]
    found = cells(written(directory, rows))
    assert [row["trial"] for row in found] == ["0", "1"]
    assert found[0]["completion"] == shown(text)
    assert found[0]["answer"] == shown(answer)


def shown(text: str) -> str:
    """A text as CSV can carry it."""
    text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    dangerous = text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    return f"'{text}" if dangerous and not is_number(text) else text


def is_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('=HYPERLINK("http://x","y")', '\'=HYPERLINK("http://x","y")'),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3+cmd", "'-2+3+cmd"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("＝1+1", "'＝1+1"),
        ("-17", "-17"),
        ("+3.5e2", "+3.5e2"),
        ("1=1", "1=1"),
        ("", ""),
        ("a\0b", "a\\x00b"),
        ("a\rb", "a\rb"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_a_spreadsheet_computes_nothing(tmp_path: Path, text: str, cell: str) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store, [replace(problem(0), key=text)])
        scores = [ScoreRow(scorer, -1.0, answer=text)]
        store.append(run, [TrialRow(0, 0, "ok", text, text, scores=scores)])
    (row,) = cells(tmp_path)
    assert row["completion"] == row["reasoning"] == row["answer"] == row["problem_id"] == cell
    assert row["score"] == "-1.0"


def test_parquet_round_trip(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = [*ROWS, TrialRow(2, 5, "gave_up"), TrialRow(2, 6, "ok", "a\0b \ud800 é")]
    directory = written(tmp_path / "run", rows)
    path = tmp_path / "out.parquet"
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "parquet", path, timing=True)
    found = pq.read_table(path).to_pylist()
    expected = lines(directory, timing=True)
    expected[-1]["completion"] = "a\0b \\ud800 é"
    assert found == expected


def test_parquet_in_pieces_is_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    directory = written(tmp_path / "run", ROWS)
    whole = pq.read_table(io.BytesIO(exported(directory, "parquet")))
    monkeypatch.setattr(module, "_CHUNK", 2)
    pieces = pq.read_table(io.BytesIO(exported(directory, "parquet")))
    assert pieces.equals(whole)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install 'passband\[parquet\]'"):
        exported(written(tmp_path, ROWS), "parquet")


# -- whole files or none ---------------------------------------------------------------------


@pytest.mark.parametrize("form", EXPORT_FORMATS)
@pytest.mark.parametrize("there", [False, True])
def test_an_export_that_fails_leaves_nothing(
    tmp_path: Path, form: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = written(tmp_path / "run", ROWS)
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / f"trials.{form}"
    if there:
        path.write_text("earlier")

    def failing(*arguments: Any, **options: Any) -> Iterator[Any]:
        for at, row in enumerate(found(*arguments, **options)):
            if at == 4:
                raise OSError(28, "No space left on device")
            yield row

    found = module.rows
    monkeypatch.setattr(module, "rows", failing)
    with Trials(directory) as trials, pytest.raises(OSError, match="No space left"):
        export_trials(trials, trials.runs(), form, path)
    assert [each.name for each in folder.iterdir()] == ([path.name] if there else [])
    if there:
        assert path.read_text() == "earlier"


def test_an_earlier_file_is_replaced(tmp_path: Path) -> None:
    directory = written(tmp_path / "run", ROWS)
    path = tmp_path / "trials.jsonl"
    path.write_text("earlier " * 10_000)
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", path)
    assert path.read_bytes() == exported(directory)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run", "trials.jsonl"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    directory = written(tmp_path / "run", ROWS)
    (tmp_path / "far").mkdir()
    link = tmp_path / "trials.jsonl"
    link.symlink_to(tmp_path / "far" / "there.jsonl")
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", link)
    assert link.is_symlink()
    assert (tmp_path / "far" / "there.jsonl").read_bytes() == exported(directory)


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """As root, putting a file in place of /dev/null would break the system."""
    directory = written(tmp_path / "run", ROWS)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", pipe)
    reader.join()
    assert got == [exported(directory)]
    assert pipe.is_fifo()


def test_the_task_is_in_every_row(tmp_path: Path) -> None:
    assert {row["task"] for row in lines(written(tmp_path, ROWS))} == {TASK}
