"""First trials and accepted findings, on every road that makes a summary."""

import json
from pathlib import Path

import numpy as np
import pytest

from passband import Outcomes, estimate, read, summarize
from passband.errors import InvalidInput, UnknownName
from passband.summary.compare.compare import compare_sources
from passband.summary.compare.models import ComparisonOptions
from passband.summary.gate.policy import GatePolicy
from passband.summary.gate.sources import GateReading, gate_sources
from passband.summary.summary import Summary, choice_lines
from support.runs.commands import run
from support.samples.stores import filled


def until_failure(path: Path, seed: int = 1, problems: int = 100) -> Path:
    """Write trials of each problem until its first failure, ten at most."""
    rng = np.random.default_rng(seed)
    rows = ["problem,trial,score"]
    for problem, rate in enumerate(rng.beta(2, 2, problems)):
        for trial in range(10):
            score = int(rng.random() < rate)
            rows.append(f"p{problem},{trial},{score}")
            if not score:
                break
    path.write_text("\n".join(rows) + "\n")
    return path


def test_nothing_chosen_is_nothing_to_say() -> None:
    assert choice_lines(None, ()) == []
    assert choice_lines(1, ()) == ["only the first trial of each problem is used"]


def test_stats_print_the_unbiased_number_beside_the_biased_one(tmp_path: Path) -> None:
    path = until_failure(tmp_path / "a.csv")
    lines = [line for _, line in summarize(path, "pass@1").lines()]
    biased, unbiased = (line.estimate for line in lines)
    assert biased is not None
    assert unbiased is not None
    assert lines[1].metric == "pass@1 (first 1)"
    assert (biased.low, biased.high) == (None, None)
    chosen = estimate(read(path, first=1).groups[0].outcomes, "pass@1")
    assert (unbiased.value, unbiased.low, unbiased.high) == (chosen.value, chosen.low, chosen.high)


def test_an_array_says_the_same_as_a_table(tmp_path: Path) -> None:
    path = until_failure(tmp_path / "a.csv")
    rows: dict[str, list[float]] = {}
    for line in path.read_text().splitlines()[1:]:
        problem, _, score = line.split(",")
        rows.setdefault(problem, []).append(float(score))
    array = Outcomes.from_array(list(rows.values()), problems=list(rows))
    first, read_first = array.first(1), read(path, first=1).groups[0].outcomes
    assert first.required_successes().tolist() == read_first.required_successes().tolist()
    made = summarize(array, "pass@1").groups[0].evidence
    assert made == summarize(path, "pass@1").groups[0].evidence


def test_accepted_findings_keep_their_interval_and_are_recorded(tmp_path: Path) -> None:
    path = until_failure(tmp_path / "a.csv")
    summary = summarize(path, "pass@1", accept="trials-related")
    (line,) = (line for _, line in summary.lines())
    assert line.estimate is not None
    assert line.estimate.low is not None
    assert any(note.text.endswith("(accepted)") for note in line.estimate.notes)
    assert Summary.from_json(summary.to_json()) == summary
    assert '"accept": [' in summary.to_json()
    with pytest.raises(UnknownName, match="Did you mean 'trials-related'"):
        summarize(path, accept="trials-relatd")


def test_comparisons_and_gates_take_first_trials_or_the_finding(tmp_path: Path) -> None:
    sources = [until_failure(tmp_path / f"{seed}.csv", seed) for seed in (1, 2)]
    for options, is_comparable in (
        (ComparisonOptions(("pass@1",)), False),
        (ComparisonOptions(("pass@1",), first=1), True),
        (ComparisonOptions(("pass@1",), accept=("trials-related",)), True),
    ):
        (task,) = compare_sources(sources, options).tasks
        assert (task.comparisons[0].low is not None) == is_comparable
    assert gate_sources(*sources).verdict == "not-certified"  # type: ignore[arg-type]
    first = gate_sources(*sources, reading=GateReading(first=1))  # type: ignore[arg-type]
    assert first.verdict != "not-certified"
    assert "only the first trial of each problem is used" in map(str, first.remarks)
    accepted = gate_sources(*sources, GatePolicy(accept=("trials-related",)))  # type: ignore[arg-type, call-arg]
    assert accepted.verdict != "not-certified"
    assert "accepted: trials-related" in map(str, accepted.remarks)


def test_the_verbs_say_what_was_chosen(tmp_path: Path) -> None:
    path, other = (until_failure(tmp_path / f"{seed}.csv", seed) for seed in (1, 2))
    for verb in (
        ["stats", path],
        ["compare", path, other],
        ["gate", path, other],
        ["plan", "--pilot", path, "--half-width", "0.05"],
        ["summarize", path],
    ):
        done = run(*verb, "--first", 1, "--accept", "drift")
        assert done.code in (0, 4), done.err
        assert "only the first trial of each problem is used" in done.err
        assert "accepted: drift" in done.err
        refused = run(*verb, "--first", 2)
        assert refused.code == 2
        assert "has 1" in refused.err
        assert run(*verb, "--accept", "drfit").code == 2
    report = tmp_path / "report.html"
    assert run("report", path, "--first", 1, "-o", report).code == 0
    assert "only the first trial of each problem is used" in report.read_text("utf-8")


def test_sorted_scores_have_no_first_trials(tmp_path: Path) -> None:
    rows = [[1] * c + [0] * (8 - c) for c in range(9)] * 4
    outcomes = Outcomes.from_array(rows)
    assert [note.code for note in estimate(outcomes, "pass@1").notes][:1] == ["order-unknown"]
    table = [
        {"problem": i, "score": score, "sample": f"s{t}"}
        for i, row in enumerate(rows)
        for t, score in enumerate(row)
    ]
    for source in (rows, table, filled(tmp_path / "run", rows)):
        with pytest.raises(InvalidInput, match="are sorted"):
            read(source, first=2)
    done = run("report", tmp_path / "run", "--first", 2, "-o", tmp_path / "report.html")
    assert done.code != 0
    assert "are sorted" in done.err


def test_evidence_of_another_version_is_refused(tmp_path: Path) -> None:
    document = json.loads(summarize(until_failure(tmp_path / "a.csv"), "pass@1").to_json())
    document["groups"][0]["evidence"]["version"] = 2
    with pytest.raises(InvalidInput, match="evidence must be of version 1; got 2"):
        Summary.from_json(json.dumps(document))
