"""`passband summarize`: one run as it is, several by name, files that appear whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from passband.summary.eva.document import MetricsSummary
from support.runs.commands import run as command
from support.samples.eva_runs import CONFIG, EXAMPLE, SIX, example, write_run


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_standard_output(tmp_path: Path) -> None:
    run = example(tmp_path)
    before = contents(run)
    done = command("summarize", run)
    assert done.code == 0
    summary = MetricsSummary.from_json(done.out)
    assert summary.per_metric["m"].mean == pytest.approx(5 / 9)
    assert f"{EXAMPLE}: the run has no agent_speech_fidelity" in done.err
    assert command("summarize", run, "-q").err == ""
    assert contents(run) == before


def test_the_numbers_of_eva(tmp_path: Path) -> None:
    done = command("summarize", example(tmp_path), "--method", "eva", "--notes")
    entry = json.loads(done.out)["per_metric"]["m"]
    assert (entry["mean"], entry["pass_k"]["pass_at_1"]) == (0.5714, 0.3333)
    assert "mean pools all records" in done.err


@pytest.mark.parametrize("target", ["out.json", "."])
def test_a_file_or_a_folder(tmp_path: Path, target: str) -> None:
    run = example(tmp_path / "runs")
    done = command("summarize", run, "-o", tmp_path / target, "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    path = tmp_path / ("metrics_summary.json" if target == "." else target)
    assert path.read_text() == command("summarize", run, "-q").out
    assert [p.name for p in sorted(tmp_path.iterdir()) if p.is_file()] == [path.name]


def test_beside_the_run(tmp_path: Path) -> None:
    run = example(tmp_path)
    before = contents(run)
    first = command("summarize", run, "-o", run)
    assert first.code == 0
    after = contents(run)
    assert set(after) - set(before) == {"metrics_summary.json"}
    assert {name: after[name] for name in before} == before
    assert command("summarize", run, "-o", run).code == 0
    assert contents(run) == after


def test_a_run_is_not_written_over(tmp_path: Path) -> None:
    run = example(tmp_path)
    rules = tmp_path / "c.yaml"
    rules.write_text("metrics:\n  m: {threshold: 1}\n")
    table = tmp_path / "t.csv"
    table.write_text("problem,score\na,1\nb,0\n")
    before = contents(tmp_path)
    for words in (
        (run, "-o", run / "config.json"),
        (run, "-o", run / "records" / "s1" / "trial_0" / "metrics.json"),
        (run, "--composites", rules, "-o", rules),
        (table, "-o", tmp_path / EXAMPLE / ".." / "t.csv"),
    ):
        done = command("summarize", *words)
        assert done.code == 2
        assert "is part of what is summarized, and would be lost" in done.err
    assert contents(tmp_path) == before
    for _ in range(2):  # a summary of its own may be written again
        assert command("summarize", run, "-o", run / "right.json").code == 0


def test_several_runs(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"s": [SIX] * 3, "t": [SIX] * 3})
    b = write_run(tmp_path / "b", {"s": [SIX] * 3, "t": [SIX] * 3})
    done = command("summarize", a, b, "-o", tmp_path / "all.json")
    assert done.code == 0
    document = json.loads((tmp_path / "all.json").read_text())
    assert document["passband"] == "metrics_summaries"
    assert list(document["runs"]) == ["a", "b"]
    alone = json.loads(command("summarize", b).out)
    assert document["runs"]["b"] == alone
    folder = command("summarize", a, b, "-o", tmp_path)
    assert folder.code == 2
    assert "is a folder, and there are 2 runs" in folder.err


def test_two_runs_of_one_name(tmp_path: Path) -> None:
    runs = [example(tmp_path / name) for name in ("x", "y")]
    done = command("summarize", *runs)
    assert done.code == 2
    assert f"two runs are named '{EXAMPLE}'" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--composites", "nowhere.yaml"], "no such file; composites known by name: eva"),
        (["--method", "evaa"], "Did you mean 'eva'"),
        (["-k", "0"], "k must be a whole number from 1 to 1,000,000"),
        (["--policy", "error"], "without a score, and the policy is 'error'"),
        (["--score", "m"], "does not apply to a run of EVA"),
        (["--task", "airlin"], "no task named 'airlin'. Did you mean 'airline'?"),
        (["-o", "no/such/folder.json"], "there is no folder"),
        (["--seed", "1", "--seed", "2"], "--seed was given twice"),
        (["--seed", ""], "--seed is empty; give a number or a name"),
        (["--seed", "-5"], "seed must be a whole number of at least 0 or a name; got -5"),
        (["--seed", "9" * 5000], "--seed has 5,000 digits; give at most 100"),
        (["--composites", ""], "no such file; composites known by name: eva"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], message: str) -> None:
    done = command("summarize", example(tmp_path), *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_bad_files(tmp_path: Path) -> None:
    run = example(tmp_path)
    (run / "records" / "s1" / "trial_0" / "metrics.json").write_text("{")
    done = command("summarize", run)
    assert done.code == 2
    assert "s1/trial_0/metrics.json" in done.err
    done = command("summarize", run, "--skip-bad")
    assert done.code == 0
    summary = MetricsSummary.from_json(done.out)
    assert summary.per_metric["m"].missing_count == 2
    assert "left out 1 metrics.json file that cannot be read (s1/trial_0)" in summary.remarks


def test_other_sources(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("question,right\na,1\na,0\nb,1\nb,1\n")
    done = command("summarize", path, "--problem", "question", "--score", "right", "-k", "2")
    assert done.code == 0, done.err
    entry = json.loads(done.out)["per_metric"]["right"]
    assert (entry["mean"], entry["pass_k"]["pass_at_k"]) == (0.75, 1.0)


@pytest.mark.process
@pytest.mark.parametrize("method", ["eva", "auto", "bca"])
def test_the_same_bytes_in_every_process(tmp_path: Path, method: str) -> None:
    trials = {
        f"s{i}": [SIX | {"faithfulness": (i * t % 5) / 4} for t in range(3)] for i in range(9)
    }
    run = write_run(tmp_path / "run", trials, CONFIG)
    texts = {
        subprocess.run(
            [sys.executable, "-m", "passband", "summarize", str(run), "--method", method, "-q"],
            env=os.environ | {"PYTHONHASHSEED": salt},
            capture_output=True,
            check=True,
        ).stdout
        for salt in ("0", "1")
    }
    assert len(texts) == 1
