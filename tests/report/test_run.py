"""What a run came to, in a table, in notes, and in commands to go on with."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.generate.provider import Completion
from passband.report.run import RunReport
from passband.run.session import RunResult
from passband.run.task_run import Price
from passband.summary import notes
from passband.summary.from_run import summarize_run
from passband.summary.summary import Request
from passband.tasks.task import MetricEntry, Task
from support.runs.commands import run as command

YES, NO = "yes", "no"
Words = Callable[..., Task]


def report_run(
    finished: RunResult, metrics: Sequence[str] = (), *, level: float = 0.95
) -> RunReport:
    if not finished.task_runs:
        return RunReport(finished, None)
    request = Request(tuple(metrics), level=level)
    return RunReport(finished, summarize_run(finished.directory, request))


def rows(report: RunReport) -> dict[str, dict[str, Any]]:
    return {str(row["metric"]): dict(row) for row in report.rows()}


def test_the_table(reported: Any) -> None:
    found = report_run(reported.run([[YES, NO], [YES, YES], [NO, NO]]))
    assert list(rows(found)) == ["exact_match (mean)", "pass@2", "pass^2"]
    mean = rows(found)["exact_match (mean)"]
    assert (mean["value"], mean["problems"], mean["trials"]) == ("0.50", 3, 6)
    assert mean["95% interval"].startswith("[0.")
    assert rows(found)["pass@2"]["value"].startswith("0.67")
    assert found.headline().startswith("finished: 6/6 trials recorded (6 new) in ")
    assert found.notes()[0].startswith("Intervals (95%) are for problems like these")


def test_metrics_and_level_can_be_chosen(reported: Any) -> None:
    finished = reported.run([[YES, NO], [YES, YES], [NO, NO]])
    found = report_run(finished, ["pass^2", "avg"], level=0.8)
    assert list(rows(found)) == ["pass^2", "avg"]
    assert "80% interval" in found.rows()[0]
    assert found.notes()[0].startswith("Intervals (80%) are for problems like these")


def test_what_has_no_score_is_bounded(reported: Any) -> None:
    cut = Completion("ye", finish="length")
    refused = Completion(None, finish="content_filter")
    found = report_run(reported.run([[YES, YES, cut, refused], [NO, YES, NO, NO]]))
    (line,) = found.warnings()
    assert line == (
        "warning: 2 of 8 trials have no score (1 refused, 1 truncated) and are left out; pass@1 is "
        "0.625, and would be 0.375 with all of them wrong and 0.625 with all of them right"
    )
    assert any("--truncated score" in note for note in found.notes())


def test_the_headline_has_the_bracket_where_it_is_wider_than_the_interval(reported: Any) -> None:
    cut = Completion("ye", finish="length")
    wide = report_run(reported.run([[YES, cut, cut, cut], [NO, cut, cut, cut]] * 8))
    assert wide.headline().endswith(
        "exact_match (mean) is between 0.125 (all trials without a score wrong) and 0.875 "
        "(all right)"
    )
    summary: Any = wide.as_json()["summary"]
    assert summary["groups"][0]["bracket"]["low"] == 0.125
    (row, *_) = wide.rows()
    assert (row["no score"], row["truncated"], row["trials"]) == (48, 48, 16)
    reported.directory = reported.directory / "narrow"
    narrow = report_run(reported.run([[YES, YES, YES, cut], [NO, NO, NO, NO]]))
    assert "is between" not in narrow.headline()
    summary = narrow.as_json()["summary"]
    assert "bracket" not in summary["groups"][0]


def test_nothing_has_a_score(reported: Any) -> None:
    cut = Completion("ye", finish="length")
    found = report_run(reported.run([[cut, cut]]))
    assert [row["value"] for row in found.rows()] == [None]
    assert "2 of 2 trials have no score (2 truncated)" in found.warnings()[0]
    commands = [step for step, _ in found.next_steps(["passband", "run"])]
    assert [shlex.split(step)[1] for step in commands] == ["show", "report", "export"]
    json.dumps(found.as_json(), allow_nan=False)


def test_graded_scores_have_no_bounds(reported: Any, words: Words) -> None:
    graded = replace(words(2, scorer="f1"), truncated="leave")
    cut = Completion("ye", finish="length")
    found = report_run(reported.run([["yes and no", cut], ["yes", "no"]], graded))
    (line,) = found.warnings()
    assert line == "warning: 1 of 4 trials has no score (1 truncated) and is left out"
    assert rows(found)["f1 (mean)"]["trials"] == 3


def test_the_next_steps_can_be_taken(
    reported: Any, words: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where scores are graded, and where the directory has a space in its name."""
    monkeypatch.chdir(tmp_path)
    for scorer, answers in (("exact_match", [[YES, NO], [YES, YES]]), ("f1", [["yes no", NO]])):
        reported.directory = tmp_path / f"a run of {scorer}"
        finished = reported.run(answers, words(len(answers), scorer=scorer))
        steps = report_run(finished).next_steps(["passband", "run", "x"])
        verbs = [shlex.split(step)[1] for step, _ in steps]
        assert verbs == ["stats", "show", "report", "export", "compare"]
        shutil.copytree(reported.directory, tmp_path / f"other of {scorer}")
        for step, _ in steps:
            step = step.replace("OTHER_RUN", f"'other of {scorer}'")
            done = command(*shlex.split(step)[1:])
            assert done.code == 0, (step, done.err)


def test_an_unfinished_run_says_how_to_go_on(reported: Any) -> None:
    finished = reported.run([[YES, NO], [YES, NO]])
    finished.task_runs[0].counters.planned = 10
    again = ["passband", "run", "my task.yaml", "--model", "tiny"]
    steps = report_run(replace(finished, ending="interrupted")).next_steps(again)
    assert steps[0] == (
        "passband run 'my task.yaml' --model tiny", "go on where it stopped",
    )  # fmt: skip
    headline = report_run(replace(finished, ending="interrupted")).headline()
    assert headline.startswith("interrupted; what was answered is recorded: 4/10 trials recorded")


def test_nothing_was_asked(reported: Any) -> None:
    finished = reported.run([[YES, NO]])
    with_none = replace(finished, task_runs=[], ending="interrupted")
    report = report_run(with_none)
    assert (report.rows(), report.notes()) == ([], [])
    assert report.next_steps(["passband"]) == []


def test_what_it_cost(reported: Any) -> None:
    answer = Completion(YES, prompt_tokens=1_000, completion_tokens=2_000)
    found = report_run(reported.run([[answer, answer]], price=Price(1.0, 10.0)))
    assert found.headline().endswith(", cost 0.042")
    assert found.as_json()["cost"] == pytest.approx(0.042)


def test_a_metric_that_cannot_be_measured_leaves_the_others(reported: Any, words: Words) -> None:
    several = (
        MetricEntry("exact_match", "exact_match", repeat_aggregation="mean"),
        MetricEntry("exact_match", "exact_match", repeat_aggregation="pass@9"),
    )
    finished = reported.run([[YES, NO], [NO, NO]], replace(words(2), metrics=several))
    found = report_run(finished)
    assert "exact_match (mean)" in rows(found)
    assert any(note.startswith("exact_match (pass@9): ") for note in found.notes())


def test_attempts_are_mentioned(reported: Any) -> None:
    report = report_run(reported.run([[YES, NO]]))
    assert not any("attempt" in note for note in report.notes())
    assert report.summary is not None
    assert report.summary.groups[0].retried == 0
    assert str(notes.retried(1, 2)) == "1 of 2 trials needed more than one attempt"


def test_json(reported: Any) -> None:
    found = report_run(reported.run([[YES, NO], [YES, YES], [NO, NO]])).as_json()
    told = json.loads(json.dumps(found, allow_nan=False))
    assert (told["ending"], told["planned"], told["recorded"], told["asked"]) == (
        "finished", 6, 6, 6,
    )  # fmt: skip
    (group,) = told["summary"]["groups"]
    assert (group["task"], group["n_problems"], group["retried"]) == ("words", 3, 0)
    assert group["statuses"] == {"ok": 6}
    assert group["lines"][0]["metric"] == "exact_match (mean)"
    mean = group["lines"][0]["estimate"]
    assert mean["low"] < mean["value"] < mean["high"]


def test_a_second_run_asks_nothing_and_says_so(reported: Any) -> None:
    reported.run([[YES, NO], [NO, NO]])
    found = report_run(reported.run([[YES, NO], [NO, NO]]))
    assert found.headline().startswith("finished: 4/4 trials recorded (0 new)")
