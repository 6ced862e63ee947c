"""Exports read back: every text is the one that was exported, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passband.readers.log import Log
from passband.readers.options import Options
from passband.readers.tables.export import Export
from passband.trials.encoding import canonical_json
from passband.trials.exports.export import EXPORT_FORMATS, export_trials
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow
from support.samples.stores import begin, writing

TEXTS = [
    '=HYPERLINK("http://x","y")', "+1", "-1+cmd|x", "-5", "@SUM(A1)", "＝1", "\t=1", "\r", "\n-",
    " =1", "'=1", "''=1", "'quoted'", 'a,b;"c"\nd', "a\\|b", "\u202e", " x ", "é 模型", "\x1b[31m",
]  # fmt: skip


def exported(folder: Path, form: str) -> Path:
    """Export a run whose names and texts a spreadsheet would compute."""
    problems = [
        ProblemRow(at, f"{text}#{at}", canonical_json({"targets": [text]}), text)
        for at, text in enumerate(TEXTS)
    ]
    with writing(folder / "run") as store:
        run, _ = begin(store, problems, [("main", "1")], task="=task")
        rows = [
            TrialRow(
                at, 0, "ok", text, text, request_id=text,
                scores=[ScoreRow(1, 1.0, answer=text, rule=text)],
            )
            for at, text in enumerate(TEXTS)
        ]  # fmt: skip
        store.append(run, rows)
    path = folder / f"trials.{form}"
    with Trials(folder / "run") as trials:
        export_trials(trials, trials.runs(), form, path, timing=True)
    return path


def read(path: Path, options: Options | None = None) -> Log:
    (log,) = Export().read(path, options or Options())
    assert isinstance(log, Log)
    return log


@pytest.mark.parametrize("form", EXPORT_FORMATS)
def test_every_text_comes_back(tmp_path: Path, form: str) -> None:
    log = read(exported(tmp_path, form))
    assert log.task == "=task"
    for number, (text, problem, trial) in enumerate(
        zip(TEXTS, log.problems, log.trials, strict=True)
    ):
        assert problem.key == f"{text}#{number}"
        assert (json.loads(problem.record), problem.cluster) == ({"targets": [text]}, text)
        (score,) = trial.scores
        assert [trial.text, trial.reasoning, trial.request_id, score.answer, score.rule] == (
            [text] * 5
        )


@pytest.mark.parametrize("form", EXPORT_FORMATS)
def test_a_table_made_of_an_export_has_the_texts_too(tmp_path: Path, form: str) -> None:
    groups = Export().read(exported(tmp_path, form), Options(by=("answer",)))
    assert not isinstance(groups, list)
    assert [group.key for group in groups.groups] == [(text,) for text in TEXTS]
