"""Certificates in a summary: on request, by themselves, in JSON and on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband import Outcomes, Summary, summarize
from passband.errors import InvalidInput
from passband.report.layout import full_rows, rows
from passband.report.summary import explanation
from passband.summary.lines import for_groups
from passband.summary.summary import Request
from support.runs.commands import run

ROWS = [*([1.0 + i / 8, 1.0] for i in range(10)), [1.5, -60.0]]
TAIL = Outcomes.from_array(ROWS)  # a single score carries all the spread
USUAL = Outcomes.from_counts([0, 1, 3, 4, 6, 8] * 10, 8)


def codes(summary: Summary) -> list[list[str]]:
    return [[note.code for note in line.notes] for _, line in summary.lines()]


def test_an_unusual_design_is_tried_unasked() -> None:
    summary = summarize(TAIL, ["avg", "max@2"])
    first, second = (line.estimate for _, line in summary.lines())
    assert first is not None
    assert first.certificate is not None
    assert first.certificate.sets == 300
    assert "low-coverage" in codes(summary)[0]
    assert second is not None
    assert second.certificate is None  # it was found to cover
    assert any("Simulated coverage cannot see" in line for line in explanation(summary))
    assert "coverage" not in rows(summary)[0]


def test_it_can_be_forbidden() -> None:
    summary = summarize(TAIL, "avg", certify=False)
    assert "low-coverage" not in codes(summary)[0]


def test_a_usual_design_is_left_alone() -> None:
    summary = summarize(USUAL, "pass@1")
    assert summary.estimate("pass@1").certificate is None
    assert json.loads(summary.to_json())["version"] == 1
    assert "certify" not in json.loads(summary.to_json())


def test_on_request() -> None:
    summary = summarize(USUAL, ["pass@1", "pass@2"], certify=True)
    certificate = summary.estimate("pass@1").certificate
    assert certificate is not None
    assert rows(summary)[0]["coverage"] == certificate.percent
    assert full_rows(summary)[0]["coverage"] == certificate.coverage
    text = "\n".join(explanation(summary))
    assert "on data like yours this 95% interval covers about" in text
    assert text.count("Simulated coverage cannot see") == 1


def test_calibrated() -> None:
    summary = summarize(TAIL, "avg", calibrate=True)
    plain = summarize(TAIL, "avg", certify=False)
    wide, narrow = (each.estimate("avg") for each in (summary, plain))
    assert wide.method == "auto, calibrated"
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low
    assert "calibrated" in codes(summary)[0]


@pytest.mark.parametrize("options", [{"certify": True}, {"calibrate": True}, {}])
def test_json_keeps_it(options: dict[str, Any]) -> None:
    summary = summarize(TAIL, ["avg", "max@2"], **options)
    assert Summary.from_json(summary.to_json()) == summary
    assert {note["code"] for note in weak_notes(summary)} >= {"tail-may-be-missing"}
    assert json.loads(summary.to_json())["version"] == 4
    even = summarize(
        [[float(score)] for score in range(40)], "avg", **(options or {"certify": True})
    )
    assert not weak_notes(even)
    assert json.loads(even.to_json())["version"] == 2


def weak_notes(summary: Summary) -> list[dict[str, str]]:
    lines = json.loads(summary.to_json())["groups"][0]["lines"]
    notes = [note for line in lines for note in line["estimate"]["notes"]]
    return [note for note in notes if note.get("severity") == "weak"]


def test_only_the_default_method() -> None:
    with pytest.raises(InvalidInput, match="method 'auto'; got 'bca'"):
        summarize(USUAL, "pass@1", method="bca", certify=True)
    assert summarize(TAIL, "avg", method="bca").estimate("avg").certificate is None


def test_many_groups_are_not_tried_unasked() -> None:
    assert for_groups(Request(), 4).certify is None
    assert for_groups(Request(), 5).certify is False
    assert for_groups(Request(certify=True), 5).certify is True


def test_many_lines_are_not_tried_unasked() -> None:
    outcomes = Outcomes.from_counts([20, 0, 20, 20, 0, 16, 0, 20, 0, 4, 20, 0], 20)
    summary = summarize(outcomes, "pass@*", over="trials")
    tried = [line.estimate.certificate for _, line in summary.lines() if line.estimate]
    assert not any(tried[8:])


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    lines = [f"{i},{t},{score}" for i, row in enumerate(ROWS) for t, score in enumerate(row)]
    path.write_text("problem,trial,score\n" + "\n".join(lines) + "\n")
    asked = ("stats", path, "-m", "avg")
    done = run(*asked, "--certify")
    assert done.code == 0
    assert done.out.splitlines()[0].split() == [
        "metric", "value", "95%", "interval", "coverage", "problems", "trials",
    ]  # fmt: skip
    assert "low-coverage" in run(*asked, "--json").out
    assert "low-coverage" not in run(*asked, "--json", "--no-certify").out
    assert "widened to a normal quantile" in run(*asked, "--calibrate").err
    assert "got 'bca'" in run("stats", path, "--certify", "--method", "bca").err
