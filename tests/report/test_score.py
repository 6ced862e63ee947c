"""What scoring again came to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import Completion
from passband.report.score import ScoreReport
from passband.run.rescore import rescore
from passband.run.rescore import rescore as module
from passband.run.rescore.rescore import rescore_run
from passband.summary.from_run import summarize_run, summarize_scorers
from passband.tasks.task import Task
from passband.trials.reader import Trials


def score_run(directory: Path, **options: Any) -> ScoreReport:
    rescored = rescore_run(directory, **options)
    return ScoreReport(rescored.added, summarize_scorers(directory, tasks=rescored.tasks))


@pytest.fixture
def directory(reported: Any, words: Callable[..., Task], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose task is not a file, and so has to be handed over."""
    cut = Completion("ye", finish="length")
    reported.run([["yes", "no"], ["yes", cut]])
    monkeypatch.setattr(rescore, "_recorded_task", lambda run, trust: words(2))
    return reported.directory


def test_every_scorer_has_a_line(directory: Path) -> None:
    found = score_run(directory, scorers=["f1", "exact_match"])
    assert found.added == 3  # exact_match without options has seen them
    own, new = sorted(found.rows(), key=lambda row: str(row["scorer"]))
    assert (own["scorer"], new["scorer"]) == ("exact_match", "f1")
    assert own["scored"] == new["scored"] == 3
    assert own["mean"] == new["mean"]
    assert str(own["95% interval"]).startswith("[")
    json.dumps(found.as_json(), allow_nan=False)


def test_what_was_cut_off_is_scored_if_asked_for(directory: Path) -> None:
    assert score_run(directory).rows()[0]["scored"] == 3
    assert score_run(directory, truncated="score").rows()[0]["scored"] == 4
    assert score_run(directory).rows()[0]["scored"] == 3


def test_a_main_scorer_is_first(directory: Path) -> None:
    found = score_run(directory, scorers=["f1"], main=True)
    assert [row["scorer"] for row in found.rows()] == ["f1", "exact_match"]
    with Trials(directory) as trials:
        assert trials.run("words").scorer().name == "f1"


def test_errors_are_counted_and_are_no_zeros(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from passband.score.registry import register_scorer, scorers

    @register_scorer("picky")
    def picky(answer: str, target: str) -> float:
        if answer == "no":
            raise RuntimeError("\x1b[2J \ud800")
        return float("nan") if answer == "never" else 1.0

    try:
        found = score_run(directory, scorers=["picky"])
    finally:
        scorers.remove("picky")
    row = found.rows()[-1]
    assert (row["scored"], row["error"], row["mean"]) == (2, 1, "1.00")


def test_extraction_and_order_belong_to_a_new_scorer(directory: Path) -> None:
    for wish in ({"rules": ["boxed"]}, {"main": True}):
        with pytest.raises(InvalidInput, match="name it with --scorer"):
            score_run(directory, **wish)


def test_the_store_is_free_afterwards(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any, **options: Any) -> int:
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(module, "score_again", failing)
        with pytest.raises(RuntimeError, match="no"):
            score_run(directory)
    assert score_run(directory).added == 0


def test_adding_a_scorer_changes_no_other_number(directory: Path) -> None:
    """Neither which scorer is the main one, nor whether truncated completions are scored."""
    score_run(directory, scorers=["f1"], main=True)
    whole = score_run(directory, truncated="score")
    assert [(row["scorer"], row["scored"]) for row in whole.rows()] == [
        ("exact_match", 4), ("f1", 4),
    ]  # fmt: skip
    score_run(directory, scorers=["f1"], main=True, truncated="score")
    before = score_run(directory, scorers=["contains"]).rows()
    assert [(row["scorer"], row["scored"]) for row in before] == [
        ("f1", 4), ("exact_match", 4), ("contains", 4),
    ]  # fmt: skip


def test_the_first_error_of_a_scorer_is_noted(directory: Path) -> None:
    from passband.score.registry import register_scorer, scorers

    @register_scorer("failing")
    def failing(answer: str, target: str) -> float:
        raise RuntimeError("no such answer")

    try:
        found = score_run(directory, scorers=["failing"], main=True)
        (note,) = [
            note
            for note in summarize_run(directory).groups[0].notes
            if note.code == "scorer-errors"
        ]
    finally:
        scorers.remove("failing")
    assert note.text == "failing failed on 3 trials; the first: RuntimeError: no such answer"
    assert found.rows()[0]["mean"] is None
