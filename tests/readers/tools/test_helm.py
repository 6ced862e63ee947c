"""Runs of HELM: statistics by instance; train trials and perturbations are tasks of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from passband.readers import Options, readers
from support.samples.log_samples import HELM, document, folder, request_state, stat


def entry(instance: str, value: float, trial: int = 0, **more: Any) -> dict[str, Any]:
    stats = [stat("exact_match", value)]
    return {"instance_id": instance, "train_trial_index": trial, "stats": stats, **more}


def written(folder: Path, entries: list[Any]) -> Path:
    return document("per_instance_stats.json", entries)(folder)


def test_a_run_as_a_folder_and_as_a_file(tmp_path: Path) -> None:
    path = folder(HELM)(tmp_path)
    for source in (path, path / "per_instance_stats.json"):
        groups = read(source)
        (group,) = groups.groups
        assert (group.task, group.model) == ("mmlu:subject=law", "org/m")
        assert group.outcomes.problems == ("id1", "id2", "id3")
        assert group.outcomes.required_successes().tolist() == [1, 0, 0]
        assert group.outcomes.unscored["errored"].tolist() == [0, 0, 1]
        texts = [str(remark) for remark in groups.remarks]
        assert "scored by exact_match (choose another with --score: quasi_exact_match" in texts[0]
        assert texts[1].startswith("no score: 1 instance in the file, whose request failed")
    assert read(path, columns={"score": "num_prompt_tokens"}).only().graded is not None
    assert read(path, columns={"score": "quasi_exact_match"}).only().trials.tolist() == [1, 1, 0]


def test_train_trials_are_not_repeated_draws(tmp_path: Path) -> None:
    groups = read(written(tmp_path, [entry("a", 1), entry("a", 0, 1), entry("b", 1, 1)]))
    name = tmp_path.name
    assert [(group.task, group.outcomes.trials.tolist()) for group in groups.groups] == [
        (f"{name} (train trial 0)", [1]),
        (f"{name} (train trial 1)", [1, 1]),
    ]
    assert any("2 train trials are separate tasks" in str(remark) for remark in groups.remarks)


def test_perturbed_questions_are_other_tasks(tmp_path: Path) -> None:
    typos = {"name": "typos", "robustness": True, "seed": 3}
    groups = read(written(tmp_path, [entry("a", 1), entry("a", 0, perturbation=typos)]))
    assert [group.task for group in groups.groups] == [
        tmp_path.name,
        f"{tmp_path.name} (perturbation typos 3)",
    ]


def test_without_answers_failures_cannot_be_told(tmp_path: Path) -> None:
    groups = read(written(tmp_path, [entry("a", 1)]))
    assert groups.groups[0].model == "unknown"
    assert "no scenario_state.json beside it" in str(groups.remarks[-1])


def test_completions_beyond_the_first_have_no_score(tmp_path: Path) -> None:
    path = written(tmp_path, [entry("a", 1)])
    completions = [{"text": "4"}, {"text": "5", "finish_reason": {"reason": "length"}}]
    completions.append({"text": "6", "finish_reason": {"reason": "content_filter"}})
    states = {"request_states": [request_state("a", completions=completions)]}
    document("scenario_state.json", states)(tmp_path)
    groups = read(path)
    outcomes = groups.only()
    assert outcomes.trials.tolist() == [1]
    assert {name: found.tolist() for name, found in outcomes.unscored.items()} == {
        "refused": [1], "truncated": [1],
    }  # fmt: skip
    assert any("HELM scores the first" in str(remark) for remark in groups.remarks)
    (log,) = readers.get("helm").read(path, Options(texts=True))
    assert [trial.text for trial in log.trials] == ["4", "5", "6"]
    record = json.loads(log.problems[0].record)
    assert (record["messages"], record["targets"]) == ([["user", "Q: 2+2?"]], ["4"])
    assert record["doc"] == {"split": "test"}


def test_one_failed_request_among_several_is_an_error(tmp_path: Path) -> None:
    """With a request for each reference, the answer is not there unless all are."""
    path = written(tmp_path, [entry("a", 0)])
    states = [request_state("a"), request_state("a", success=False), request_state("a")]
    document("scenario_state.json", {"request_states": states})(tmp_path)
    assert read(path).only().unscored["errored"].tolist() == [1]


def test_an_unknown_main_statistic_is_remarked(tmp_path: Path) -> None:
    value = entry("a", 1)
    value["stats"] = [stat("num_bytes", 3), stat("air_score", 0.5), stat("other", 1)]
    groups = read(written(tmp_path, [value]))
    assert "scored by air_score" in str(groups.remarks[0])
    assert "no known main statistic; it has air_score, other, num_bytes" in str(groups.remarks[1])


def test_several_splits_are_remarked(tmp_path: Path) -> None:
    other = entry("b", 0)
    other["stats"][0]["name"]["split"] = "valid"
    path = written(tmp_path, [entry("a", 1), other])
    assert any("several splits (test, valid); --by split" in str(r) for r in read(path).remarks)
    assert [group.key for group in read(path, by="split").groups] == [("test",), ("valid",)]


def test_a_statistic_without_a_mean_is_no_score(tmp_path: Path) -> None:
    for mean in (None, float("nan")):
        value = entry("a", 1)
        value["stats"][0]["mean"] = mean
        outcomes = read(written(tmp_path, [value, entry("b", 1)])).only()
        assert outcomes.unscored["unscored"].tolist() == [1, 0]


@pytest.mark.parametrize("skip_bad", [False, True])
def test_two_values_of_a_statistic_are_refused(tmp_path: Path, skip_bad: bool) -> None:
    path = written(tmp_path, [entry("a", 1), entry("a", 0)])
    with pytest.raises(InvalidInput, match="item 2: instance 'a' has two values of exact_match"):
        read(path, skip_bad=skip_bad)
    assert read(written(tmp_path, [entry("a", 1)] * 2)).only().trials.tolist() == [1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"instance_id": 7}, "instance_id must be text; got 7"),
        ({"train_trial_index": "0"}, "train_trial_index must be a whole number; got '0'"),
        ({"stats": [{"name": "exact_match"}]}, "name must be an object"),
        ({"stats": [{"name": {"name": "x"}, "mean": "1"}]}, "the mean of x must be a number"),
    ],
)
def test_a_bad_entry_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    path = written(tmp_path, [entry("a", 1), {**entry("b", 1), **fields}])
    with pytest.raises(InvalidInput, match=f"item 2: {message}"):
        read(path)
    assert read(path, skip_bad=True).only().problems == ("a",)
