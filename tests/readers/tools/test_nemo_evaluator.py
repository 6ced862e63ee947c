"""Results of NeMo Evaluator: repeats are trials; what failed has no score, and is no zero."""

from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from support.samples.log_samples import NEMO_EVALUATOR, document, lines, step


def written(folder: Path, steps: list[Any], **bundle: Any) -> Path:
    if bundle:
        document("eval-20261117-gsm8k.json", bundle)(folder)
    return lines("results.jsonl", steps)(folder)


def test_repeats_are_trials(tmp_path: Path) -> None:
    bundle = {"config": {"model": "org/m"}, "benchmark": {"name": "gsm8k", "repeats": 3}}
    groups = read(written(tmp_path, NEMO_EVALUATOR, **bundle))
    (group,) = groups.groups
    assert (group.task, group.model) == ("gsm8k", "org/m")
    assert group.outcomes.required_successes().tolist() == [1, 1]
    assert group.outcomes.trials.tolist() == [2, 1]
    assert {name: found.tolist() for name, found in group.outcomes.unscored.items()} == {
        "errored": [0, 1], "missing": [1, 1],
    }  # fmt: skip
    assert "no score: 1 trial that failed (infra_error 1)" in str(groups.remarks[1])


def test_without_a_bundle(tmp_path: Path) -> None:
    document("eval-1.json", {"x": 1})(tmp_path)
    (group,) = read(written(tmp_path, NEMO_EVALUATOR)).groups
    assert (group.task, group.model) == ("results", "unknown")


def test_a_graceful_error_is_the_answers_own(tmp_path: Path) -> None:
    failed = step(0, 0, 0.0, error="no turns left", error_category="graceful")
    groups = read(written(tmp_path, [failed, step(1, 0, 1.0)]))
    assert groups.only().required_successes().tolist() == [0, 1]
    assert "counted as 0: 1 trial with a graceful error" in str(groups.remarks[1])


def test_a_judge_that_failed_gives_no_zero(tmp_path: Path) -> None:
    judged = step(0, 0, 0.5, needs_judge=True, judge={"normalized": 0.5})
    outcomes = read(written(tmp_path, [judged, step(1, 0, 0.0, needs_judge=True)])).only()
    assert outcomes.unscored["scorer_error"].tolist() == [0, 1]


def test_further_scorers(tmp_path: Path) -> None:
    steps = [step(0, 0, 1.0), step(1, 0, 1.0, **{"scorer:brief": {"error": "x", "reward": 0.0}})]
    outcomes = read(written(tmp_path, steps), columns={"score": "brief"}).only()
    assert outcomes.required_successes().tolist() == [1, 0]
    assert outcomes.unscored["scorer_error"].tolist() == [0, 1]


def test_data_of_the_problem(tmp_path: Path) -> None:
    path = written(tmp_path, NEMO_EVALUATOR)
    assert [group.key for group in read(path, by="category").groups] == [("sums",)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"problem_idx": None}, "problem_idx must be text or a whole number"),
        ({"repeat": -1}, "the number of a trial must be a whole number"),
        ({"reward": "1"}, "the score reward must be a number; got '1'"),
        ({"scoring_details": []}, "scoring_details must be an object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    path = written(tmp_path, [step(0, 0, 1.0), {**step(0, 1, 1.0), **fields}])
    with pytest.raises(InvalidInput, match=f"results.jsonl:2: .*{message}"):
        read(path)
    assert read(path, skip_bad=True).only().trials.tolist() == [1]


def test_a_trial_is_not_counted_twice(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="problem '0' has trial 0 twice"):
        read(written(tmp_path, [step(0, 0, 1.0)] * 2), skip_bad=True)
