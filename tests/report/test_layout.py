"""The long and the wide table of a summary, in decimals, digits and percentages."""

from pathlib import Path
from typing import Any

import pytest

from passband.report.layout import full_rows, not_shares, rows
from passband.report.rendering import render
from passband.report.style import Style
from passband.report.summary import explanation
from passband.summary.from_sources import summarize
from passband.summary.summary import Summary

WIDE = Style(layout="wide")
HARD = [[1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0]]
EASY = [[1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0]]


def table_of(folder: Path, groups: dict[tuple[str, str], list[list[Any]]]) -> Path:
    """A file of trials of models on tasks; None is a trial without a score."""
    lines = ["model,task,problem,score"]
    for (model, task), matrix in groups.items():
        for problem, scores in enumerate(matrix):
            lines += [f"{model},{task},p{problem},{'' if s is None else s}" for s in scores]
    path = folder / "trials.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def models(folder: Path, *metrics: str, **options: Any) -> Summary:
    path = table_of(folder, {("small", "t"): HARD, ("large", "t"): EASY})
    return summarize(path, metrics, by=["model"], **options)


def test_wide_is_models_by_metrics(tmp_path: Path) -> None:
    summary = models(tmp_path, "pass@1", "pass^4")
    long, wide = rows(summary), rows(summary, WIDE)
    assert [row["model"] for row in wide] == ["small", "large"]
    assert [*wide[0]] == ["model", "pass@1", "pass^4", "problems", "trials"]
    cells = [f"{row['value']} {row['95% interval']}" for row in long]
    assert [wide[0]["pass@1"], wide[0]["pass^4"], wide[1]["pass@1"], wide[1]["pass^4"]] == cells
    for form in ("table", "markdown", "latex"):
        text = render(wide, form)
        assert all(cell in text for cell in cells)
        assert len(text.splitlines()) < 10


def test_wide_says_why_there_is_no_interval(tmp_path: Path) -> None:
    until_failure = [[1] * wins + [0] for wins in range(6)] * 8
    summary = summarize(table_of(tmp_path, {("m", "t"): until_failure}), "pass@1")
    (long, _), (wide,) = rows(summary), rows(summary, WIDE)
    assert long["95% interval"] == "none: trials-related"
    assert wide["pass@1"] == f"{long['value']} none: trials-related"


def test_wide_csv_has_ends_in_columns_of_their_own(tmp_path: Path) -> None:
    summary = models(tmp_path, "pass@1")
    first, second = full_rows(summary, WIDE)
    assert [*first][:4] == ["model", "pass@1", "pass@1 low", "pass@1 high"]
    estimate = summary.groups[1].lines[0].estimate
    assert estimate is not None
    assert (second["pass@1"], second["pass@1 low"]) == (estimate.value, estimate.low)


def test_of_several_tasks_one_metric_makes_them_columns(tmp_path: Path) -> None:
    cells = {("small", "a"): HARD, ("small", "b"): EASY, ("large", "a"): EASY, ("large", "b"): EASY}
    path = table_of(tmp_path, cells)
    one = rows(summarize(path, "pass@1"), WIDE)
    assert [*one[0]] == ["model", "a pass@1", "b pass@1"]
    assert [row["model"] for row in one] == ["small", "large"]
    assert one[0]["b pass@1"] == one[1]["a pass@1"] != one[0]["a pass@1"]
    several = rows(summarize(path, ["pass@1", "pass@2"]), WIDE)
    assert [*several[0]] == ["model", "task", "pass@1", "pass@2", "problems", "trials"]
    assert len(several) == 4


def test_what_a_group_does_not_have_is_a_dash(tmp_path: Path) -> None:
    path = table_of(tmp_path, {("small", "a"): [[1], [0]], ("large", "a"): EASY})
    wide = rows(summarize(path, ["pass@1", "pass@2"], by=["model"]), WIDE)
    assert wide[0]["pass@2"] is None
    assert "-" in render(wide, "table").splitlines()[2]


def test_a_single_group_is_a_row_and_a_column_may_be_named_like_a_metric(tmp_path: Path) -> None:
    assert [*rows(summarize(HARD, "pass@1"), WIDE)[0]] == ["pass@1", "problems", "trials"]
    path = tmp_path / "odd.csv"
    path.write_text("problem,pass@1,score\na,x,1\nb,x,0\na,y,1\nb,y,1\n")
    wide = rows(summarize(path, "pass@1", by=["pass@1"], score="score"), WIDE)
    assert [row["pass@1 (column)"] for row in wide] == ["x", "y"]


def test_lost_and_left_out_are_seen_in_both(tmp_path: Path) -> None:
    path = table_of(tmp_path, {("small", "a"): [[1, None], [0, 1]], ("large", "a"): EASY})
    summary = summarize(path, "pass@2", by=["model"])
    assert [row["left out"] for row in rows(summary)] == [1, 0]
    assert [row["no score"] for row in rows(summary, WIDE)] == [1, 0]
    told = "small / pass@2: 1 problem with too few trials left out"
    assert told in explanation(summary, WIDE)
    assert told not in explanation(summary)


def test_a_metric_has_one_scale_for_all_models(tmp_path: Path) -> None:
    path = table_of(tmp_path, {("small", "a"): [[0.5, 1], [0, 0.5]], ("large", "a"): [[2, 4]] * 2})
    summary = summarize(path, "avg", by=["model"])
    style = Style(percent=True)
    assert [row["value"] for row in full_rows(summary, style)] == [0.5, 3]
    assert [row["value"] for row in rows(summary, style)] == [row["value"] for row in rows(summary)]
    assert not_shares(summary, style) == ["avg"]


def test_percentages(tmp_path: Path) -> None:
    style = Style(digits=1, percent=True)
    row, *_ = rows(models(tmp_path, "pass@1"), style)
    assert row["percent"] == "31.2"
    full, *_ = full_rows(models(tmp_path, "pass@1"), Style(percent=True))
    assert full["value"] == pytest.approx(31.25)
    assert full["level"] == 0.95
    rounded, *_ = full_rows(models(tmp_path, "pass@1"), style)
    assert rounded["value"] == "31.2"


def test_scores_that_are_no_shares_stay_as_they_are(tmp_path: Path) -> None:
    style = Style(percent=True)
    bleu = summarize([[34.2, 28.0], [40.1, 38.8]], "avg")
    assert rows(bleu, style)[0]["value"] == rows(bleu)[0]["value"]
    assert not_shares(bleu, style) == ["avg"]
    assert any("not a share of 1" in line for line in explanation(bleu, style))
    graded = summarize([[0.5, 1.0], [0.25, 0.0]], "avg")
    assert not_shares(graded, style) == []
    assert str(rows(graded, style)[0]["percent"]).startswith("44")
    # One BLEU below 1 among others is no share either.
    assert not_shares(summarize([[0.4, 0.3], [7.0, 0.1]], "max@1"), style) == ["max@1"]
