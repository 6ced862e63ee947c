"""Reviews of evalscope: groups are problems, generations are trials, a failed judge is no zero."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from passband.readers import Options, readers
from support.samples.log_samples import EVALSCOPE, lines, review


def written(folder: Path, values: list[Any]) -> Path:
    return lines("aime_default.jsonl", values)(folder)


def test_groups_and_generations(tmp_path: Path) -> None:
    place = tmp_path / "reviews" / "qwen3"
    place.mkdir(parents=True)
    groups = read(written(place, EVALSCOPE))
    (group,) = groups.groups
    assert (group.task, group.model) == ("aime_default", "qwen3")
    assert group.outcomes.problems == ("0", "1")
    assert group.outcomes.required_successes().tolist() == [1, 1]
    assert group.outcomes.trials.tolist() == [2, 1]
    assert {name: found.tolist() for name, found in group.outcomes.unscored.items()} == {
        "scorer_error": [0, 1]
    }


def test_the_main_score_is_named_or_the_first(tmp_path: Path) -> None:
    first = review(0, None, status="excluded")
    named = [first, review(1, 1.0, main_score_name="f1"), review(2, 0.0), review(3, 1.0)]
    assert "scored by acc" in str(read(written(tmp_path, EVALSCOPE)).remarks[0])
    assert "scored by f1" in str(read(written(tmp_path, named)).remarks[0])
    outcomes = read(written(tmp_path, named), columns={"score": "acc"}).only()
    assert outcomes.unscored["scorer_error"].tolist() == [1, 0]


def test_generations_that_are_missing_are_counted(tmp_path: Path) -> None:
    groups = read(written(tmp_path, [review(0, 1.0), review(2, 1.0), review(3, 1.0)]))
    assert groups.only().unscored["missing"].tolist() == [1, 0]


def test_groups_that_are_missing_are_remarked(tmp_path: Path) -> None:
    groups = read(written(tmp_path, [review(0, 1.0), review(6, 1.0)]))
    (remark,) = [remark for remark in groups.remarks if remark.important]
    assert str(remark).startswith("2 groups have no line")


def test_without_groups_a_sample_is_a_problem(tmp_path: Path) -> None:
    values = [review(number, 1.0) for number in range(3)]
    for value in values:
        del value["sample_score"]["group_id"], value["sample_score"]["generation_index"]
        del value["sample_score"]["sample_id"]
    assert read(written(tmp_path, values)).only().problems == ("0", "1", "2")


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_sample_is_not_counted_twice(tmp_path: Path, skip_bad: bool) -> None:
    path = written(tmp_path, [review(0, 1.0), review(1, 0.0), review(1, 1.0)])
    with pytest.raises(InvalidInput, match=r"jsonl:3: sample 1 has two lines"):
        read(path, skip_bad=skip_bad)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("generation_index", -1, "the number of a trial must be a whole number"),
        ("group_id", 1.5, "group_id must be text or a whole number; got 1.5"),
        ("score", [], r"score must be an object; got \[\]"),
        ("score", {"value": {"acc": "1"}}, "the score acc must be a number; got '1'"),
        ("score", {"value": {"acc": 10**400}}, "a score of acc is infinite"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, field: str, value: Any, message: str) -> None:
    bad = review(2, 1.0)
    bad["sample_score"][field] = value
    path = written(tmp_path, [review(0, 1.0), review(1, 0.0), bad])
    with pytest.raises(InvalidInput, match=f"aime_default.jsonl:3: .*{message}"):
        read(path)
    groups = read(path, skip_bad=True)
    assert groups.only().trials.tolist() == [2]
    assert "left out 1 line that cannot be read (line 3)" in str(groups.remarks[1])


def test_nan_is_no_score(tmp_path: Path) -> None:
    outcomes = read(written(tmp_path, [review(0, 1.0), review(1, float("nan"))])).only()
    assert (outcomes.trials.tolist(), outcomes.unscored["unscored"].tolist()) == ([1], [1])


def test_texts_are_kept_where_they_are_wanted(tmp_path: Path) -> None:
    reader = readers.get("evalscope")
    (log,) = reader.read(written(tmp_path, EVALSCOPE), Options(texts=True))
    trial = next(iter(log.trials))
    assert (trial.text, trial.scores[0].answer) == ("It is 4.", "4")
    record = json.loads(log.problems[0].record)
    assert record["messages"] == [["user", "2+2?"]]
    assert (record["targets"], record["doc"]) == (["4"], {"level": 1})
