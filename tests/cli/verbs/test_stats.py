"""`passband stats` from the outside: what it prints, how it exits, that it never falls."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from passband import __version__
from passband.cli.app import app
from passband.stats.data.spending import SPENT_METRICS
from passband.stats.metric.registry import families
from support.fuzz.properties import one_in
from support.runs.commands import Done, finish, process, run
from support.samples.any_files import KINDS, json_values, tables, texts

TRIALS = "problem,trial,score\n" + "".join(
    f"{problem},{trial},{int(trial <= wins)}\n"
    for problem, wins in {"a": 8, "b": 4, "c": 0}.items()
    for trial in range(1, 9)
)


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    path = tmp_path / "trials.csv"
    path.write_text(TRIALS)
    return path


def stats(folder: Path, text: str | bytes, *options: object, name: str = "t.csv") -> Done:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return run("stats", path, *options)


def assert_refused(done: Done, *words: str) -> None:
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("passband: ")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


# -- what it prints --------------------------------------------------------------------------


def test_a_table_to_read(trials: Path) -> None:
    done = run("stats", trials, "--metric", "pass@1,8", "--metric", "pass^8")
    assert done.code == 0
    assert done.out.splitlines() == [
        "metric  value  95% interval  problems  trials",
        "------  -----  ------------  --------  ------",
        "pass@1  0.50   [0.12, 0.88]         3      24",
        "pass@8  0.67   [0.17, 0.97]         3      24",
        "pass^8  0.33   [0.03, 0.83]         3      24",
    ]
    read, counted, blank, meaning, *notes = done.err.splitlines()
    assert read == "columns: problem = problem, score = score, trial = trial"
    assert counted == "3 problems, 8 trials each, 24 scored"
    assert blank == ""
    assert meaning.startswith("Intervals (95%) are for problems like these")
    assert notes == [
        "pass@1: only 3 problems, so the interval is rough; add problems",
        "pass@8, pass^8: 2 of 3 problems have the same value, so the interval is rough; "
        "add problems",
    ]


def test_only_the_result(trials: Path) -> None:
    assert run("stats", trials, "--quiet").err == ""
    assert run("stats", trials, "-q").out == run("stats", trials).out


def test_json(trials: Path) -> None:
    done = run("stats", trials, "-m", "pass@8", "--json")
    assert done == run("stats", trials, "-m", "pass@8", "--format", "json")
    found = json.loads(done.out)
    assert found["groups"][0]["lines"][0]["estimate"]["value"] == pytest.approx(2 / 3)
    assert found["columns"]["score"] == "score"
    assert done.err == ""


def test_other_formats(trials: Path) -> None:
    found = run("stats", trials, "-m", "pass@8", "--format", "csv").out
    assert next(csv.DictReader(io.StringIO(found)))["value"].startswith("0.666666666")
    assert run("stats", trials, "--format", "markdown").out.startswith("| metric")
    assert run("stats", trials, "--format", "latex").out.startswith(r"\begin{tabular}")


def test_columns_can_be_named(tmp_path: Path) -> None:
    text = "name,go,good,fate,kind\na,1,1,ok,x\na,2,,lost,x\n"
    done = stats(
        tmp_path, text, "--problem", "name", "--trial", "go", "--score", "good",
        "--status", "fate", "--cluster", "kind",
    )  # fmt: skip
    assert done.code == 0
    assert "problem = name, score = good, trial = go, cluster = kind, status = fate" in done.err
    assert "1 cluster," in done.err
    assert "1 lost" in done.err


def test_several_models_are_split(tmp_path: Path) -> None:
    text = "problem,model,score\na,M,1\na,N,0\nb,M,1\nb,N,1\n"
    done = stats(tmp_path, text, "-m", "pass@1")
    assert "split by: model" in done.err
    assert done.out.splitlines()[2:] == [
        "M      pass@1  1.00   [0.16, 1.00]         2       2",  # 0.025 ** (1/2) = 0.16
        "N      pass@1  0.50   [0.01, 0.99]         2       2",
    ]


def test_threshold_and_policy(tmp_path: Path) -> None:
    text = "problem,score\na,0.9\na,\nb,0.1\nb,0.8\n"
    done = stats(tmp_path, text, "-m", "pass@2", "--threshold", "0.5", "--policy", "fail", "--json")
    (line,) = json.loads(done.out)["groups"][0]["lines"]
    metric = line["estimate"]
    assert (metric["value"], metric["policy"], metric["n_unscored"]) == (1.0, "fail", 1)


def test_every_metric_can_be_asked_for(trials: Path) -> None:
    for key in families:
        if key not in ("spectrum@", "vote@", "cons@", *SPENT_METRICS):
            assert run("stats", trials, "-m", f"{key}4" if key[-1] in "@^" else key).code == 0


# -- intervals -------------------------------------------------------------------------------


def metrics_of(done: Done) -> list[dict]:
    assert done.code == 0, done.err
    return [line["estimate"] for line in json.loads(done.out)["groups"][0]["lines"]]


def test_an_interval_is_for_one_of_two_targets(trials: Path) -> None:
    asked = ("stats", trials, "-m", "pass@1", "--json")
    (like,) = metrics_of(run(*asked))
    (very,) = metrics_of(run(*asked, "--over", "trials"))
    assert (like["over"], very["over"]) == ("problems", "trials")
    assert run(*asked, "--over", "problems") == run(*asked)
    assert like["value"] == very["value"] == 0.5
    assert like["low"] < very["low"] < 0.5 < very["high"] < like["high"]
    shown = run("stats", trials, "-m", "pass@1", "--over", "trials")
    assert "these very problems" in shown.err
    assert shown.out != run("stats", trials, "-m", "pass@1").out


def test_a_higher_level_gives_a_wider_interval(trials: Path) -> None:
    widths = []
    for level in ("0.5", "0.8", "0.95", "0.999"):
        (found,) = metrics_of(run("stats", trials, "-m", "pass@2", "--level", level, "--json"))
        assert found["level"] == float(level)
        widths.append(found["high"] - found["low"])
    assert widths == sorted(set(widths))
    shown = run("stats", trials, "-m", "pass@2", "--level", "0.8")
    assert "80% interval" in shown.out
    assert "Intervals (80%)" in shown.err


def test_the_json_says_what_the_interval_rests_on(trials: Path) -> None:
    (found,) = metrics_of(run("stats", trials, "-m", "pass@8", "--over", "trials", "--json"))
    assert found["low"] < found["value"] < found["high"]
    assert (found["method"], found["over"], found["level"]) == ("auto", "trials", 0.95)
    assert found["seed"] is None
    assert [note["code"] for note in found["notes"]] == [
        "k-above-half",
        "few-informative",
    ]


def test_the_csv_has_numbers_in_full(trials: Path) -> None:
    done = run("stats", trials, "-m", "pass@1,8", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    found = metrics_of(run("stats", trials, "-m", "pass@1,8", "--json"))
    assert list(rows[0]) == [
        "metric", "value", "low", "high", "se", "level", "over", "method", "problems", "left out",
        "no score", "trials",
    ]  # fmt: skip
    for row, full in zip(rows, found, strict=True):
        for name in ("value", "low", "high", "se", "level"):
            assert float(row[name]) == full[name]
        assert (row["over"], row["method"], row["metric"]) == ("problems", "auto", full["metric"])
        assert len(row["low"]) > 10
    assert "interval" not in done.out


def test_a_missing_interval_is_an_empty_cell(tmp_path: Path) -> None:
    done = stats(tmp_path, "problem,score\na,0.5\na,7\n", "-m", "avg", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.out))
    assert (row["low"], row["high"], row["se"]) == ("", "", "")


def test_a_seed_is_a_number_or_a_name(trials: Path) -> None:
    asked = ("stats", trials, "-m", "pass@1", "--json")
    for text, read in (("7", 7), ("0", 0), ("nightly", "nightly"), ("-3", "-3"), ("1.5", "1.5")):
        done = run(*asked, "--seed", text)
        assert done.code == 0
        assert json.loads(done.out)["seed"] == read
    plain, seeded = metrics_of(run(*asked)), metrics_of(run(*asked, "--seed", "nightly"))
    assert plain == seeded  # nothing is random in the default intervals


def test_a_method_can_be_chosen(trials: Path) -> None:
    asked = ("stats", trials, "-m", "pass@1", "-q")
    assert run(*asked, "--method", "auto") == run(*asked)


@pytest.mark.process
def test_the_result_is_the_same_in_every_process(trials: Path) -> None:
    shown = [
        finish("stats", trials, "--over", "trials", "--json", PYTHONHASHSEED=seed).out
        for seed in ("0", "1")
    ]
    assert shown[0] == shown[1]


# -- what it refuses -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", [], ["the file is empty"]),
        ("problem,score\n", [], ["there are columns (problem, score) but no rows"]),
        ("probelm,score\na,1\n", [], ["found: probelm, score", "mean 'probelm'?", "--problem"]),
        ("problem,skore\na,1\n", [], ["found: problem, skore", "mean 'skore'?", "--score"]),
        (TRIALS, ["--score", "scores"], ["no column named 'scores'", "'score'?", "Found: problem"]),
        (TRIALS, ["--by", "model"], ["no column named 'model'", "Found: problem, trial, score"]),
        ("problem,score\na,0.5\na,3\n", ["-m", "pass@1"], ["got 0.5, 3.", "--threshold 1.75"]),
        ("problem,score\na,good\n", [], ["row 1 has 'good'"]),
        ("problem,score\na,1\na,inf\n", [], ["finite", "row 2 has 'inf'"]),
        (TRIALS + "a,1,1\nb,1,1\nb,2,1\nc,8,0\n", [], ["(a, 1); (b, 1); (b, 2) and 1 more"]),
        ("problem,score\na,1\n,1\n", [], ["column problem is empty in row 2"]),
        ("problem,score,cluster\na,1,x\na,1,y\n", [], ["'a' is in 'x' and 'y'"]),
        (TRIALS, ["-m", "pass@0"], ["k must be at least 1"]),
        (TRIALS, ["-m", "pass@9"], ["pass@9 needs 9 trials", "8"]),
        (TRIALS, ["-m", "pas@2"], ["no metric named 'pas@'", "'pass@'?"]),
        (TRIALS, ["-m", "pass@"], ["'pass@' is not the name of a metric", "pass@8"]),
        (TRIALS, ["-m", "pass@1,pas@8"], ["no metric named 'pas@'"]),
        (TRIALS, ["-m", ""], ["is not the name of a metric"]),
        (TRIALS, ["--level", "0"], ["level must be a number between 0 and 1; got 0.0"]),
        (TRIALS, ["--level", "1"], ["level must be a number between 0 and 1; got 1.0"]),
        (TRIALS, ["--level", "95"], ["level must be a number between 0 and 1; got 95.0"]),
        (TRIALS, ["--level", "-0.5"], ["level must be a number between 0 and 1; got -0.5"]),
        (TRIALS, ["--level", "nan"], ["level must be a number between 0 and 1; got nan"]),
        (TRIALS, ["--method", "autoo"], ["no interval method named 'autoo'", "'auto'?"]),
        (TRIALS, ["--method", "zzzzzz"], ["no interval method named", "Known: auto"]),
        (TRIALS, ["--threshold", "nan"], ["threshold must be a finite number"]),
        (TRIALS, ["--threshold", "2"], ["threshold must be in (0, 1]"]),
        ("problem,score\na,1\na,\n", ["--policy", "error"], ["1 missing without a score"]),
        ("problem,score\na,\n", [], ["no trial has a score"]),
        ("problem,score\na,1\nb\n", [], ["t.csv:3: has 1 cell, but there are 2 columns"]),
        ("1,0\n0,yes\n", [], ["t.csv:2: 'yes' in a matrix"]),
        ("1,0\n0,1\n", ["--by", "model"], ["a matrix without column names"]),
        (b"problem,score\n\xe9,1\n", [], ["not UTF-8 text"]),
    ],
)
def test_bad_input(tmp_path: Path, text: str | bytes, options: list[str], words: list[str]) -> None:
    assert_refused(stats(tmp_path, text, *options), *words)


def test_bad_files(tmp_path: Path) -> None:
    assert_refused(run("stats", tmp_path / "trials.csv"), "no such file")
    assert_refused(run("stats", tmp_path), "is not a run directory")
    assert_refused(stats(tmp_path, TRIALS, name="t.txt"), "'.txt'", "known: .csv")
    assert_refused(stats(tmp_path, '{"a": 1}\n{', name="t.jsonl"), "t.jsonl:2: is not JSON")
    assert_refused(stats(tmp_path, "[1, 2", name="t.json"), "t.json:1: is not JSON")
    assert_refused(stats(tmp_path, b"PAR1 no", name="t.parquet"), "not a Parquet file")
    np.save(tmp_path / "t.npy", np.array([["x"]], dtype=object), allow_pickle=True)
    assert_refused(run("stats", tmp_path / "t.npy"), "pickled objects are not loaded")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--policy", "ignore"],
        ["--format", "yaml"],
        ["--threshold", "high"],
        ["--nonsense"],
        ["--over", "models"],
        ["--level", "high"],
    ],
)
def test_options_that_are_not(trials: Path, arguments: list[str]) -> None:
    done = run("stats", *([trials] if arguments else []), *arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err


# -- what reaches the terminal ---------------------------------------------------------------

ESCAPE = "\x1b]0;owned\x07\x1b[31m"


@pytest.mark.parametrize(
    "text",
    [
        f"problem,model,score\na,{ESCAPE}M,1\na,N,0\n",
        f"{ESCAPE}problem,score\na,1\n",
        f"problem,score\na,{ESCAPE}\n",
        f"problem,trial,score\n{ESCAPE},1,1\n{ESCAPE},1,0\n",
        f"problem,score,status\na,,{ESCAPE}\na,1,ok\n",
        f"problem,score,cluster\na,1,{ESCAPE}\na,1,x\n",
        f"1,0\n{ESCAPE},1\n",
    ],
)
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_names_cannot_drive_the_terminal(tmp_path: Path, text: str, form: str) -> None:
    done = stats(tmp_path, text, "--format", form)
    for written in (done.out, done.err):
        assert all(line.isprintable() for line in written.split("\n"))
    assert "x1b]0;owned" in done.out + done.err or "u001b]0;owned" in done.out


def test_column_names_are_escaped_in_the_head_of_the_table(tmp_path: Path) -> None:
    done = stats(tmp_path, f"problem,{ESCAPE}kind,score\na,x,1\n", "--by", f"{ESCAPE}kind")
    assert done.out.startswith(r"\x1b]0;owned\x07\x1b[31mkind  metric")


def test_a_file_name_is_escaped_too(tmp_path: Path) -> None:
    assert_refused(run("stats", tmp_path / f"{ESCAPE}.csv"), r"\x1b]0;owned")


@pytest.mark.process
def test_a_terminal_without_the_letters(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("problem,model,score\na,模型,1\na,N,0\n", encoding="utf-8")
    for form in ("table", "csv", "markdown"):
        done = finish("stats", path, "--format", form, PYTHONIOENCODING="latin-1")
        assert done.code == 0
        assert "\\u6a21" in done.out
        assert "Traceback" not in done.err


# -- as a process ----------------------------------------------------------------------------


@pytest.mark.process
def test_python_dash_m(trials: Path) -> None:
    done = finish("stats", trials, "-m", "pass@1")
    assert (done.code, done.err) == (0, run("stats", trials, "-m", "pass@1").err)
    assert done.out.replace(os.linesep, "\n") == run("stats", trials, "-m", "pass@1").out
    refused = finish("stats", trials, "-m", "pass@99")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("passband: pass@99")


@pytest.mark.process
@pytest.mark.parametrize("wanted", [0, 1])
@pytest.mark.parametrize("options", [["-q"], ["-q", "--json"]])
def test_a_closed_pipe_is_no_accident(tmp_path: Path, wanted: int, options: list[str]) -> None:
    path = tmp_path / "m.csv"
    trials = 1200 if wanted else 100  # more than a pipe holds, where the first line is read
    path.write_text((",".join(["1", "0"] * (trials // 2)) + "\n") * 2)
    with process("stats", path, "-m", "pass@*", *options) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        for _ in range(wanted):
            started.stdout.readline()
        started.stdout.close()
        assert started.stderr.read() == b""


@pytest.mark.process
def test_a_full_disk_is_one_line(trials: Path) -> None:
    full = Path(os.devnull).with_name("full")
    if not full.exists():
        pytest.skip("no full device here")
    with full.open("wb") as out:
        command = [sys.executable, "-m", "passband", "stats", str(trials), "-q"]
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(b"passband: No space left")
    assert b"Traceback" not in done.stderr


# -- any input: a few examples of each kind; tests/readers/test_fuzz.py has many -------------


def assert_survived(done: Done) -> None:
    assert done.code in (0, 2)
    assert "Traceback" not in done.err
    if done.code == 2:
        assert_refused(done)
    else:
        assert done.out


@one_in(12)
@given(
    data=tables(),
    options=st.sampled_from(
        [[], ["-m", "pass@1"], ["-m", "avg"], ["--json"], ["--over", "trials"], ["--level", "0.5"]]
    ),
)
def test_any_table(tmp_path: Path, data: bytes, options: list[str]) -> None:
    assert_survived(stats(tmp_path, data, *options))


@one_in(12)
@given(text=texts)
def test_any_text(tmp_path: Path, text: str) -> None:
    assert_survived(stats(tmp_path, text))


@pytest.mark.parametrize("kind", KINDS)
@one_in(12)
@given(data=st.binary(max_size=60))
def test_any_bytes(tmp_path: Path, kind: str, data: bytes) -> None:
    assert_survived(stats(tmp_path, data, name=f"t.{kind}"))


@one_in(12)
@given(value=json_values)
def test_any_json(tmp_path: Path, value: object) -> None:
    assert_survived(stats(tmp_path, json.dumps(value), name="t.json"))
    assert_survived(stats(tmp_path, json.dumps(value), "-m", "avg", name="t.jsonl"))


@one_in(12)
@given(
    metric=st.text(max_size=8)
    | st.from_regex(r"(pass|maj|g-pass|avg|max)[@^]?[0-9,*]{0,4}(:[0-9./]{0,4})?", fullmatch=True)
)
def test_any_metric(trials: Path, metric: str) -> None:
    if not metric.startswith("-"):
        assert_survived(run("stats", trials, "-m", metric))


# -- the rest of the command -----------------------------------------------------------------


def test_help_and_version() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output == f"passband {__version__}\n"
    assert "stats" in runner.invoke(app, ["--help"]).output
    shown = runner.invoke(app, ["stats", "--help-all"])
    assert shown.exit_code == 0
    for option in ("--metric", "--by", "--threshold", "--policy", "--over", "--level", "--method",
                   "--seed", "--format", "--json", "--quiet"):  # fmt: skip
        assert option in shown.output


def test_metrics_are_listed() -> None:
    shown = CliRunner().invoke(app, ["metrics"]).output
    for key in families:
        assert key in shown


def test_a_whole_curve_says_that_its_intervals_are_pointwise(trials: Path) -> None:
    assert "one k at a time" in run("stats", trials, "-m", "pass@*").err
    assert "one k at a time" not in run("stats", trials, "-m", "pass@1").err


def test_two_formats_are_refused(tmp_path: Path) -> None:
    done = stats(tmp_path, "problem,score\na,1\nb,0\n", "--json", "--format", "csv")
    assert done.code == 2
    assert "--json and --format csv ask for different output" in done.err
    assert json.loads(stats(tmp_path, "problem,score\na,1\n", "--format", "json").out)


def test_a_file_is_not_a_module(tmp_path: Path) -> None:
    done = stats(tmp_path, "problem,score\na,1\nb,0\n", "--import", "./mine.py", "-m", "mine")
    assert done.code == 2
    assert "takes the name of a module, not a file; try --import mine" in done.err
