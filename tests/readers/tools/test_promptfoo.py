"""Output of promptfoo: repeats by content, a log per column, errors and free passes unscored."""

from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from passband.readers import Options, readers
from support.samples.log_samples import PROMPTFOO, document, lines, result

COLUMN = {"provider": {"id": "openai:n", "label": "N"}, "promptIdx": 1}


def written(folder: Path, results: list[Any]) -> Path:
    return document("out.json", {"results": {"version": 3, "results": results}})(folder)


def test_repeats_are_trials(tmp_path: Path) -> None:
    groups = read(document("out.json", PROMPTFOO)(tmp_path))
    (group,) = groups.groups
    assert (group.task, group.model) == ("sums", "openai:m")
    assert [key.partition(" ")[0] for key in group.outcomes.problems] == ["2+2", "3+1"]
    assert group.outcomes.required_successes().tolist() == [1, 1]
    assert group.outcomes.trials.tolist() == [2, 1]
    assert {name: found.tolist() for name, found in group.outcomes.unscored.items()} == {
        "errored": [0, 1]
    }


def test_every_shape_of_output_is_the_same(tmp_path: Path) -> None:
    results = PROMPTFOO["results"]["results"]
    for path in (
        written(tmp_path, results),
        document("flat.json", {"results": results, "stats": {}})(tmp_path),
        document("list.json", results)(tmp_path),
        lines("out.jsonl", results)(tmp_path),
    ):
        groups = read(path)
        assert groups.reader == "promptfoo"
        assert groups.only().trials.tolist() == [2, 1]


def test_columns_are_providers_and_prompts(tmp_path: Path) -> None:
    prompt = {"raw": "Say 2+2", "label": "Say {{q}}"}
    results = [
        result(0, "2+2", True, 0),
        result(0, "2+2", False, 1, **COLUMN),
        result(0, "2+2", False, 1, promptIdx=2, prompt=prompt),
        result(0, "2+2", False, 1, **{**COLUMN, "promptIdx": 3}),
    ]
    groups = read(written(tmp_path, results))
    assert [group.key for group in groups.groups] == [
        ("promptfoo: What is {{q}}?", "openai:m"),
        ("promptfoo: What is {{q}}?", "N (prompt 1)"),
        ("promptfoo: Say {{q}}", "openai:m"),
        ("promptfoo: What is {{q}}?", "N (prompt 3)"),
    ]


def test_long_prompts_that_begin_alike_are_apart(tmp_path: Path) -> None:
    results = [
        result(0, "a", True, 0, promptIdx=number, prompt={"label": "You are kind. " * 9 + end})
        for number, end in enumerate("xy")
    ]
    tasks = [group.task for group in read(written(tmp_path, results)).groups]
    assert len(set(tasks)) == 2
    assert all("You are kind. You" in str(task) for task in tasks)


def test_what_is_asked_and_checked_is_the_problem(tmp_path: Path) -> None:
    other = result(1, "2+2", True, 0)
    other["testCase"]["assert"] = [{"type": "contains", "value": "4"}]
    same = result(2, "2+2", True, 0, vars={"q": "2+2", "sessionId": "s2"})
    outcomes = read(written(tmp_path, [result(0, "2+2", True, 0), other, same])).only()
    assert outcomes.trials.tolist() == [2, 1]


def test_keys_are_those_of_the_content_in_any_order(tmp_path: Path) -> None:
    results = [result(0, "2+2", True, 0), result(1, "2+2", True, 0), result(2, "3+1", True, 0)]
    first = read(written(tmp_path, results)).only().problems
    assert set(read(written(tmp_path, results[::-1])).only().problems) == set(first)


def test_without_assertions_nothing_passes(tmp_path: Path) -> None:
    grading = {"pass": True, "score": 1, "reason": "No assertions"}
    groups = read(
        written(tmp_path, [result(0, "a", True, 0), result(1, "b", True, 0, gradingResult=grading)])
    )
    assert groups.only().unscored["unscored"].tolist() == [0, 1]
    assert any(
        "no score: 1 result in the file without an assertion" in str(remark)
        for remark in groups.remarks
    )


@pytest.mark.parametrize(
    "component",
    [
        {"pass": False, "score": 0, "reason": "Custom function threw error: x"},
        {"pass": False, "score": 0, "reason": "r", "metadata": {"graderError": True}},
    ],
)
def test_a_check_that_broke_is_no_failure(tmp_path: Path, component: dict[str, Any]) -> None:
    grading = {"pass": False, "score": 0, "reason": "r", "componentResults": [component]}
    results = [result(0, "a", False, 1, gradingResult=grading), result(1, "b", False, 1)]
    outcomes = read(written(tmp_path, results)).only()
    assert outcomes.unscored["scorer_error"].tolist() == [1, 0]
    assert outcomes.trials.tolist() == [0, 1]


def test_answers_from_a_cache_are_remarked(tmp_path: Path) -> None:
    cached = result(0, "a", True, 0, response={"output": "4", "cached": True})
    groups = read(written(tmp_path, [cached]))
    assert any("may be copies of one draw" in str(remark) for remark in groups.remarks)


def test_without_reasons_an_absent_answer_is_an_error(tmp_path: Path) -> None:
    """Older versions did not write a reason."""
    old = [result(number, "a", False, 1, error="wrong") for number in range(3)]
    old[1]["response"], old[2]["response"] = None, {"error": "down"}
    for value in old:
        del value["failureReason"]
    outcomes = read(written(tmp_path, old)).only()
    assert (outcomes.trials.tolist(), outcomes.unscored["errored"].tolist()) == ([1], [2])


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_result_is_not_counted_twice(tmp_path: Path, skip_bad: bool) -> None:
    path = written(tmp_path, [result(0, "a", True, 0)] * 2)
    with pytest.raises(InvalidInput, match="item 2: test 0 of prompt 0 has two results"):
        read(path, skip_bad=skip_bad)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"success": 1}, "success must be true or false; got 1"),
        ({"testIdx": "1"}, "testIdx must be a whole number; got '1'"),
        ({"score": "1"}, "the score score must be a number; got '1'"),
        ({"namedScores": {"x": []}}, r"the score x must be a number; got \[\]"),
        ({"vars": 3}, "vars must be an object; got 3"),
    ],
)
def test_a_bad_result_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    results = [result(0, "a", True, 0), {**result(1, "a", True, 0), **fields}]
    for path, place in (
        (written(tmp_path, results), "out.json: item 2"),
        (lines("out.jsonl", results)(tmp_path), "out.jsonl:2"),
    ):
        with pytest.raises(InvalidInput, match=f"{place}: {message}"):
            read(path)
        assert read(path, skip_bad=True).only().trials.tolist() == [1]


def test_named_scores_and_texts(tmp_path: Path) -> None:
    path = document("out.json", PROMPTFOO)(tmp_path)
    assert read(path, columns={"score": "right"}).only().required_successes().tolist() == [1, 1]
    (log,) = readers.get("promptfoo").read(path, Options(texts=True))
    trial = next(iter(log.trials))
    assert (trial.text, trial.prompt_tokens, trial.latency_ms) == ("4", 3, 6)
    assert log.data("q") == dict(
        zip((row.key for row in log.problems), ["2+2", "3+1"], strict=True)
    )
