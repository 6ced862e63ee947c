"""Means over the groups of a table: the lines, the JSON, the other formats, what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, Outcomes, Summary, combine, summarize
from support.runs.commands import run

SOLVED = {
    ("m", "algebra"): [4, 3, 4, 2],
    ("m", "geometry"): [0, 2],
    ("n", "algebra"): [4, 4, 4, 1],
    ("n", "geometry"): [1, 2],
}


def _table(models: str) -> dict[str, list[object]]:
    rows = [
        (model, subject, f"{subject}{problem}", trial, int(trial < wins))
        for (model, subject), solved in SOLVED.items()
        if model in models
        for problem, wins in enumerate(solved)
        for trial in range(4)
    ]
    names = ("model", "subject", "problem", "trial", "score")
    table: dict[str, list[object]] = {
        name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    if len(models) == 1:
        del table["model"]
    return table


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path, table = tmp_path / "trials.csv", _table("m")
    with path.open("w", newline="") as opened:
        csv.writer(opened).writerows([list(table), *zip(*table.values(), strict=True)])
    return path


def test_the_line_is_that_of_combine() -> None:
    summary = summarize(_table("m"), ["pass@1", "pass@4"], by="subject", weights="equal")
    (combined,) = summary.combined
    assert combined.label == "all (equal weights)"
    assert combined.strata == ("algebra", "geometry")
    strata = {name: Outcomes.from_counts(SOLVED["m", name], 4) for name in combined.strata}
    for line in combined.lines:
        assert line.estimate == combine(strata, line.metric).combined
    assert [group.name for group in summary.groups] == ["algebra", "geometry"]


def test_models_are_combined_each_by_itself() -> None:
    summary = summarize(_table("mn"), "pass@1", by="subject", weights="size")
    assert [combined.by for combined in summary.combined] == [{"model": "m"}, {"model": "n"}]
    values = [combined.lines[0].estimate.value for combined in summary.combined]
    assert values == pytest.approx([15 / 24, 16 / 24])


@pytest.mark.parametrize("weights", ["equal", {"algebra": 0.25, "geometry": 0.75}])
def test_json_keeps_it(weights: str | dict[str, float]) -> None:
    summary = summarize(_table("m"), "pass@1", by="subject", weights=weights)
    values = json.loads(summary.to_json())
    assert values["version"] == 2
    assert Summary.from_json(summary.to_json()) == summary
    jsonschema = pytest.importorskip("jsonschema")
    from passband.summary.json import schema

    jsonschema.validate(values, schema())
    plain = summarize(_table("m"), "pass@1", by="subject")
    assert plain.combined == ()
    assert json.loads(plain.to_json())["version"] == 1


def test_every_format_has_the_line(file: Path) -> None:
    options = ("stats", file, "--by", "subject", "--weights", "equal", "-m", "pass@1")
    done = run(*options)
    assert "all (equal weights)" in done.out
    assert (
        "mean over 2 strata, each counting the same; its interval is for these strata" in done.err
    )
    rows = list(csv.DictReader(io.StringIO(run(*options, "--format", "csv").out)))
    assert [row["subject"] for row in rows] == ["algebra", "geometry", "all (equal weights)"]
    assert rows[-1]["method"] == "strata, equal weights"
    assert float(rows[-1]["value"]) == pytest.approx((13 / 16 + 2 / 8) / 2)
    assert "all (equal weights)" in run(*options, "--format", "markdown").out
    assert "all (equal weights)" in run(*options, "--format", "latex").out
    frame = summarize(_table("m"), "pass@1", by="subject", weights="equal").frame_rows()
    assert [row["subject"] for row in frame][-1] == "all (equal weights)"


def test_a_stratum_without_an_estimate_leaves_a_reason() -> None:
    table = _table("m")
    keep = [s == "algebra" or t == 0 for s, t in zip(table["subject"], table["trial"], strict=True)]
    short = {
        name: [value for value, kept in zip(column, keep, strict=True) if kept]
        for name, column in table.items()
    }
    summary = summarize(short, ["pass@1", "pass@4"], by="subject", weights="equal")
    first, second = summary.combined[0].lines
    assert first.estimate is not None
    assert second.estimate is None
    assert second.reason is not None
    assert second.reason.code == "no-estimate-stratum"
    assert "'geometry' has no estimate" in second.reason.text


def test_population(file: Path) -> None:
    done = run("stats", file, "--population", 12, "-m", "pass@1")
    assert "for all 12 problems that these are a random part of." in done.err
    refused = run("stats", file, "--population", 12, "--by", "subject")
    assert refused.code == 2
    assert "population is the size of one benchmark, and there are 2 groups" in refused.err
    assert "got 5 for 6 problems" in run("stats", file, "--population", 5, "-m", "pass@1").err


def test_refusals() -> None:
    table = _table("mn")
    with pytest.raises(InvalidInput, match="differ by more than the model"):
        summarize(table, "pass@1", weights="equal")
    with pytest.raises(InvalidInput, match="differ by more than the model"):
        summarize(_table("m"), "pass@1", weights="equal")
    with pytest.raises(InvalidInput, match="'auto'"):
        summarize(table, "pass@1", by="subject", weights="equal", method="percentile")
    with pytest.raises(InvalidInput, match=r"add up to 1; these add up to 0\.9"):
        summarize(table, by="subject", weights={"algebra": 0.5, "geometry": 0.4})
    with pytest.raises(InvalidInput, match="no stratum 'algebr'"):
        summarize(table, by="subject", weights={"algebr": 0.5, "geometry": 0.5})


def test_trials_stopped_by_their_outcome_have_no_mean_over_strata() -> None:
    rows = [
        (f"{subject}{problem}", subject, int(trial == problem % 6))
        for subject in ("algebra", "geometry")
        for problem in range(40)
        for trial in range(min(problem % 6 + 1, 5))
    ]
    table = dict(
        zip(("problem", "subject", "score"), map(list, zip(*rows, strict=True)), strict=True)
    )
    request: dict[str, Any] = {"by": "subject", "weights": "equal"}
    (combined,) = summarize(table, "pass@1", **request).combined
    assert combined.lines[0].estimate is None
    assert "stopped by their own outcome" in str(combined.lines[0].reason)
    (combined,) = summarize(table, "pass@1", stopped_after=0, **request).combined
    assert combined.lines[0].estimate is not None
    assert "stopped-by-outcome" not in {note.code for note in combined.lines[0].notes}
    with pytest.raises(InvalidInput, match="stopped by their own outcome"):
        summarize({**table, "subject": ["all"] * len(rows)}, "pass@1", population=200)


def test_a_mean_over_strata_tells_of_stopped_trials() -> None:
    solved, trials = [1, 1, 1, 1, 1, 0] * 7, [1, 2, 3, 4, 5, 5] * 7
    strata = {name: Outcomes.from_counts(solved, trials) for name in ("a", "b")}
    assert combine(strata, "pass@1").combined.notes[0].code == "stopped-by-outcome"
