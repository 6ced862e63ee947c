"""Test runs of deepeval: problems by content, metrics as scorers, errors of metrics unscored."""

from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from passband.readers import Options, readers
from support.samples.log_samples import DEEPEVAL, case, document


def written(folder: Path, cases: list[Any], **more: Any) -> Path:
    content = {"testCases": cases, "conversationalTestCases": [], "metricsScores": [], **more}
    return document("test_run.json", content)(folder)


def test_cases_of_one_input_are_trials(tmp_path: Path) -> None:
    groups = read(document("test_run.json", DEEPEVAL)(tmp_path))
    (group,) = groups.groups
    assert (group.task, group.model) == ("deepeval", "qwen3")
    assert [key.partition(" ")[0] for key in group.outcomes.problems] == ["2+2?", "3+1?"]
    assert group.outcomes.required_successes().tolist() == [1, 1]
    assert group.outcomes.unscored["scorer_error"].tolist() == [0, 1]
    assert "no score: 1 test case, of which a metric raised an error" in str(groups.remarks[1])


def test_metrics_are_scorers(tmp_path: Path) -> None:
    path = document("test_run.json", DEEPEVAL)(tmp_path)
    graded = read(path, columns={"score": "Correctness"}).only().graded
    assert graded is not None
    assert graded.values.tolist() == [0.9, 0.2, 1.0]
    passed = read(path, columns={"score": "Correctness passed"}).only()
    assert passed.required_successes().tolist() == [1, 1]


def test_a_metric_that_passes_below_its_threshold_falls(tmp_path: Path) -> None:
    cases = [case(at, f"{at}+2?", 1.0) for at in range(2)]
    for one, score in zip(cases, (0.1, 0.7), strict=True):
        toxic = {"name": "Toxicity", "threshold": 0.5, "score": score, "success": score <= 0.5}
        one["metricsData"] = [*one["metricsData"], toxic]
    path = written(tmp_path, cases)
    assert read(path, columns={"score": "Toxicity"}).only().scale.lower_is_better is True
    assert read(path, columns={"score": "Correctness"}).only().scale.lower_is_better is False


def test_what_is_expected_is_part_of_the_problem(tmp_path: Path) -> None:
    cases = [case(0, "2+2?", 1.0), case(1, "2+2?", 1.0, expectedOutput="11")]
    assert read(written(tmp_path, cases)).only().trials.tolist() == [1, 1]


def test_two_metrics_of_one_name_are_apart(tmp_path: Path) -> None:
    one = case(0, "2+2?", 0.9)
    one["metricsData"] = [*one["metricsData"], {**one["metricsData"][0], "score": 0.1}]
    path = written(tmp_path, [one])
    graded = read(path, columns={"score": "Correctness 2"}).only().graded
    assert graded is not None
    assert graded.values.tolist() == [0.1]


def test_an_error_of_a_flaky_metric_leaves_the_score(tmp_path: Path) -> None:
    """Such a metric never decides whether a test case passes."""
    one = case(0, "2+2?", 0.9)
    one["metricsData"].append({"name": "Style", "flaky": True, "success": False, "error": "down"})
    path = written(tmp_path, [one])
    assert read(path).only().required_successes().tolist() == [1]
    assert read(path, columns={"score": "Style"}).only().unscored["scorer_error"].tolist() == [1]


def test_conversations(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi", "order": 0}]
    talk = {"name": "c", "success": True, "metricsData": [], "turns": turns, "scenario": "Greet"}
    path = written(tmp_path, [], conversationalTestCases=[talk, {**talk, "success": False}])
    assert read(path).only().required_successes().tolist() == [1]
    (log,) = readers.get("deepeval").read(path, Options(texts=True))
    assert next(iter(log.trials)).transcript == [{"role": "user", "content": "Hi"}]


def test_a_run_under_a_key(tmp_path: Path) -> None:
    path = document("latest.json", {"testRunData": DEEPEVAL})(tmp_path)
    assert read(path).only().trials.tolist() == [2, 1]


def test_the_data_set_is_the_task(tmp_path: Path) -> None:
    (group,) = read(written(tmp_path, [case(0, "a", 1.0)], datasetAlias="sums")).groups
    assert (group.task, group.model) == ("sums", "unknown")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"success": "yes"}, "success must be true or false; got 'yes'"),
        ({"name": 3}, "name must be text; got 3"),
        ({"metricsData": [1]}, "every metric must be an object; got 1"),
        ({"metricsData": [{"name": "x", "score": "1"}]}, "the score of x must be a number"),
    ],
)
def test_a_bad_case_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    path = written(tmp_path, [case(0, "a", 1.0), {**case(1, "a", 1.0), **fields}])
    with pytest.raises(InvalidInput, match=f"item 2: {message}"):
        read(path)
    assert read(path, skip_bad=True).only().trials.tolist() == [1]


def test_nan_is_no_score(tmp_path: Path) -> None:
    path = written(tmp_path, [case(0, "a", float("nan"))])
    outcomes = read(path, columns={"score": "Correctness"}).only()
    assert outcomes.unscored["unscored"].tolist() == [1]
