"""`passband compare` and `passband plan`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from support.runs.commands import run


def write(path: Path, shift: float, seed: int, model: str | None = None) -> Path:
    rng = np.random.default_rng(seed)
    p = np.clip(np.linspace(0, 1, 30) + shift, 0, 1)
    head = "task_id,sample,passed" if model is None else "model,task_id,sample,passed"
    rows = [
        ("" if model is None else f"{model},") + f"T{at},{trial},{int(rng.random() < rate)}"
        for at, rate in enumerate(p)
        for trial in range(8)
    ]
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "a.csv", 0.0, 1), write(tmp_path / "b.csv", 0.2, 2)


def test_two_files(two: tuple[Path, Path]) -> None:
    done = run("compare", *two, "-m", "pass@1,4")
    assert done.code == 0
    head, _, first, second = done.out.splitlines()
    assert head.split()[:4] == ["metric", "a", "b", "difference"]
    assert first.startswith("pass@1")
    assert second.startswith("pass@4")
    assert "paired by problem" in done.err
    assert "95% intervals are for problems like these" in done.err
    assert "2 comparisons; p (Holm), and with it the verdict, counts all of them." in done.err
    assert "30 problems count" not in done.err
    detailed = run("compare", *two, "-m", "pass@1,4", "--details")
    assert detailed.out == done.out
    assert "pass@4: 30 problems count" in detailed.err


def test_json_holds_the_comparison_in_full(two: tuple[Path, Path]) -> None:
    done = run("compare", *two, "-m", "pass@1", "--json")
    whole = json.loads(done.out)
    assert (whole["passband"], whole["version"]) == ("comparison", 1)
    (task,) = whole["tasks"]
    assert (task["task"], task["models"], task["rankings"]) == (None, ["a", "b"], [])
    (found,) = task["comparisons"]
    assert found["value"] == pytest.approx(found["value_b"] - found["value_a"])
    assert found["low"] < found["value"] < found["high"]
    assert found["n_shared"] == 30


def test_a_margin_gives_a_verdict(two: tuple[Path, Path]) -> None:
    done = run("compare", *two, "-m", "pass@1", "--margin", "0.02")
    assert done.code == 0
    assert done.out.splitlines()[0].split()[-1] == "verdict"
    assert done.out.splitlines()[2].split()[-1] == "better"
    assert "pass@1: b is better than a; " in done.err
    assert "; moved most by T" in done.err
    whole = json.loads(run("compare", *two, "-m", "pass@1", "--margin", "0.02", "--json").out)
    assert (whole["margin"], whole["test"]) == (0.02, "interval")
    found = whole["tasks"][0]["comparisons"][0]
    assert found["decision"]["verdict"] == "better"
    assert 0.5 < found["confidence"] < 1
    assert len(found["influence"]["problems"]) == 5


def test_an_open_question_says_what_would_settle_it(tmp_path: Path) -> None:
    two = write(tmp_path / "a.csv", 0.0, 1), write(tmp_path / "b.csv", 0.01, 5)
    done = run("compare", *two, "-m", "pass@1")
    assert done.out.splitlines()[2].split()[-1] == "undecided"
    assert "the verdict would be" not in done.err
    assert "more problems" in done.err
    assert "80% power, if the true difference is the one seen" in done.err


@pytest.mark.parametrize("margin", ["0", "-0.1", "nan", "1", "many"])
def test_margins_that_mean_nothing(two: tuple[Path, Path], margin: str) -> None:
    done = run("compare", *two, "--margin", margin)
    assert (done.code, done.out) == (2, "")
    assert "margin" in done.err


def test_other_tests(two: tuple[Path, Path], tmp_path: Path) -> None:
    exact = json.loads(run("compare", *two, "-m", "pass@1", "--test", "exact", "--json").out)
    assert exact["tasks"][0]["comparisons"][0]["test"] == "exact sign flips"
    apart = run("compare", *two, "--test", "mid-p", "--unpaired")
    assert (apart.code, apart.out) == (2, "")
    third = write(tmp_path / "c.csv", 0.1, 3)
    many = run("compare", *two, third, "--margin", "0.02")
    assert (many.code, many.out) == (2, "")
    assert "for two models; there are 3" in many.err


def test_one_file_with_several_models_is_ranked(tmp_path: Path) -> None:
    parts = [write(tmp_path / f"{m}.csv", s, i, m) for i, (m, s) in enumerate(MODELS.items())]
    whole = tmp_path / "all.csv"
    lines = [part.read_text().splitlines() for part in parts]
    whole.write_text("\n".join([lines[0][0], *(row for part in lines for row in part[1:])]))
    done = run("compare", whole, "-m", "pass@1")
    assert done.code == 0
    assert done.out.splitlines()[2].split()[:3] == ["pass@1", "1", "strong"]
    assert "p (Holm)" in done.out
    (task,) = json.loads(run("compare", whole, "-m", "pass@1", "--json").out)["tasks"]
    assert len(task["rankings"]) == 1


MODELS = {"weak": -0.4, "middle": 0.0, "strong": 0.5}


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_other_formats(two: tuple[Path, Path], form: str) -> None:
    assert run("compare", *two, "-m", "pass@1", "--format", form, "-q").code == 0


def test_asked_wrongly(two: tuple[Path, Path], tmp_path: Path) -> None:
    alone = run("compare", two[0])
    assert (alone.code, alone.out) == (2, "")
    assert "several models" in alone.err
    other = tmp_path / "c.csv"
    other.write_text("task_id,passed\nX1,1\nX2,0\n")
    apart = run("compare", two[0], other)
    assert (apart.code, apart.out) == (2, "")
    assert run("compare", *two, "-m", "pass@9").code == 2
    assert run("compare", *two, "--level", "1").code == 2


def test_a_plan_is_written_and_checked(two: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    done = run("plan", "--half-width", "0.05", "--pilot", two[0], "--out", out)
    assert done.code == 0
    assert "for an interval of ±0.05 at level 0.95" in done.out
    checked = run("stats", two[0], "-m", "pass@1", "--plan", out)
    assert "planned" in checked.err
    assert "done 30 x 8" in checked.err
    out.write_text(out.read_text().replace('"trials": ', '"trials": 1', 1))
    tampered = run("stats", two[0], "-m", "pass@1", "--plan", out)
    assert (tampered.code, tampered.out) == (2, "")
    assert "changed after it was saved" in tampered.err


def test_millers_numbers() -> None:
    done = run("plan", "--difference", "0.03", "--between", "0.1111111111", "--json")
    assert round(json.loads(done.out)["exact"], 1) == 969.0
    arguments = ("--between", "0.1111111111", "--within", "0.1666666667", "--trials", "10")
    done = run("plan", "--difference", "0.03", *arguments, "--json")
    assert round(json.loads(done.out)["exact"], 1) == 1259.7


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--half-width", "0.1", "--difference", "0.1"),
        ("--half-width", "0.1"),
        ("--difference", "0.1"),
        ("--difference", "-1", "--between", "0.1"),
        ("--half-width", "0.1", "--between", "0.1", "--within", "0.1", "--trials", "4"),
        ("--half-width", "0.1", "--between", "0.1", "--within", "0.1", "--power", "0.9"),
        ("--difference", "0.1", "--between", "0.1", "--over", "trials"),
        ("--difference", "0.1", "--between", "0.1", "--problems", "9"),
        ("--difference", "0.1", "--between", "0.1", "--correlation", "0.2"),
        ("--half-width", "0", "--between", "0.1", "--within", "0.1"),
    ],
)
def test_plans_asked_wrongly(arguments: tuple[str, ...]) -> None:
    done = run("plan", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("passband: ")


def test_a_difference_from_a_pilot(two: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("plan", "--difference", "0.1", "--pilot", two[0], "--correlation", "0.7")
    assert done.code == 0
    assert "for a difference of 0.1" in done.out
    assert "correlation 0.7 across problems is assumed" in done.out
    both = run("plan", "--difference", "0.1", "--pilot", two[0], "--between", "0.1")
    assert (both.code, both.out) == (2, "")
    assert "give either a --pilot or --between and --within, not both" in both.err
    lost = run("plan", "--difference", "0.1", "--pilot", two[0], "--out", tmp_path / "no" / "p")
    assert (lost.code, lost.out) == (2, "")
    assert "cannot be written" in lost.err


def test_what_a_pilot_detects(two: tuple[Path, Path]) -> None:
    done = run("plan", "--pilot", two[0])
    assert done.code == 0
    assert "30 problems find a difference in pass@1 of" in done.out


def test_models_named_like_columns_keep_their_own(tmp_path: Path) -> None:
    p, verdict = write(tmp_path / "p.csv", 0.0, 1), write(tmp_path / "verdict.csv", 0.2, 2)
    done = run("compare", p, verdict, "-m", "pass@1")
    assert "p (model)" in done.out
    assert "verdict (model)" in done.out


def test_the_same_file_twice_is_refused(two: tuple[Path, Path]) -> None:
    assert run("compare", two[0], two[0]).code == 2
    assert run("compare", two[0], two[1], two[0]).code == 2


def test_default_metrics_fit_the_side_with_fewer_trials(tmp_path: Path) -> None:
    short = tmp_path / "short.csv"
    long = write(tmp_path / "long.csv", 0.0, 1)
    rows = [row for row in long.read_text().splitlines() if not row.endswith((",7,0", ",7,1"))]
    short.write_text("\n".join(rows))
    assert run("compare", long, short).code == run("compare", short, long).code == 0


def test_tasks_are_not_taken_for_models(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    scores = {"At1": (1, 0, 0), "Bt1": (1, 1, 0), "At2": (1, 1, 1), "Bt2": (0, 1, 0)}
    rows = [f"{m},{t},{p},{scores[m + t][p]}" for m in "AB" for t in ("t1", "t2") for p in range(3)]
    path.write_text("\n".join(["model,task,problem,passed", *rows]))
    tasks = json.loads(run("compare", path, "-m", "pass@1", "--json").out)["tasks"]
    assert [task["task"] for task in tasks] == ["t1", "t2"]
    assert [task["models"] for task in tasks] == [["A", "B"]] * 2
    values = [task["comparisons"][0]["value"] for task in tasks]
    assert values == pytest.approx([1 / 3, -2 / 3])
    shown = run("compare", path, "-m", "pass@1")
    assert shown.out.splitlines()[0].split()[:4] == ["task", "metric", "A", "B"]


def test_csv_has_numbers_in_full(two: tuple[Path, Path]) -> None:
    head, row = run("compare", *two, "-m", "pass@1", "--format", "csv", "-q").out.splitlines()
    found = dict(zip(head.split(","), row.split(","), strict=True))
    assert len(found["low"]) > 8
    assert found["n_problems"] == "30"
