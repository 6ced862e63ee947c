"""`read_logs`: every kind of file as trials, in the order and with the numbers that it has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from passband import read
from passband.errors import InvalidInput, UnknownName
from passband.readers import Log, Options
from passband.readers.logs import read_logs
from support.samples.stores import filled


def only(path: Path) -> Log:
    (log,) = read_logs(path, Options())
    return log


def table(folder: Path, text: str) -> Path:
    path = folder / "runs.csv"
    path.write_text(text)
    return path


def test_the_rows_of_a_table_are_trials(tmp_path: Path) -> None:
    rows = "problem,trial,score,status\na,1,0,ok\na,0,1,ok\nb,0,,refused\nb,1,,\n"
    log = only(table(tmp_path, rows))
    assert (log.task, log.model, log.scorers) == ("runs", "unknown", ("score",))
    trials = [(r.problem, r.trial, r.status, [s.value for s in r.scores]) for r in log.trials]
    assert trials == [(0, 1, "ok", [0.0]), (0, 0, "ok", [1.0]), (1, 0, "refused", [])]
    assert log.planned == 2  # a trial of b is missing
    expected = read(tmp_path / "runs.csv").only()
    assert log.outcomes().status_counts == expected.status_counts
    assert log.outcomes().trials.tolist() == expected.trials.tolist()


def test_trials_with_other_labels_are_numbered_in_order(tmp_path: Path) -> None:
    log = only(table(tmp_path, "problem,trial,score\na,x,0\na,y,1\n"))
    assert [(row.trial, row.scores[0].value) for row in log.trials] == [(0, 0.0), (1, 1.0)]


def test_other_statuses_are_kept_as_errors_and_named(tmp_path: Path) -> None:
    log = only(table(tmp_path, "problem,score,status\na,1,ok\na,,timeout\na,,timeout\n"))
    assert [row.status for row in log.trials] == ["ok", "errored", "errored"]
    assert "2 trials of status 'timeout' kept as errored" in [str(r) for r in log.remarks]


def test_groups_are_runs_of_their_own(tmp_path: Path) -> None:
    path = table(tmp_path, "problem,model,checkpoint,score\n" + "a,M,1,1\na,M,2,0\n")
    assert [(log.task, log.model) for log in read_logs(path, Options(by=("checkpoint",)))] == [
        ("runs / 1", "M"), ("runs / 2", "M"),
    ]  # fmt: skip


def test_a_matrix_holds_no_order(tmp_path: Path) -> None:
    path = tmp_path / "scores.npy"
    np.save(path, np.array([[0.0, 1.0, np.nan], [0.0, 0.0, 1.0]]))
    log = only(path)
    assert [s.value for row in log.trials for s in row.scores] == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert any("the order of a problem's trials is made up" in str(r) for r in log.remarks)
    assert log.outcomes() == read(path).only()


def test_tasks_and_models_are_chosen_by_name(tmp_path: Path) -> None:
    path = table(tmp_path, "problem,model,score\na,M,1\na,N,0\n")
    assert [log.model for log in read_logs(path, Options(models=("N",)))] == ["N"]
    with pytest.raises(UnknownName, match=r"runs.csv has no model named 'O'. It has M, N."):
        read_logs(path, Options(models=("O",)))


def test_a_run_directory_is_not_a_log(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a run directory, not a log; passband merge"):
        read_logs(filled(tmp_path / "run", [[1]]), Options())
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"is not a run directory, which has a trials.sqlite"):
        read_logs(tmp_path / "empty", Options())


def test_records_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"problem": "a", "score": "perhaps"}) + "\n")
    with pytest.raises(InvalidInput, match="perhaps"):
        read_logs(path, Options())
