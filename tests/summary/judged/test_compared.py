"""Two judged models: corrected by labels, or called the judge's; the gate certifies no judge."""

import json
from pathlib import Path

import pytest

from passband import InvalidInput
from passband.run.label.draw import DrawRequest, draw_sheet
from passband.run.label.enter import enter_labels
from passband.summary.compare.compare import compare_sources
from passband.summary.compare.models import ComparisonOptions
from passband.summary.gate.policy import GatePolicy
from passband.summary.gate.sources import gate_sources
from passband.summary.judged.compared import plain_name
from support.runs.judged_runs import JUDGE, fill, judged_run


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal models; the judge passes more failures of the second."""
    for name, lenient in (("a", 0.1), ("b", 0.5)):
        judged_run(tmp_path / name, problems=80, trials=2, lenient=lenient, model=name)
    return tmp_path / "a", tmp_path / "b"


def label(pair: tuple[Path, Path], count: int = 60) -> None:
    for run in pair:
        truth = judged_run(run.with_name(f"twin-{run.name}"), problems=80, trials=2, lenient=0.1)
        path = run.with_suffix(".csv")
        draw_sheet([run], path, DrawRequest(count))
        fill(path, truth)
        enter_labels([run], path)


def test_without_labels_the_difference_is_the_judges(pair: tuple[Path, Path]) -> None:
    (task,) = compare_sources(pair).tasks
    (found,) = task.comparisons
    assert found.metric == "pass@1 (judged by quality)"
    assert found.notes[0].code == "judge-uncorrected"
    assert found.p_value is not None
    assert found.p_value < 0.01


def test_labels_correct_the_difference(pair: tuple[Path, Path]) -> None:
    label(pair)
    summary = compare_sources(pair)
    (found,) = summary.tasks[0].comparisons
    assert found.metric == "pass@1"
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    assert found.notes[0].code == "corrected-by-labels"
    json.dumps(summary.as_json())


def test_what_labels_cannot_correct_is_refused(pair: tuple[Path, Path]) -> None:
    label(pair)
    for options in (
        ComparisonOptions(paired=False),
        ComparisonOptions(test="exact"),
        ComparisonOptions(policy="fail"),
    ):
        with pytest.raises(InvalidInput, match="leave out"):
            compare_sources(pair, options)
    with pytest.raises(InvalidInput, match="labelled trials"):
        compare_sources(pair, ComparisonOptions(("pass@2",)))


def test_other_judges_are_not_compared(pair: tuple[Path, Path], tmp_path: Path) -> None:
    judged_run(tmp_path / "c", problems=80, model="c", identity="quality 2")
    with pytest.raises(InvalidInput, match="another rubric or model is another judge"):
        compare_sources([pair[0], tmp_path / "c"])


def test_a_judge_on_one_side_alone_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    judged_run(tmp_path / "c", problems=80, model="c", spec=None)
    with pytest.raises(InvalidInput, match="c: not judged by quality"):
        compare_sources([pair[0], tmp_path / "c"])


def test_a_judge_of_the_same_name_is_remarked_on(pair: tuple[Path, Path], tmp_path: Path) -> None:
    judged_run(tmp_path / "gpt", problems=80, model="gpt-4.1", spec=JUDGE)
    remarks = [remark.text for remark in compare_sources([pair[0], tmp_path / "gpt"]).remarks]
    assert any("gpt-4.1 share a name" in text for text in remarks)


def test_rankings_are_by_verdicts(pair: tuple[Path, Path], tmp_path: Path) -> None:
    judged_run(tmp_path / "c", problems=80, trials=2, seed=3, model="c")
    (task,) = compare_sources([*pair, tmp_path / "c"]).tasks
    assert {ranking.metric for ranking in task.rankings} == {"pass@1 (judged by quality)"}
    assert all(ranking.notes[0].code == "judge-uncorrected" for ranking in task.rankings)


# -- the gate ------------------------------------------------------------------------------


def test_the_gate_certifies_no_judge_alone(pair: tuple[Path, Path]) -> None:
    (line,) = gate_sources(*pair, GatePolicy(tolerance=0.1)).lines
    assert line.verdict == "not-certified"
    assert "a judge alone certifies nothing" in line.reason


def test_the_gate_takes_labels(pair: tuple[Path, Path]) -> None:
    label(pair, 160)
    result = gate_sources(*pair, GatePolicy(tolerance=0.2))
    (line,) = result.lines
    assert (line.verdict, line.metric) == ("pass", "pass@1")
    assert line.difference == pytest.approx(0.0)  # the same trials, and all are labelled


def test_an_open_gate_asks_for_labels(pair: tuple[Path, Path]) -> None:
    label(pair, 20)
    (line,) = gate_sources(*pair, GatePolicy(tolerance=0.01)).lines
    assert line.verdict == "undecided"
    assert "label more trials of both" in line.reason


def test_names_without_their_judge() -> None:
    assert plain_name("pass@1 (judged by quality)") == "pass@1"
