"""The report behind `passband stats`: what is split, what is said, what is left out."""

import json
import re
from pathlib import Path

import pytest

from passband import InvalidInput, NotEnoughData, Outcomes
from passband.notes import ONE_PROBLEM, ONE_PROBLEM_NO_INTERVAL, notes_as_json
from passband.report.stats import StatsReport, Wanted, default_metrics, measure_file

NO_COLUMNS: dict[str, str | None] = {}


def report(folder: Path, text: str, *metrics: str, **options: object) -> StatsReport:
    path = folder / "trials.csv"
    path.write_text(text)
    columns = options.pop("columns", NO_COLUMNS)
    return measure_file(path, metrics, columns=columns, **options)


def values(found: StatsReport) -> dict[tuple[str, ...], list[float]]:
    return {group.key: [m.value for m in group.estimates] for group in found.groups}


SIMPLE = "problem,trial,score\na,1,1\na,2,0\nb,1,1\nb,2,\n"


def test_one_group(tmp_path: Path) -> None:
    found = report(tmp_path, SIMPLE, "pass@1,2", "pass^1")
    counted = ("metric", "value", "problems", "left out", "trials")
    assert [{name: row[name] for name in counted} for row in found.full_rows()] == [
        {"metric": "pass@1", "value": 0.75, "problems": 2, "left out": 0, "trials": 3},
        {"metric": "pass@2", "value": 1.0, "problems": 1, "left out": 1, "trials": 2},
        {"metric": "pass^1", "value": 0.75, "problems": 2, "left out": 0, "trials": 3},
    ]
    assert [list(row) for row in found.rows()] == [
        ["metric", "value", "95% interval", "problems", "left out", "trials"]
    ] * 3
    assert [row["metric"] for row in found.rows()] == ["pass@1", "pass@2", "pass^1"]
    assert [row["left out"] for row in found.rows()] == [0, 1, 0]
    assert found.remarks() == [
        "columns: problem = problem, score = score, trial = trial",
        "2 problems, 1-2 trials each, 3 scored, 1 missing",
        "trials without a score are left out (--policy fail counts them as failures)",
    ]


def test_policies(tmp_path: Path) -> None:
    failed = report(tmp_path, SIMPLE, "pass@2", wanted=Wanted(policy="fail"))
    assert failed.rows()[0]["problems"] == 2
    assert failed.remarks()[-1] == "trials without a score count as failures"
    assert failed.as_json()["policy"] == "fail"
    with pytest.raises(InvalidInput, match="1 missing without a score"):
        report(tmp_path, SIMPLE, wanted=Wanted(policy="error"))
    complete = report(tmp_path, "problem,score\na,1\n", wanted=Wanted(policy="error"))
    assert len(complete.remarks()) == 2


def test_json_holds_everything(tmp_path: Path) -> None:
    found = json.loads(json.dumps(report(tmp_path, SIMPLE, "pass@2").as_json()))
    assert found["columns"] == {
        "problem": "problem", "score": "score", "trial": "trial", "cluster": None, "status": None,
    }  # fmt: skip
    (group,) = found["groups"]
    assert (group["by"], group["n_problems"]) == ({}, 2)
    assert group["status"] == {"ok": 3, "missing": 1}
    (metric,) = group["metrics"]
    assert (metric["metric"], metric["value"], metric["left_out"]) == ("pass@2", 1.0, 1)
    assert (metric["n_unscored"], metric["policy"]) == (1, "drop")
    assert 0 < metric["low"] < metric["high"] == 1.0
    assert metric["se"] > 0
    assert (metric["level"], metric["over"], metric["method"]) == (0.95, "problems", "auto")
    assert metric["notes"] == notes_as_json([ONE_PROBLEM])
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
    assert found.by == (name,)
    assert values(found) == {("M",): [1.0], ("N",): [0.0]}
    assert f"split by: {name}" in found.remarks()
    assert len({tuple(row.values()) for row in found.rows()}) == 2
    assert [row["metric"] for row in found.rows()] == ["pass@1", "pass@1"]


def test_one_model_is_not_split(tmp_path: Path) -> None:
    found = report(tmp_path, "problem,model,score\na,M,1\nb,M,0\n")
    assert found.by == ()


def test_split_by_several_and_by_choice(tmp_path: Path) -> None:
    text = "problem,model,task,language,score\na,M,t,x,1\na,N,u,y,0\n"
    assert report(tmp_path, text).by == ("model", "task")
    chosen = report(tmp_path, text, by=["language"])
    assert values(chosen).keys() == {("x",), ("y",)}
    assert chosen.as_json()["groups"][0]["by"] == {"language": "x"}
    with pytest.raises(InvalidInput, match=r"'modell'.*Did you mean 'model'\?"):
        report(tmp_path, text, by=["modell"])


def test_a_column_in_use_does_not_split(tmp_path: Path) -> None:
    text = "problem,run,score\na,1,1\na,2,0\n"
    assert (
        "if run numbers the trials of a problem, say --trial run"
        in report(tmp_path, text).remarks()
    )
    told = report(tmp_path, text, "pass@2", columns={"trial": "run"})
    assert values(told) == {(): [1.0]}


def test_other_scores_are_mentioned(tmp_path: Path) -> None:
    text = "problem,acc,reward\na,1,0.5\n"
    assert "not used as score: acc (choose with --score)" in report(tmp_path, text).remarks()
    told = report(tmp_path, text, columns={"score": "acc"})
    assert told.remarks()[0] == "columns: problem = problem, score = acc"
    assert not any("not used" in line for line in told.remarks())


def test_other_shapes_are_said(tmp_path: Path) -> None:
    wide = report(tmp_path, "problem,model,try 1,try 2\na,M,1,0\na,N,0,0\n", "pass@2")
    assert "a column per trial: try 1, try 2" in wide.remarks()
    assert values(wide) == {("M",): [1.0], ("N",): [0.0]}
    counted = report(tmp_path, "problem,n,c\na,4,1\n", "pass@2")
    assert "counts: c successes of n trials" in counted.remarks()
    assert values(counted) == {(): [pytest.approx(0.5)]}


def test_a_matrix_has_no_columns(tmp_path: Path) -> None:
    found = report(tmp_path, "1,0\n1,1\n", "pass^2")
    assert found.remarks()[0] == "read as a matrix, a row per problem"
    assert found.as_json()["columns"] is None
    for options in ({"by": ["model"]}, {"columns": {"score": "passed"}}):
        with pytest.raises(InvalidInput, match="a matrix without column names"):
            report(tmp_path, "1,0\n1,1\n", **options)


def test_errors_name_the_group_and_the_row_of_the_file(tmp_path: Path) -> None:
    text = "problem,model,score\na,M,1\na,N,1\na,N,0\n"
    with pytest.raises(NotEnoughData, match="M: pass@2 needs 2 trials"):
        report(tmp_path, text, "pass@2")
    with pytest.raises(InvalidInput, match="row 4 has 'x'"):
        report(tmp_path, text + "b,N,x\n")
    with pytest.raises(InvalidInput, match="problem is empty in row 4"):
        report(tmp_path, text + ",N,1\n")
    with pytest.raises(NotEnoughData, match=r"L: no trial has a score \(1 missing\)"):
        report(tmp_path, text + "a,L,\n")
    with pytest.raises(InvalidInput, match="N: a problem must be in one cluster"):
        report(tmp_path, "problem,model,score,cluster\na,M,1,x\na,N,1,x\na,N,1,y\n")


def test_nothing_scored(tmp_path: Path) -> None:
    text = "problem,score,status\na,,timeout\nb,,timeout\n"
    for metrics in ((), ("avg",), ("pass@*",)):
        with pytest.raises(NotEnoughData, match=r"no trial has a score \(2 timeout\)"):
            report(tmp_path, text, *metrics)
    assert values(report(tmp_path, text, wanted=Wanted(policy="fail"))) == {(): [0.0, 0.0]}


def test_a_threshold_makes_grades_binary(tmp_path: Path) -> None:
    text = "problem,score\na,0.9\na,0.2\nb,0.6\nb,0.7\n"
    assert [m.metric for m in report(tmp_path, text).groups[0].estimates] == [
        "avg", "max@1", "max@2",
    ]  # fmt: skip
    assert values(report(tmp_path, text, "pass@1", threshold=0.5)) == {(): [0.75]}
    with pytest.raises(InvalidInput, match=r"got 0\.2, 0\.6, 0\.7, 0\.9\..*--threshold 0\.55"):
        report(tmp_path, text, "pass@1")


@pytest.mark.parametrize(
    ("trials", "ks"),
    [([1], "1"), ([2], "1,2"), ([3, 9], "1,2"), ([64], "1,2,4,8,16,32,64"), ([0, 5], "1,2,4")],
)
def test_what_is_shown_unasked_is_there_for_every_problem(trials: list[int], ks: str) -> None:
    outcomes = Outcomes.from_counts([0] * len(trials), trials)
    assert default_metrics(outcomes) == [f"pass@{ks}", f"pass^{ks}"]


def test_the_default_follows_the_policy(tmp_path: Path) -> None:
    text = "problem,score\na,1\na,0\nb,1\nb,\n"
    dropped, failed = report(tmp_path, text), report(tmp_path, text, wanted=Wanted(policy="fail"))
    assert [m.metric for m in dropped.groups[0].estimates] == ["pass@1", "pass^1"]
    assert [m.metric for m in failed.groups[0].estimates] == [
        "pass@1", "pass@2", "pass^1", "pass^2",
    ]  # fmt: skip


# -- intervals -------------------------------------------------------------------------------

COUNTS = "problem,n,c\n" + "".join(f"p{i},8,{c}\n" for i, c in enumerate([0, 8, 4, 7] * 6))


def test_the_table_is_rounded_by_the_error_and_the_full_rows_are_not(tmp_path: Path) -> None:
    found = report(tmp_path, COUNTS, "pass@1,2", wanted=Wanted(level=0.9))
    for shown, full in zip(found.rows(), found.full_rows(), strict=True):
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
    found = report(tmp_path, "problem,score\na,0.5\na,0.7\n", "avg")
    assert found.rows()[0]["95% interval"] == "-"
    assert found.full_rows()[0]["low"] is None
    assert found.explanation()[1:] == [f"avg: {ONE_PROBLEM_NO_INTERVAL}"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(), ["(95%)", "problems like these", "--over trials"]),
        (Wanted(over="trials"), ["(95%)", "these very problems", "--over problems"]),
        (Wanted(level=0.999), ["(99.9%)"]),
    ],
)
def test_the_target_and_the_level_are_said(
    tmp_path: Path, wanted: Wanted, words: list[str]
) -> None:
    (meaning,) = report(tmp_path, COUNTS, "pass@1", wanted=wanted).explanation()
    for word in words:
        assert word in meaning


def test_a_note_is_said_once_with_the_metrics_it_is_about(tmp_path: Path) -> None:
    text = "problem,model,score\na,M,1\nb,M,0\na,N,0\nb,N,1\n"
    found = report(tmp_path, text, "pass@1", "pass^1", wanted=Wanted(over="trials"))
    one_trial, few = found.explanation()[1:]
    everything = "M / pass@1, M / pass^1, N / pass@1, N / pass^1: "
    assert one_trial.startswith(f"{everything}one trial per problem")
    assert few.startswith(f"{everything}only 2 problems")
    single = report(tmp_path, "problem,score\na,1\na,0\n", "pass@1,2").explanation()
    assert single[1] == f"pass@1, pass@2: {ONE_PROBLEM}"


def test_the_two_targets_differ(tmp_path: Path) -> None:
    like, very = (
        report(tmp_path, COUNTS, "pass@1", wanted=Wanted(over=over)).groups[0].estimates[0]
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
    assert found.rows()[0]["95% interval (column)"] == "x"
    assert found.rows()[0]["95% interval"] != "x"


def test_wrong_wishes_are_refused(tmp_path: Path) -> None:
    for level in (0.0, 1.0, -1.0, 95.0, float("nan")):
        with pytest.raises(InvalidInput, match="level must be a number between 0 and 1"):
            report(tmp_path, COUNTS, wanted=Wanted(level=level))
    with pytest.raises(InvalidInput, match=r"'autoo'.*Did you mean 'auto'\?"):
        report(tmp_path, COUNTS, wanted=Wanted(method="autoo"))
