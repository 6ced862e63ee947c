"""Details of opencompass: repeated runs, or numbered answers, with or without a verdict."""

from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from support.samples.log_samples import OPENCOMPASS, document


def numbered(corrects: list[Any], prompts: list[Any] | None = None) -> dict[str, Any]:
    details: dict[str, Any] = {"type": "GEN"}
    for number, correct in enumerate(corrects):
        prompt = prompts[number] if prompts else f"Question {number}"
        details[str(number)] = {
            "prompt": prompt, "origin_prediction": "It is 4.", "predictions": "4",
            "references": "4", **({} if correct is None else {"correct": correct}),
        }  # fmt: skip
    return {"accuracy": 50.0, "details": details}


def written(folder: Path, content: Any) -> Path:
    place = folder / "results" / "qwen3"
    place.mkdir(parents=True, exist_ok=True)
    return document("gsm8k.json", content)(place)


def test_repeated_runs(tmp_path: Path) -> None:
    (group,) = read(written(tmp_path, OPENCOMPASS)).groups
    assert (group.task, group.model) == ("gsm8k", "qwen3")
    assert group.outcomes.problems == ("gsm8k_0", "gsm8k_1")
    assert group.outcomes.required_successes().tolist() == [1, 2]
    assert group.outcomes.trials.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("fields", "scores", "trials"),
    [
        ({"is_correct": [True, False]}, 1, 2),
        ({"pred": ["4", "5"], "cascade_correct": [True, True]}, 2, 2),
        ({"rule_evaluation": [{"correct": True}, {"correct": False}]}, 1, 2),
        ({"pred": ["4", "5", "6"], "correct": [True, False]}, 1, 2),  # one has no verdict
        ({"pred": ["4", "5"], "correct": [1, None]}, 1, 1),
    ],
)
def test_verdicts_under_any_name(
    tmp_path: Path, fields: dict[str, Any], scores: int, trials: int
) -> None:
    content = {"details": [{"example_abbr": "x_0", **fields}]}
    outcomes = read(written(tmp_path, content)).only()
    assert outcomes.required_successes().tolist() == [scores]
    assert outcomes.trials.tolist() == [trials]


def test_numbered_answers_are_problems(tmp_path: Path) -> None:
    outcomes = read(written(tmp_path, numbered([True, False, True]))).only()
    assert outcomes.problems == ("0", "1", "2")
    assert outcomes.required_successes().tolist() == [1, 0, 1]


def test_prompts_that_come_again_are_repeats(tmp_path: Path) -> None:
    groups = read(written(tmp_path, numbered([1, 0, 1, 1], ["a", "b", "a", "b"])))
    assert groups.only().required_successes().tolist() == [2, 1]
    assert "the same 2 prompts come 2 times" in str(groups.remarks[1])


@pytest.mark.parametrize(
    "prompts", [["a", "b", "a", "c"], [None, None, None, None], ["a", "b"] * 2]
)
def test_other_prompts_are_apart(tmp_path: Path, prompts: list[Any]) -> None:
    """Not in the same order, without prompts, or with one that cannot be read."""
    content = numbered([1, 0, 1, 1], prompts)
    if prompts == ["a", "b"] * 2:
        content["details"]["3"] = 7
    outcomes = read(written(tmp_path, content), skip_bad=True).only()
    assert set(outcomes.trials.tolist()) == {1}
    assert len(outcomes.problems) == (3 if prompts == ["a", "b"] * 2 else 4)


def test_without_verdicts_nothing_is_counted(tmp_path: Path) -> None:
    groups = read(written(tmp_path, numbered([None, None])))
    outcomes = groups.only()
    assert outcomes.unscored["unscored"].tolist() == [1, 1]
    assert "has not recorded which answers are correct" in str(groups.remarks[1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (numbered([True, "yes"]), "item 2: correct must be true or false; got 'yes'"),
        ({"details": [{"example_abbr": "x", "correct": []}]}, "item 1: there are no runs of 'x'"),
        ({"details": [{"example_abbr": None, "correct": [1]}]}, "item 1: example_abbr must be"),
        ({"details": {"type": "GEN", "1": {}}}, "details 0 is missing"),
    ],
)
def test_bad_details_are_named(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(written(tmp_path, content))


def test_a_problem_is_not_counted_twice(tmp_path: Path) -> None:
    content = {"details": [{"example_abbr": "x", "correct": [1]}] * 2}
    with pytest.raises(InvalidInput, match="item 2: problem 'x' has trial 0 twice"):
        read(written(tmp_path, content), skip_bad=True)


def test_results_without_details_are_no_log(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no details; run opencompass with"):
        read(written(tmp_path, {"accuracy": 50.0}), reader="opencompass")
