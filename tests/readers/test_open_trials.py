"""`opened_trials`: a run directory as it is, a log as if it had been imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.readers import Options
from passband.readers.logs import opened_trials
from support.samples.stores import filled


def test_a_run_directory_is_opened_in_place(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", [[1, 0], [1, 1]])
    with opened_trials(run) as trials:
        assert trials.directory == run
        assert trials.outcomes().n_trials == 4


def test_a_log_is_opened_under_its_own_name(tmp_path: Path) -> None:
    log = tmp_path / "trials.csv"
    log.write_text("problem,model,score\na,M,1\na,M,0\nb,N,1\n")
    with opened_trials(log, Options(models=("M",))) as trials:
        assert [(run.task, run.model) for run in trials.runs()] == [("trials", "M")]
        assert trials.outcomes().successes.tolist() == [1]
        with pytest.raises(InvalidInput, match=r"trials.csv has no task named 'x'"):
            trials.run("x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trials.csv"]


def test_neither_one_nor_the_other(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not a run directory"), opened_trials(tmp_path):
        pass
    with pytest.raises(InvalidInput, match="no such file"), opened_trials(tmp_path / "x.csv"):
        pass
