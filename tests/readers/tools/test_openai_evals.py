"""Logs of OpenAI evals: matches and metrics are scores, and errors are not wrong answers."""

from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from support.samples.tool_logs import evals_event, evals_spec, write_lines


def match(number: int, sample: str, correct: Any, **more: Any) -> Any:
    return evals_event(number, sample, "match", correct=correct, expected="2", picked=None, **more)


def sampling(number: int, sample: str, text: str) -> Any:
    return evals_event(number, sample, "sampling", prompt="1+1=", sampled=[text])


def report(accuracy: float) -> Any:
    return {"final_report": {"accuracy": accuracy, "boostrap_std": 0.1}, "run_id": "r1"}


def test_matches_are_trials(tmp_path: Path) -> None:
    lines = [
        evals_spec(), sampling(0, "s.0", "2"), sampling(1, "s.1", "3"), match(2, "s.1", False),
        match(3, "s.0", True), match(4, "s.1", True), report(2 / 3),
    ]  # fmt: skip
    path = write_lines(tmp_path / "log.jsonl", lines)
    groups = read(path)
    (group,) = groups.groups
    assert (group.task, group.model) == ("sums.dev.v0", "gpt-4")
    assert dict(zip(group.outcomes.problems, group.outcomes.trials.tolist(), strict=True)) == {
        "s.0": 1, "s.1": 2,
    }  # fmt: skip
    assert measure(group.outcomes, "pass@1").value == pytest.approx((1 + 0.5) / 2)
    assert not any(remark.important for remark in groups.remarks)
    (log,) = readers.get("openai-evals").read(path, Options(texts=True))
    assert [(log.problems[t.problem].key, t.text) for t in log.trials] == [
        ("s.1", "3"), ("s.0", "2"), ("s.1", "3"),
    ]  # fmt: skip
    assert log.problems[0].record.count('"targets":["2"]') == 1


def test_metrics_are_scores(tmp_path: Path) -> None:
    lines = [
        evals_spec(),
        evals_event(0, "s.0", "metrics", turns=3, choice="A", score=0.25),
        evals_event(1, "s.1", "metrics", turns=4, choice="B", score=None),
    ]
    groups = read(write_lines(tmp_path / "log.jsonl", lines))
    assert "scored by score" in str(groups.remarks[0])  # rather than by turns, which come first
    outcomes = groups.only()
    assert measure(outcomes, "avg").value == 0.25
    assert outcomes.unscored["unscored"].tolist() == [0, 1]


def test_a_match_and_its_metrics_are_one_trial(tmp_path: Path) -> None:
    lines = [
        evals_spec(), match(0, "s.0", True), evals_event(1, "s.0", "metrics", f1_score=0.5),
        match(2, "s.0", False), evals_event(3, "s.0", "metrics", f1_score=0.0),
    ]  # fmt: skip
    (log,) = readers.get("openai-evals").read(write_lines(tmp_path / "l.jsonl", lines), Options())
    assert log.scorers == ("match", "f1_score")
    assert [[score.value for score in trial.scores] for trial in log.trials] == [[1, 0.5], [0, 0]]


def test_errors_are_not_wrong_answers(tmp_path: Path) -> None:
    failed = evals_event(3, "s.1", "error", type="ValueError", message="no reply")
    lines = [evals_spec(), match(0, "s.0", True), sampling(1, "s.1", "?"), failed]
    groups = read(write_lines(tmp_path / "log.jsonl", lines))
    assert groups.only().unscored["errored"].tolist() == [0, 1]
    lines += [match(4, "s.1", False), sampling(5, "s.2", "?")]
    groups = read(write_lines(tmp_path / "log.jsonl", lines))
    assert groups.only().trials.tolist() == [1, 1, 0]
    assert groups.only().unscored["unscored"].tolist() == [0, 0, 1]  # it was never graded
    assert "1 sample has an error event and a score" in str(groups.remarks[-1])


def test_another_accuracy_in_the_report_is_remarked_on(tmp_path: Path) -> None:
    lines = [evals_spec(), match(0, "s.0", True), report(0.5)]
    groups = read(write_lines(tmp_path / "log.jsonl", lines))
    remarks = [str(remark) for remark in groups.remarks if remark.important]
    assert len(remarks) == 1
    assert "the final report has an accuracy of 0.5, the events one of 1" in remarks[0]


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    runs = [("r1", "gpt-4"), ("r2", "gpt-5"), ("r3", "gpt-5")]
    lines = [
        line
        for run, model in runs
        for line in (evals_spec(run, model), evals_event(0, "s.0", "match", run, correct=True))
    ]
    groups = read(write_lines(tmp_path / "log.jsonl", lines))
    assert {group.key: group.outcomes.trials.tolist() for group in groups.groups} == {
        ("gpt-4",): [1], ("gpt-5",): [2],
    }  # fmt: skip


def test_what_is_wrong(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "l.jsonl", [evals_spec(), match(0, "s.0", True), match(1, "s", 1)]
    )
    with pytest.raises(InvalidInput, match=r"l.jsonl:3: correct must be true or false; got 1"):
        read(path)
    assert read(path, skip_bad=True).only().trials.tolist() == [1, 0]
    path = write_lines(tmp_path / "l.jsonl", [evals_spec()])
    with pytest.raises(InvalidInput, match="found no trials in it"):
        read(path)
    path = write_lines(tmp_path / "l.jsonl", [match(0, "s.0", True)])  # begins in the middle
    assert read(path).reader == "openai-evals"
