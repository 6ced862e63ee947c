"""Results of verifiers: weighted rewards, and rollouts that failed, in each of its forms."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from support.samples.tool_logs import episode, rollout, trace, write_lines

REWARDS = {"correct": {"score": 1.0, "weight": 0.8}, "format": {"score": 0.5, "weight": 0.2}}


def important(groups: Any) -> list[str]:
    return [str(remark) for remark in groups.remarks if remark.important]


def test_rewards_are_weighted(tmp_path: Path) -> None:
    lines = [episode(trace("a", REWARDS)), episode(trace("b", {"correct": {"score": 0.0}}))]
    path = write_lines(tmp_path / "traces.jsonl", lines)
    (log,) = readers.get("verifiers").read(path, Options(texts=True))
    assert (log.task, log.model) == ("sums", "gpt-4")
    assert log.scorers == ("reward", "correct", "format", "turns")
    first, second = log.trials
    assert [score.value for score in first.scores] == [pytest.approx(0.9), 1.0, 0.5, 1.0]
    assert [score.value for score in second.scores] == [0.0, 0.0, 1.0]
    assert (first.text, first.completion_tokens) == ("2", 2)
    assert log.data("idx") == {"a": 0, "b": 0}
    assert [message["role"] for message in first.transcript or []] == ["user", "assistant"]


def test_episodes_of_a_task_are_its_trials(tmp_path: Path) -> None:
    lines = [episode(trace("a", {"correct": {"score": s, "weight": 1.0}})) for s in (1.0, 0.0, 1.0)]
    outcomes = read(write_lines(tmp_path / "t.jsonl", lines)).only()
    assert (outcomes.trials.tolist(), outcomes.required_successes().tolist()) == ([3], [2])


def test_failed_traces_have_no_score(tmp_path: Path) -> None:
    error = {"type": "ProviderError", "message": "overloaded"}
    lines = [
        episode(trace("a", {"correct": {"score": 1.0, "weight": 1.0}}, errors=[error])),  # retried
        episode(trace("a", {}, ok=False, errors=[error])),
        episode(trace("a", {"correct": {"score": 0.0, "weight": 1.0}}, ok=False, errors=[error])),
        episode(ok=False, errors=[error]),
        episode(trace("a", {"correct": {"score": 0.5, "weight": 1.0}}, is_timeout=True)),
    ]
    groups = read(write_lines(tmp_path / "t.jsonl", lines))
    by_model = {group.model: group.outcomes for group in groups.groups}
    assert by_model["gpt-4"].trials.tolist() == [2]
    assert list(by_model) == ["gpt-4"]  # also the model of the episode without a trace
    assert by_model["gpt-4"].unscored["errored"].tolist() == [3]
    assert any(
        "3 rollouts ended in an error, 1 of them with a reward" in x for x in important(groups)
    )
    (log,) = readers.get("verifiers").read(tmp_path / "t.jsonl", Options())
    assert [trial.status for trial in log.trials] == [
        "ok",
        "errored",
        "errored",
        "limit",
        "errored",
    ]
    assert log.attempts[0].detail == "ProviderError: overloaded"


def test_a_trace_without_rewards_is_not_0(tmp_path: Path) -> None:
    outcomes = read(write_lines(tmp_path / "t.jsonl", [episode(trace("a", {}))])).only()
    assert outcomes.unscored["unscored"].tolist() == [1]


def test_agents_of_an_episode_are_not_pooled(tmp_path: Path) -> None:
    def of(agent: str, score: float) -> dict[str, Any]:
        rewards = {"correct": {"score": score, "weight": 1.0}}
        return trace("a", rewards, agent={"name": agent, "config": {"model": "M"}})

    lines = [episode(of("solver", 1.0), of("critic", 0.0))] * 2
    groups = read(write_lines(tmp_path / "t.jsonl", lines))
    assert {group.model: group.outcomes.trials.tolist() for group in groups.groups} == {
        "M (solver)": [2], "M (critic)": [2],
    }  # fmt: skip


def test_bare_traces(tmp_path: Path) -> None:
    def of(idx: int, reward: float, **more: Any) -> dict[str, Any]:
        line = trace("", {"correct": reward}, **more)
        del line["ok"], line["is_timeout"]
        return line | {"task": {"type": "Sum", "data": {"idx": idx}}, "agent": {"model": "M"}}

    error = {"type": "ToolError", "message": "x"}
    lines = [of(0, 1.0), of(1, 0.0), of(1, 0.0, errors=[error])]
    groups = read(write_lines(tmp_path / "t.jsonl", lines))
    assert (groups.groups[0].task, groups.groups[0].model) == ("Sum", "M")
    assert groups.only().trials.tolist() == [1, 1]
    assert groups.only().unscored["errored"].tolist() == [0, 1]


def test_rollouts(tmp_path: Path) -> None:
    failed = {"error": "E", "error_chain_repr": "E()", "error_chain_str": "E: no reply"}
    lines = [
        rollout(0, 1.0),
        rollout(0, 0.0, error=None),
        rollout(1, 0.0, error=failed),
        rollout(1, 0.5, is_truncated=True),
        rollout(1, 0.0, error="ModelError()"),
    ]
    path = write_lines(tmp_path / "results.jsonl", lines)
    (tmp_path / "metadata.json").write_text(json.dumps({"env_id": "sums", "model": "qwen"}))
    groups = read(path)
    assert (groups.groups[0].task, groups.groups[0].model) == ("sums", "qwen")
    outcomes = groups.only()
    assert outcomes.trials.tolist() == [2, 1]
    assert outcomes.unscored["errored"].tolist() == [0, 2]
    assert important(groups) == [
        "2 rollouts ended in an error, 2 of them with a reward: left without a score"
    ]
    (log,) = readers.get("verifiers").read(path, Options(texts=True))
    assert log.scorers == ("reward", "correct")  # times are no scores
    assert [trial.status for trial in log.trials] == ["ok", "ok", "errored", "truncated", "errored"]
    assert next(iter(log.trials)).text == "2"
    assert log.attempts[0].detail == "E: no reply"


def test_joined_rollouts_are_a_table(tmp_path: Path) -> None:
    lines = [rollout(0, 1.0, model=model) for model in ("M", "N")]
    groups = read(write_lines(tmp_path / "r.jsonl", lines))
    assert (groups.reader, [group.key for group in groups.groups]) == ("table", [("M",), ("N",)])


def test_metrics_of_a_newer_rollout_are_listed(tmp_path: Path) -> None:
    line = rollout(0, 1.0, metrics={"correct": 1.0, "reward": 3.0}, timing={}, note=7)
    (log,) = readers.get("verifiers").read(write_lines(tmp_path / "r.jsonl", [line]), Options())
    assert log.scorers == ("reward", "correct", "reward (part)")
    assert measure(log.outcomes(), "avg").value == 1.0


def test_what_is_wrong(tmp_path: Path) -> None:
    bad = episode(trace("a", REWARDS), trace("a", {"correct": "x"}))
    path = write_lines(tmp_path / "t.jsonl", [episode(trace("a", REWARDS)), bad, {"traces": 1}])
    with pytest.raises(InvalidInput, match=r"t.jsonl:2: the reward correct must be a number"):
        read(path)
    groups = read(path, skip_bad=True)
    assert groups.only().trials.tolist() == [1]  # neither trace of the bad episode
    path = write_lines(tmp_path / "t.jsonl", [rollout(0, 1.0), rollout(0, 1) | {"example_id": "0"}])
    with pytest.raises(InvalidInput, match=r'both 0 and "0" are ids'):
        read(path, skip_bad=True)


def test_an_episode_without_traces_has_the_model_of_the_file(tmp_path: Path) -> None:
    failed = episode(ok=False, errors=[{"type": "EnvError", "message": "x"}])

    def models(*lines: Any) -> list[str | None]:
        return [group.model for group in read(write_lines(tmp_path / "t.jsonl", lines)).groups]

    other = trace("a", REWARDS, agent={"name": "agent", "config": {"model": "other"}})
    assert models(failed, episode(trace("a", REWARDS))) == ["gpt-4"]
    assert models(failed, episode(trace("a", REWARDS)), episode(other)) == ["gpt-4", "other", "t"]


def test_rewards_of_nothing_are_no_rewards(tmp_path: Path) -> None:
    groups = read(write_lines(tmp_path / "t.jsonl", [
        episode(trace("a", {"correct": None}, ok=False)), episode(trace("a", REWARDS)),
    ]))  # fmt: skip
    assert any("1 rollout ended in an error: left without" in text for text in important(groups))
