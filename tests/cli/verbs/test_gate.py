"""`passband gate`: exit codes, files that it writes, and bad input."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from typer.main import get_command

from passband.cli.app import app
from passband.trials.file.lock import Lock
from passband.trials.rows import ScoreRow, TrialRow
from support.runs.commands import run
from support.samples.stores import begin, filled, problem, writing

WORKFLOW = Path(__file__).resolve().parents[3] / "examples" / "github-gate.yml"
WINS = [3, 0, 8, 5, 1, 7, 0, 2] * 10


def table(path: Path, wins: Sequence[int], n: int = 8, failed: int = 0, first: int = 0) -> Path:
    """Write trials of problems q0, q1, ...; each with as many failed trials beside the n."""
    rows = [f"q{first + i},{int(t < c)},ok" for i, c in enumerate(wins) for t in range(n)]
    rows += [f"q{first + i},,timeout" for i in range(len(wins)) for _ in range(failed)]
    path.write_text("\n".join(["problem,score,status", *rows]) + "\n")
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return table(tmp_path / "base.csv", WINS)


@pytest.mark.parametrize(
    ("wins", "code", "word"),
    [
        ([3, 0, 8, 5, 1, 7, 0, 3] * 10, 0, "PASS"),
        ([1, 0, 7, 3, 0, 5, 0, 1] * 10, 3, "REGRESSION"),
        ([3, 0, 7, 5, 1, 7, 0, 2] * 10, 4, "UNDECIDED"),
    ],
)
def test_exit_code_is_the_verdict(
    base: Path, tmp_path: Path, wins: list[int], code: int, word: str
) -> None:
    new = table(tmp_path / "new.csv", wins)
    options = ("-m", "pass@1", "--tolerance", "0.04")
    done = run("gate", base, new, *options)
    assert done.code == code, done.out + done.err
    assert done.out.startswith(word)
    assert "these very problems" in done.err
    whole = json.loads(run("gate", base, new, *options, "--json").out)
    assert (whole["passband"], whole["version"], whole["exit_code"]) == ("gate", 1, code)
    assert whole["comparisons"][0]["verdict"] == whole["verdict"]


def test_files_are_written(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = table(tmp_path / "new.csv", [0, *WINS[1:]])
    markdown, junit, summary = (tmp_path / name for name in ("gate.md", "gate.xml", "summary"))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    files = ("--markdown", markdown, "--junit", junit, "--step-summary")
    done = run("gate", base, new, *files)
    assert "GITHUB_STEP_SUMMARY is not set" in done.err
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert run("gate", base, new, *files).code == done.code == 4
    assert markdown.read_text().startswith("<!-- passband gate gate -->\n### passband gate: UND")
    assert summary.read_text().startswith("before\n### passband gate: UNDECIDED\n")
    assert ET.parse(junit).getroot().get("skipped") == "1"


def test_the_commands_of_the_example_workflow_exist() -> None:
    """Two workflows: one that asks and gates without any right to write, one that comments."""
    gating, commenting = yaml.safe_load_all(WORKFLOW.read_text())
    assert gating["permissions"] == {"contents": "read"}
    assert "workflow_run" in commenting[True]  # which is how YAML 1.1 reads on
    steps = [step["run"] for step in gating["jobs"]["gate"]["steps"] if "run" in step]
    for line in steps:
        words = shlex.split(line)
        if words[0] == "passband":
            get_command(app).commands[words[1]].make_context(words[1], words[2:])  # type: ignore[attr-defined]
    assert any("passband gate" in line for line in steps)


def test_options_replace_what_a_policy_says_of_all(base: Path, tmp_path: Path) -> None:
    new = table(tmp_path / "new.csv", [*WINS[:-1], 3])
    policy = tmp_path / "gate.yaml"
    policy.write_text("name: mine\ntolerance: 0.01\nmetrics: pass@2\nover: problems\n")
    done = run("gate", base, new, "--policy", policy, "--json")
    whole = json.loads(done.out)
    assert (whole["policy"]["over"], whole["name"]) == ("problems", "mine")
    options = ("-m", "pass@1", "--tolerance", "0.5", "--over", "trials", "--failed", "wrong")
    whole = json.loads(run("gate", base, new, "--policy", policy, *options, "--json").out)
    assert [line["metric"] for line in whole["comparisons"]] == ["pass@1"]
    assert whole["comparisons"][0]["tolerance"] == 0.5
    assert (whole["policy"]["over"], whole["policy"]["failed"]) == ("trials", "wrong")


def test_a_policy_with_a_typo_is_refused_with_its_line(base: Path, tmp_path: Path) -> None:
    policy = tmp_path / "gate.yaml"
    policy.write_text("name: x\ntolerence: 0.01\n")
    done = run("gate", base, table(tmp_path / "new.csv", WINS), "--policy", policy)
    assert done.code == 2
    assert "gate.yaml:2: unknown key 'tolerence'. Did you mean 'tolerance'?" in done.err


def test_the_same_run_twice_is_refused(base: Path, tmp_path: Path) -> None:
    done = run("gate", base, base)
    assert done.code == 2
    assert "BASE and NEW are the same" in done.err
    copy = run("gate", base, table(tmp_path / "copy.csv", WINS), "--tolerance", "0.1")
    assert "are they one run?" in copy.err


def test_a_tolerance_that_lets_everything_pass_is_refused(base: Path, tmp_path: Path) -> None:
    new = table(tmp_path / "new.csv", WINS)
    for tolerance, words in (("2", "write 0.02"), ("0", "above 0"), ("-0.1", "above 0")):
        done = run("gate", base, new, "--tolerance", tolerance)
        assert done.code == 2
        assert words in done.err


@pytest.mark.parametrize(
    ("new", "options", "words"),
    [
        (
            {"wins": WINS, "first": 1000},
            (),
            "no problem is on both sides; BASE has 'q0', 'q1', 'q2' ..., and NEW",
        ),
        ({"wins": WINS[:40]}, (), "40 of 80 problems of BASE are not compared (40 not in NEW)"),
        ({"wins": [0] * 80, "n": 0, "failed": 8}, (), "no trial of NEW has a score (640 timeout)"),
        ({"wins": WINS, "failed": 1}, (), "80 of 720 trials of NEW have no score (80 timeout)"),
        ({"wins": WINS}, ("-m", "pass@16"), "pass@16: needs 16 trials of a problem"),
    ],
)
def test_what_cannot_be_judged_is_not_certified(
    base: Path, tmp_path: Path, new: dict[str, object], options: tuple[str, ...], words: str
) -> None:
    done = run("gate", base, table(tmp_path / "new.csv", **new), *options)  # type: ignore[arg-type]
    assert done.code == 4
    assert done.out.startswith("NOT CERTIFIED")
    assert words in done.out


@pytest.mark.parametrize(("wins", "n"), [([5], 8), ([1, 0] * 20, 1), ([8] * 40, 8), ([0] * 40, 8)])
def test_one_problem_one_trial_and_constant_scores_have_a_verdict(
    tmp_path: Path, wins: list[int], n: int
) -> None:
    base, new = (table(tmp_path / f"{name}.csv", wins, n) for name in ("base", "new"))
    for over in ("trials", "problems"):
        done = run("gate", base, new, "--over", over)
        assert done.code in (0, 4), done.err
        assert done.code == 4 or len(wins) * n >= 300  # little data never pass


def test_sides_that_do_not_mean_the_same_are_not_certified(tmp_path: Path) -> None:
    sides = {"base": ("exact", "42"), "scored": ("math", "42"), "keyed": ("exact", "43")}
    for name, (scorer, target) in sides.items():
        with writing(tmp_path / name) as store:
            rows = [problem(at, target=target) for at in range(30)]
            run_number, (number,) = begin(store, rows, ((scorer, f"{scorer} 1"),), model=name)
            scores = [
                TrialRow(at, trial, "ok", "42", scores=[ScoreRow(number, 1.0)])
                for at in range(30)
                for trial in range(4)
            ]
            store.append(run_number, scores)
    for name, words in (
        ("scored", "scored by exact and math, which may differ in what they count as right"),
        ("keyed", "30 of 30 problems have one id but different targets"),
    ):
        done = run("gate", tmp_path / "base", tmp_path / name, "--tolerance", "0.3")
        assert (done.code, done.out[:13]) == (4, "NOT CERTIFIED")
        assert words in done.out


def test_shares_against_percentages_are_not_certified(tmp_path: Path) -> None:
    for name, top in (("shares", 1), ("percents", 100)):
        rows = [f"q{at},{trial},{top * ((at + trial) % 2)}" for at in range(30) for trial in (0, 1)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["problem,trial,score", *rows]))
    paths = [tmp_path / "shares.csv", tmp_path / "percents.csv"]
    done = run("gate", *paths, "--tolerance", "0.02")
    assert (done.code, done.out[:13]) == (4, "NOT CERTIFIED")
    assert "scores of NEW go beyond 0 to 1" in done.out
    assert "go beyond 0 to 1" in run("compare", *paths, "-m", "avg").err


def test_tasks_of_run_directories(tmp_path: Path) -> None:
    scores = [[1.0, 0.0, 1.0, 1.0]] * 30
    base, new = tmp_path / "base", tmp_path / "new"
    for task in ("sums", "words"):
        filled(base, scores, task=task)
    filled(new, scores, task="sums", model="other")
    filled(new, scores, task="more", model="other")
    lock = Lock(new)
    try:
        done = run("gate", base, new, "--tolerance", "0.3")
    finally:
        lock.release()
    assert done.code == 4
    assert done.out.startswith(
        "NOT CERTIFIED: the runs allow no verdict on words pass@1\n"
        "words / pass@1: required, but missing in NEW\n"
    )
    assert "still being written, by process" in done.err
    assert "only in NEW, and not compared: more" in done.err
    filled(base, scores, task="sums", model="second")
    several = run("gate", base, new)
    assert several.code == 2
    assert "holds several models (second, tiny); choose one with --base-model." in several.err
    chosen = run("gate", base, new, "--base-model", "second", "--tolerance", "0.3")
    assert "base second, new other" in chosen.out
    assert "Did you mean 'second'?" in run("gate", base, new, "--base-model", "secnd").err


def test_a_gate_is_settled_by_more_trials(base: Path, tmp_path: Path) -> None:
    """Both metrics of a hotter model are looked at; pass@2 takes three rounds."""
    before, after = tmp_path / "before", tmp_path / "after"
    common = ("run", "arithmetic", "--model", "tiny", "-n", "3", "--limit", "30", "-q", "--out")
    run(*common, before)
    run(*common, after, "--temperature", "3")
    gate = ("gate", before, after, "-m", "pass@1,2", "--settle", "--max-rounds", "6")
    plan = run(*gate, "--dry-run")
    assert "looks after 3, 5, 6 rounds" in plan.out
    assert "for 2 comparisons" in plan.out
    done = run(*gate)
    assert done.code == 3, done.out + done.err
    assert done.err.startswith("look 1 of 3, after 3 rounds (180 trials): ")
    assert "of 2 comparisons undecided" in done.err
    assert "stopped early, the value tends to overstate" in done.err
    settled = json.loads(run(*gate, "--json").out)["settled"]
    assert settled["end"] == "decided"
    assert settled["planned"] == [3, 5, 6]
    assert run("gate", before, base, "--settle", "--max-rounds", "6").code == 2
    assert "goes with --settle" in run("gate", before, after, "--max-cost", "1").err
