"""Trials that look stopped by their own outcome: estimated as they must be."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from passband import Outcomes, Summary, estimate, summarize
from passband.errors import InvalidInput
from passband.stats.sequential.stopped_logs import StoppingRule, estimate_stopped
from support.runs.commands import run


@pytest.fixture(scope="module")
def retried() -> Outcomes:
    rng = np.random.default_rng(1)
    scores = (rng.random((60, 8)) < rng.beta(0.6, 0.8, 60)[:, None]).astype(float)
    tried = np.where(scores.any(axis=1), scores.argmax(axis=1) + 1, 8)
    return Outcomes.from_counts(scores.any(axis=1).astype(int), tried)


def test_it_is_recognised_and_estimated_as_such(retried: Outcomes) -> None:
    lines = {line.metric: line for _, line in summarize(retried, ["pass@1,4,16", "avg"]).lines()}
    for name in ("pass@1", "pass@4", "pass@16"):
        expected = estimate_stopped(retried, name, StoppingRule(1, 8))
        found = lines[name].estimate
        assert found is not None
        assert replace(found, notes=found.notes[1:]) == expected
        assert found.notes[0].code == "taken-as-stopped"
        assert "--stopped-after 0" in found.notes[0].text
    assert lines["avg"].estimate is None
    assert "as if each was tried until it succeeded" in str(lines["avg"].reason)


def test_the_library_says_that_the_mean_is_wrong(retried: Outcomes) -> None:
    (note,) = (n for n in estimate(retried, "pass@1").notes if n.code == "stopped-by-outcome")
    assert "estimate_stopped" in note.text


def test_it_is_estimated_where_the_rule_is_given(retried: Outcomes) -> None:
    summary = summarize(retried, ["pass@1,4", "pass@16", "pass^2"], stopped_after=1, cap=8)
    lines = [line for _, line in summary.lines()]
    assert [line.metric for line in lines] == ["pass@1", "pass@4", "pass@16", "pass^2"]
    expected = estimate_stopped(retried, "pass@4", StoppingRule(1, 8))
    assert lines[1].estimate == expected
    assert lines[2].estimate is not None
    assert lines[2].estimate.high == 1.0
    assert lines[3].estimate is None
    names = [line.metric for _, line in summarize(retried, stopped_after=1).lines()]
    assert names == ["pass@1", "pass@2", "pass@4", "pass@8"]
    assert len(list(summarize(retried, "pass@*", stopped_after=1, cap=8).lines())) == 8
    assert Summary.from_json(summary.to_json()) == summary


def test_fixed_numbers_are_believed(retried: Outcomes) -> None:
    (line,) = (line for _, line in summarize(retried, "pass@1", stopped_after=0).lines())
    assert line.estimate is not None
    assert line.estimate.method == "auto"
    (note,) = (note for note in line.estimate.notes if note.code == "stopped-by-outcome")
    assert (note.severity, note.text[-10:]) == ("remark", "(accepted)")
    (line,) = (line for _, line in summarize(Outcomes.from_counts([1, 2], 4), "pass@1").lines())
    assert line.estimate is not None


def test_a_rule_that_the_trials_do_not_follow_is_a_reason(retried: Outcomes) -> None:
    (line,) = (line for _, line in summarize(retried, "pass@1", stopped_after=2, cap=8).lines())
    assert line.reason is not None
    assert "cannot leave" in line.reason.text
    with pytest.raises(InvalidInput, match="cap goes with stopped_after"):
        summarize(retried, cap=8)
    with pytest.raises(InvalidInput, match="stopped_after must be at least 1"):
        summarize(retried, stopped_after=-1)


def test_the_command(retried: Outcomes, tmp_path: Path) -> None:
    rows = ["problem,score"]
    for name, n, c in zip(
        retried.problems, retried.trials, retried.required_successes(), strict=True
    ):
        rows += [f"{name},0"] * int(n - c) + [f"{name},1"] * int(c)
    path = tmp_path / "retried.csv"
    path.write_text("\n".join(rows) + "\n")
    recognised = run("stats", path)
    assert recognised.code == 0
    assert "as if each was tried until it succeeded" in recognised.err
    assert "--over trials" not in recognised.err  # which is refused
    done = run("stats", path, "--stopped-after", 1, "--cap", 8)
    assert done.code == 0
    assert done.out == recognised.out
    assert "share of problems solved within k trials" in done.err
    assert "--over trials" not in done.err  # which is refused
    assert run("stats", path, "--stopped-after", 1, "--cap", 8, "--over", "trials").code == 2
