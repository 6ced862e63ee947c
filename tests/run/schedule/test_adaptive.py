"""Adaptive runs: the path in the table, resumed after a kill -9, and never averaged."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from passband.adaptive.bank import write_bank
from passband.adaptive.recorded import read_recorded
from passband.summary.from_sources import summarize
from passband.trials.reader import Trials
from support.runs.commands import Done, apart, run
from support.samples.banks import bank

MODEL = "python:solver:answer"
SOLVER = '''
import os, signal, threading
count, lock = 0, threading.Lock()

def answer(prompt, seed=None):
    """Right up to a bound that varies with the seed; ends the process where it is told to."""
    global count
    with lock:
        count += 1
        if count == int(os.environ.get("KILL_AT", "0")):
            os.kill(os.getpid(), signal.SIGKILL)
    number = int(prompt.split("+")[0])
    return str(2 * number if number < 30 + (seed or 0) % 20 else 0)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSBAND_BANKS", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path[1:]]))
    (tmp_path / "solver.py").write_text(SOLVER)
    write_bank(bank(80, splits=("validation", "test")), tmp_path / "banks/sums.jsonl")
    return tmp_path


def ask(*options: object, out: str = "out", task: str = "sums:adaptive") -> Done:
    return run("run", task, "--model", MODEL, "--out", out, "--seed", "s", *options)


def path(out: str) -> list[tuple[Any, ...]]:
    with Trials(out) as trials:
        test = read_recorded(trials, trials.run()).test
    return [tuple(step) for step in test.history]


def rows(out: str) -> list[tuple[str, int, str | None]]:
    with Trials(out) as trials:
        record = trials.run()
        keys = {problem.number: problem.key for problem in trials.problems(record.number)}
        return [(keys[r.problem], r.trial, r.reason) for r in trials.trials(record)]


def test_a_run_records_its_path(folder: Path) -> None:
    done = ask("--max-items", 12, "--se", 0.2)
    assert done.code == 0, done.err
    assert "theta" in done.out
    assert "12 of the 40 items of bank sums, split validation" in done.err
    recorded = rows("out")
    assert len(recorded) == 12
    numbers = sorted(int(str(reason).split()[1][:-1]) for _, _, reason in recorded)
    assert numbers == list(range(1, 13))
    steps = path("out")
    by_key = {key: reason for key, _, reason in recorded}
    for number, step in enumerate(steps, 1):
        assert by_key[step[0]] == f"item {number}: {step[1]}"


def test_repeats_are_asked_of_every_item(folder: Path) -> None:
    assert ask("-n", 3, "--max-items", 4, "--se", 0.05).code == 0
    assert sorted(trial for _, trial, _ in rows("out")) == [0] * 4 + [1] * 4 + [2] * 4
    assert [step[3] for step in path("out")] == [3] * 4


@pytest.mark.process
@pytest.mark.parametrize(("batch", "kills"), [(1, (5,)), (4, (6, 3))])
def test_a_killed_run_goes_on_on_the_same_path(batch: int, kills: tuple[int, ...]) -> None:
    options = ("-n", 2, "--max-items", 12, "--se", 0.1, "--random-share", 0.25,
               "--design", f"batch={batch}", "--design", "selection=randomesque")  # fmt: skip
    words = ("run", "sums:adaptive", "--model", MODEL, "--seed", "s", *options)
    for kill in kills:
        killed = apart(*words, "--out", "killed", KILL_AT=str(kill))
        assert killed.code == -signal.SIGKILL, killed.err
    assert ask(*options, out="killed").code == 0
    assert ask(*options, out="whole").code == 0
    assert path("killed") == path("whole")
    assert rows("killed") == rows("whole")
    assert len(path("whole")) == 12


def test_a_dry_run_counts_what_is_asked_at_most(folder: Path) -> None:
    told = json.loads(ask("--max-items", 5, "-n", 2, "--dry-run", "--json").out)
    assert told["missing"] == 10
    ask("--max-items", 5, "-n", 2)
    told = json.loads(ask("--max-items", 5, "-n", 2, "--dry-run", "--json").out)
    assert told["missing"] == 0


def test_nothing_is_asked_again(folder: Path) -> None:
    ask("--max-items", 6)
    again = ask("--max-items", 6)
    assert again.code == 0
    assert "nothing to ask" in again.err
    assert len(rows("out")) == 6


def test_another_design_or_bank_is_refused_with_the_difference(folder: Path) -> None:
    ask("--max-items", 6)
    refused = ask("--max-items", 7)
    assert refused.code == 2
    assert "design.max_items" in refused.err
    assert "6" in refused.err
    assert "7" in refused.err
    write_bank(bank(80, splits=("validation", "test"), seed=1), folder / "banks/sums.jsonl")
    refused = ask("--max-items", 6)
    assert refused.code == 2
    assert "hash" in refused.err
    assert "sha256:" in refused.err


def test_all_splits_at_once_and_beside_other_tasks(folder: Path) -> None:
    done = run("run", "sums:adaptive:*", "arithmetic", "--model", "tiny", "--limit", 3)
    assert done.code == 2
    assert "--limit would change the bank" in done.err
    words = ("run", "sums:adaptive", "arithmetic", "--model", "tiny", "-n", 2, "--max-items", 3)
    done = run(*words, "--out", "mixed")
    assert done.code == 0, done.err
    kinds = {group.task: group.adaptive is not None for group in summarize("mixed").groups}
    assert kinds == {"arithmetic": False, "sums:adaptive:validation": True}
    assert summarize("mixed").estimate("theta").n_trials == 6
    done = run("run", "sums:adaptive:*", "--model", MODEL, "--max-items", 3, "--out", "both")
    assert done.code == 0, done.err
    groups = summarize("both").groups
    assert [group.task for group in groups] == ["sums:adaptive:test", "sums:adaptive:validation"]
    tests = [group.adaptive for group in groups]
    assert [test and (test.split, len(test.path)) for test in tests] == [
        ("test", 3),
        ("validation", 3),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sums:adaptive:train",), "Specified split 'train' not found for dataset 'sums:adaptive'"),
        (("sum:adaptive",), "no bank named 'sum'. Did you mean 'sums'"),
        (("sums:test:adaptive",), "Invalid adaptive dataset format"),
        (("sums:adaptive", "--design", "trials=4"), "given as n (in the shell, -n)"),
        (("arithmetic", "--se", 0.2), "se: only for adaptive tests"),
        (("arithmetic", "--design", "batch=2"), "batch: only for adaptive tests"),
        (("sums:adaptive", "--se", 0), "se must be above 0"),
        (("sums:adaptive", "--design", "batches=2"), "no setting 'batches'"),
        (("sums:adaptive", "-m", "pass@1"), "-m pass@1: sums:adaptive:validation is an adaptive"),
        (("sums:adaptive", "--retry-failed"), "--retry-failed: sums:adaptive:validation is"),
        (
            ("sums:adaptive", "--until", 0.1),
            "--until: sums:adaptive:validation is an adaptive test",
        ),
        (("sums:adaptive", "--limit", 3), "--limit would change the bank"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[Any, ...], message: str) -> None:
    done = run("run", *words, "--model", MODEL, "--out", "out")
    assert done.code == 2
    assert message in done.err
    assert not Path("out").exists()


# -- no road leads to an average ---------------------------------------------------------------


def test_stats_gives_theta_and_no_average(folder: Path) -> None:
    ask("--max-items", 8, "--random-share", 0.5)
    done = run("stats", "out")
    assert done.code == 0
    assert "theta" in done.out
    assert "pass@" not in done.out
    assert "avg" not in done.out
    told = json.loads(run("stats", "out", "--json").out)
    (group,) = told["groups"]
    assert told["version"] == 4
    assert group["lines"][0]["metric"] == "theta"
    assert group["adaptive"]["stop"] == "max_items"
    assert len(group["adaptive"]["path"]) == 8


ROADS = (
    "stats out -m pass@1",
    "stats out -m avg",
    "stats out --by content",
    "stats out --threshold 0.5",
    "compare out other",
    "plan --pilot out --difference 0.1",
    "summarize out",
    "export out --format lm-eval -o results.json",
    "export out --format inspect-json -o log.json",
    "export out --format eval -o log.eval",
    "export out --format human-eval -o results.jsonl",
    "stats trials.csv",
    "stats trials.csv --by status",
    "stats trials.jsonl --problem problem_id",
    "stats trials.parquet -m pass@1",
    "compare trials.csv trials.jsonl",
    "import trials.jsonl -o imported",
)


def test_no_road_leads_to_an_average(folder: Path) -> None:
    for out in ("out", "other"):
        ask("--max-items", 6, out=out)
    for form in ("csv", "jsonl", "parquet"):
        assert run("export", "out", "-o", f"trials.{form}").code == 0
    for road in ROADS:
        done = run(*road.split())
        assert done.code == 2, road
        assert "average" in done.err, (road, done.err)
        assert "theta" in done.err, road


def test_an_export_has_the_reasons_and_other_tasks_stay_readable(folder: Path) -> None:
    ask("--max-items", 5)
    run("run", "arithmetic", "--model", "tiny", "--limit", 3, "-n", 2, "--out", "out")
    assert run("export", "out", "-o", "trials.jsonl").code == 0
    told = [json.loads(line) for line in Path("trials.jsonl").read_text().splitlines()]
    reasons = {row["task"]: row["adaptive_reason"] for row in told}
    assert reasons["arithmetic"] is None
    assert reasons["sums:adaptive:validation"].startswith("item ")
    assert run("stats", "trials.jsonl").code != 0
    done = run("stats", "trials.jsonl", "--task", "arithmetic")
    assert done.code == 0, done.err
    assert "pass@2" in done.out


def test_scores_of_another_scorer_give_another_theta(folder: Path) -> None:
    ask("--max-items", 10, "--se", 0.2)
    before = summarize("out").estimate("theta").value
    assert run("score", "out", "--scorer", "contains").code == 0
    again = summarize("out", score="contains")
    (group,) = again.groups
    assert group.adaptive is not None
    assert len(group.adaptive.path) == 10
    assert summarize("out").estimate("theta").value == before
