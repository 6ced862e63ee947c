"""What `passband stats` prints: what is split, what is noted, what is left out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, NotEnoughData, Outcomes
from passband.report.layout import full_rows, rows
from passband.report.summary import explanation, remark_lines, warning_lines
from passband.stats.interval import notes
from passband.summary.default_metrics import default_metrics
from passband.summary.from_sources import summarize
from passband.summary.summary import Summary


def report(folder: Path, text: str, *metrics: str, **options: Any) -> Summary:
    path = folder / "trials.csv"
    path.write_text(text)
    summary = summarize(path, metrics, **options)
    summary.require_estimate()
    return summary


def values(summary: Summary) -> dict[tuple[str, ...], list[float]]:
    return {
        tuple(group.by.values()): [line.estimate.value for line in group.lines if line.estimate]
        for group in summary.groups
    }


def names(summary: Summary) -> list[str]:
    return [line.metric for line in summary.groups[0].lines]


def split_by(summary: Summary) -> tuple[str, ...]:
    return tuple(summary.groups[0].by)


SIMPLE = "problem,trial,score\na,1,1\na,2,0\nb,1,1\nb,2,\n"


def test_one_group(tmp_path: Path) -> None:
    found = report(tmp_path, SIMPLE, "pass@1,2", "pass^1")
    counted = ("metric", "value", "problems", "left out", "trials")
    assert [{name: row[name] for name in counted} for row in full_rows(found)] == [
        {"metric": "pass@1", "value": 0.75, "problems": 2, "left out": 0, "trials": 3},
        {"metric": "pass@2", "value": 1.0, "problems": 1, "left out": 1, "trials": 2},
        {"metric": "pass^1", "value": 0.75, "problems": 2, "left out": 0, "trials": 3},
    ]
    assert [list(row) for row in rows(found)] == [
        ["metric", "value", "95% interval", "problems", "left out", "no score", "trials"]
    ] * 3
    assert [row["metric"] for row in rows(found)] == ["pass@1", "pass@2", "pass^1"]
    assert [row["left out"] for row in rows(found)] == [0, 1, 0]
    assert remark_lines(found) == [
        "columns: problem = problem, score = score, trial = trial",
        "2 problems, 1-2 trials each, 3 scored, 1 missing",
    ]
    (warning,) = warning_lines(found)
    assert warning == (
        "warning: 1 of 4 trials has no score (1 missing) and is left out; pass@1 is 0.750, and "
        "would be 0.500 with it wrong and 0.750 with it right"
    )


def test_policies(tmp_path: Path) -> None:
    failed = report(tmp_path, SIMPLE, "pass@2", policy="fail")
    assert rows(failed)[0]["problems"] == 2
    (warning,) = warning_lines(failed)
    assert "1 of 4 trials has no score (1 missing) and counts as a failure" in warning
    assert failed.as_json()["policy"] == "fail"
    with pytest.raises(InvalidInput, match="1 missing without a score"):
        report(tmp_path, SIMPLE, policy="error")
    complete = report(tmp_path, "problem,score\na,1\n", policy="error")
    assert len(remark_lines(complete)) == 2


def test_json_holds_everything(tmp_path: Path) -> None:
    found = json.loads(json.dumps(report(tmp_path, SIMPLE, "pass@2").as_json()))
    assert found["columns"] == {
        "problem": "problem", "score": "score", "trial": "trial", "cluster": None, "status": None,
        "answer": None,
    }  # fmt: skip
    (group,) = found["groups"]
    assert (group["by"], group["n_problems"]) == ({}, 2)
    assert group["statuses"] == {"ok": 3, "missing": 1}
    metric = group["lines"][0]["estimate"]
    assert (metric["metric"], metric["value"], metric["left_out"]) == ("pass@2", 1.0, 1)
    assert (metric["n_unscored"], metric["policy"]) == (1, "drop")
    assert 0 < metric["low"] < metric["high"] == 1.0
    assert metric["se"] > 0
    assert (metric["level"], metric["over"], metric["method"]) == (0.95, "problems", "auto")
    assert [note["code"] for note in metric["notes"]] == ["one-problem"]
    assert {name: found[name] for name in ("over", "method", "level", "policy", "seed")} == {
        "over": "problems", "method": "auto", "level": 0.95, "policy": "drop", "seed": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["model", "Model", "model_name", "Model ID", "task", "dataset", "benchmark", "run", "run_id",
     "scorer", "metric"],
)  # fmt: skip
def test_what_must_not_be_pooled_is_split(tmp_path: Path, name: str) -> None:
    text = f"problem,{name},score\na,M,1\na,N,0\nb,M,1\nb,N,0\n"
    found = report(tmp_path, text, "pass@1")
    assert split_by(found) == (name,)
    assert values(found) == {("M",): [1.0], ("N",): [0.0]}
    assert f"split by: {name}" in remark_lines(found)
    assert len({tuple(row.values()) for row in rows(found)}) == 2
    assert [row["metric"] for row in rows(found)] == ["pass@1", "pass@1"]


def test_one_model_is_not_split(tmp_path: Path) -> None:
    found = report(tmp_path, "problem,model,score\na,M,1\nb,M,0\n")
    assert split_by(found) == ()


def test_split_by_several_and_by_choice(tmp_path: Path) -> None:
    text = "problem,model,task,language,score\na,M,t,x,1\na,N,u,y,0\n"
    assert split_by(report(tmp_path, text)) == ("model", "task")
    chosen = report(tmp_path, text, by=["language"])
    assert values(chosen).keys() == {("x",), ("y",)}
    assert chosen.as_json()["groups"][0]["by"] == {"language": "x"}
    with pytest.raises(InvalidInput, match=r"'modell'.*Did you mean 'model'\?"):
        report(tmp_path, text, by=["modell"])


def test_a_column_in_use_does_not_split(tmp_path: Path) -> None:
    text = "problem,run,score\na,1,1\na,2,0\n"
    assert "if run numbers the trials of a problem, say --trial run" in remark_lines(
        report(tmp_path, text)
    )
    told = report(tmp_path, text, "pass@2", trial="run")
    assert values(told) == {(): [1.0]}


def test_other_scores_are_mentioned(tmp_path: Path) -> None:
    text = "problem,acc,reward\na,1,0.5\n"
    assert "not used as score: acc (choose with --score)" in remark_lines(report(tmp_path, text))
    told = report(tmp_path, text, score="acc")
    assert remark_lines(told)[0] == "columns: problem = problem, score = acc"
    assert not any("not used" in line for line in remark_lines(told))


def test_other_shapes_are_said(tmp_path: Path) -> None:
    wide = report(tmp_path, "problem,model,try 1,try 2\na,M,1,0\na,N,0,0\n", "pass@2")
    assert "a column per trial: try 1, try 2" in remark_lines(wide)
    assert values(wide) == {("M",): [1.0], ("N",): [0.0]}
    counted = report(tmp_path, "problem,n,c\na,4,1\n", "pass@2")
    assert "counts: c successes of n trials" in remark_lines(counted)
    assert values(counted) == {(): [pytest.approx(0.5)]}


def test_a_matrix_has_no_columns(tmp_path: Path) -> None:
    found = report(tmp_path, "1,0\n1,1\n", "pass^2")
    assert remark_lines(found)[0] == "read as a matrix, a row per problem"
    assert found.as_json()["columns"] == {}
    for options in ({"by": ["model"]}, {"score": "passed"}):
        with pytest.raises(InvalidInput, match="a matrix without column names"):
            report(tmp_path, "1,0\n1,1\n", **options)


def test_errors_name_the_group_and_the_row_of_the_file(tmp_path: Path) -> None:
    text = "problem,model,score\na,M,1\na,N,1\na,N,0\n"
    found = report(tmp_path, text, "pass@2")
    assert values(found) == {("M",): [], ("N",): [1.0]}
    assert [row["value"] for row in rows(found)] == [None, "1.00"]
    assert any("M / pass@2: needs 2 trials" in line for line in explanation(found))
    with pytest.raises(InvalidInput, match="row 4 has 'x'"):
        report(tmp_path, text + "b,N,x\n")
    with pytest.raises(InvalidInput, match="problem is empty in row 4"):
        report(tmp_path, text + ",N,1\n")
    found = report(tmp_path, text + "a,L,\n")
    assert "L / pass@1: no trial has a score (1 missing)." in explanation(found)
    with pytest.raises(InvalidInput, match="N: a problem must be in one cluster"):
        report(tmp_path, "problem,model,score,cluster\na,M,1,x\na,N,1,x\na,N,1,y\n")


def test_nothing_scored(tmp_path: Path) -> None:
    text = "problem,score,status\na,,timeout\nb,,timeout\n"
    for metrics in ((), ("avg",), ("pass@*",)):
        with pytest.raises(NotEnoughData, match=r"no trial has a score \(2 timeout\)"):
            report(tmp_path, text, *metrics)
    assert values(report(tmp_path, text, policy="fail")) == {(): [0.0]}


def test_a_threshold_makes_grades_binary(tmp_path: Path) -> None:
    text = "problem,score\na,0.9\na,0.2\nb,0.6\nb,0.7\n"
    assert names(report(tmp_path, text)) == ["avg", "max@2"]
    assert values(report(tmp_path, text, "pass@1", threshold=0.5)) == {(): [0.75]}
    with pytest.raises(InvalidInput, match=r"got 0\.2, 0\.6, 0\.7, 0\.9\..*--threshold 0\.55"):
        report(tmp_path, text, "pass@1")


@pytest.mark.parametrize(
    ("trials", "ks"),
    [([2], "1,2"), ([3, 9], "1,2,3"), ([64], "1,4,16,64"), ([0, 5], "1,2,4,5")],
)
def test_what_is_shown_unasked_is_there_for_every_problem(trials: list[int], ks: str) -> None:
    outcomes = Outcomes.from_counts([0] * len(trials), trials)
    assert default_metrics(outcomes) == [f"pass@{ks}", f"pass^{ks[2:]}"]
    assert default_metrics(Outcomes.from_counts([0], 1)) == ["pass@1"]


def test_the_default_follows_the_policy(tmp_path: Path) -> None:
    text = "problem,score\na,1\na,0\nb,1\nb,\n"
    dropped, failed = report(tmp_path, text), report(tmp_path, text, policy="fail")
    assert names(dropped) == ["pass@1"]
    assert names(failed) == ["pass@1", "pass@2", "pass^2"]


# -- intervals -------------------------------------------------------------------------------

COUNTS = "problem,n,c\n" + "".join(f"p{i},8,{c}\n" for i, c in enumerate([0, 8, 4, 7] * 6))


def test_the_table_is_rounded_by_the_error_and_the_full_rows_are_not(tmp_path: Path) -> None:
    found = report(tmp_path, COUNTS, "pass@1,2", level=0.9)
    for shown, full in zip(rows(found), full_rows(found), strict=True):
        low, high = full["low"], full["high"]
        assert isinstance(low, float)
        assert isinstance(high, float)
        ends = re.fullmatch(r"\[(\S+), (\S+)\]", str(shown["90% interval"]))
        assert ends is not None
        places = len(ends[1].partition(".")[2])
        assert (ends[1], ends[2]) == (f"{low:.{places}f}", f"{high:.{places}f}")
        assert shown["value"] == f"{full['value']:.{places}f}"
        assert 1 <= (high - low) / 2 * 10**places < 100  # one or two digits of the half-width
        assert (full["level"], full["over"], full["method"]) == (0.9, "problems", "auto")
        assert isinstance(full["se"], float)


def test_a_value_without_an_interval_has_a_dash(tmp_path: Path) -> None:
    found = report(tmp_path, "problem,score\na,0.5\na,7\n", "avg")
    assert rows(found)[0]["95% interval"] == "-"
    assert full_rows(found)[0]["low"] is None
    assert explanation(found)[1:] == [f"avg: {notes.ONE_PROBLEM_NO_INTERVAL}"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({}, ["(95%)", "problems like these", "--over trials"]),
        ({"over": "trials"}, ["(95%)", "these very problems", "--over problems"]),
        ({"level": 0.999}, ["(99.9%)"]),
    ],
)
def test_the_target_and_the_level_are_said(
    tmp_path: Path, wanted: dict[str, Any], words: list[str]
) -> None:
    (meaning,) = explanation(report(tmp_path, COUNTS, "pass@1", **wanted))
    for word in words:
        assert word in meaning


def test_a_note_is_said_once_with_the_metrics_it_is_about(tmp_path: Path) -> None:
    text = "problem,model,score\na,M,1\nb,M,0\na,N,0\nb,N,1\n"
    found = report(tmp_path, text, "pass@1", "pass^1", over="trials")
    one_trial, few = explanation(found)[1:]
    everything = "all: "
    assert one_trial.startswith(f"{everything}one trial per problem cannot")
    assert few.startswith(f"{everything}only 2 problems")
    single = explanation(report(tmp_path, "problem,score\na,1\na,0\n", "pass@1,2"))
    assert single[1] == f"all: {notes.ONE_PROBLEM}"


def test_the_two_targets_differ(tmp_path: Path) -> None:
    like, very = (
        report(tmp_path, COUNTS, "pass@1", over=over).groups[0].lines[0].estimate
        for over in ("problems", "trials")
    )
    assert like.value == very.value
    assert like.low is not None
    assert like.high is not None
    assert very.low is not None
    assert very.high is not None
    assert like.low < very.low < very.high < like.high


def test_a_column_named_like_the_interval_keeps_its_place(tmp_path: Path) -> None:
    found = report(tmp_path, "problem,95% interval,score\na,x,1\n", "avg", by=["95% interval"])
    assert rows(found)[0]["95% interval (column)"] == "x"
    assert rows(found)[0]["95% interval"] != "x"


def test_wrong_wishes_are_refused(tmp_path: Path) -> None:
    for level in (0.0, 1.0, -1.0, 95.0, float("nan")):
        with pytest.raises(InvalidInput, match="level must be a number between 0 and 1"):
            report(tmp_path, COUNTS, level=level)
    with pytest.raises(InvalidInput, match=r"'autoo'.*Did you mean 'auto'\?"):
        report(tmp_path, COUNTS, method="autoo")


def test_a_k_that_is_too_large_leaves_the_others(tmp_path: Path) -> None:
    found = report(tmp_path, COUNTS, "pass@1,20")
    assert names(found) == ["pass@1", "pass@20"]
    assert [row["value"] is None for row in rows(found)] == [False, True]
    assert any(line.startswith("pass@20: needs 20 trials") for line in explanation(found))


def test_notes_that_differ_in_numbers_alone_are_one_line(tmp_path: Path) -> None:
    rows = [(p, t, int(t < min(p // 2, 7))) for p in range(30) for t in range(8)]
    text = "problem,trial,score\n" + "".join(f"{p},{t},{s}\n" for p, t, s in rows)
    few, many = (explanation(report(tmp_path, text, f"pass@{ks}")) for ks in ("1,8", "1-8"))
    assert sum("of 30 problems have the same value" in line for line in few) == 1
    [line] = [line for line in many if "of 30 problems have the same value" in line]
    assert re.match(r"pass@[\d,]*6[\d,]*: \d+-\d+ of 30 problems", line)
