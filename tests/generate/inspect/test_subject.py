"""Tasks of Inspect, executed by Inspect itself and recorded by passband."""

from __future__ import annotations

import asyncio
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.model import get_model
from inspect_ai.scorer import includes

from passband.errors import InvalidInput
from passband.generate.inspect import subject
from passband.generate.inspect.calls import TrialCalls, call_seed
from passband.run.lm_eval.simple_evaluate import simple_evaluate
from passband.run.loop.attempts import NothingAnswered
from passband.run.rescore.rescore import rescore_run
from passband.run.schedule.blocks import trial_seed
from passband.run.tasks import load_tasks
from passband.trials.reader import Trials
from support.runs.inspect_runs import MODEL, rows, run, scores
from support.samples import inspect_tasks

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def seed_of(task: str, key: str, trial: int, call: int = 0) -> int | None:
    return call_seed(trial_seed("s", task, key, trial), call)


def test_every_trial_has_its_own_seed_and_is_scored_by_the_task() -> None:
    assert run("plain").ending == "finished"
    recorded = rows("plain")
    assert [(row.problem, row.trial) for row in recorded] == [
        (p, t) for p in range(4) for t in (0, 1)
    ]
    for row in recorded:
        seed = seed_of("plain", f"p{row.problem}", row.trial)
        assert row.text == f"It is {30 + 2 * row.problem} (seed {seed})."
        assert (row.seed, row.status, row.transcript) == (seed, "ok", None)
        assert row.request_id
        assert row.latency_ms is not None
    assert scores("plain") == [{"includes": 1.0}] * 8


def test_the_first_answer_lets_the_other_samples_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "_ALONE", 0.0)
    seen: list[bool] = []
    begin = TrialCalls.begin

    def watched(trial: TrialCalls) -> int:
        seen.append(trial.heard is not None)
        return begin(trial)

    monkeypatch.setattr(TrialCalls, "begin", watched)
    run("plain")
    assert seen == [True] * 8
    heard = asyncio.Event()
    trial = TrialCalls(1, heard=heard)
    trial.failed(trial.begin(), ValueError())
    assert not heard.is_set()
    trial.answered()
    assert heard.is_set()


def test_without_seeds_none_is_sent() -> None:
    run("plain", send_seeds=False, seed=None)
    assert {row.text.partition("(")[2] for row in rows("plain") if row.text} == {"seed None)."}


def test_two_calls_of_a_trial_have_two_seeds_and_leave_a_transcript() -> None:
    run("two_turns")
    for row in rows("two_turns"):
        assert row.transcript is not None
        assert [turn["role"] for turn in row.transcript] == ["user", "assistant"] * 2
        said = [turn["content"] for turn in row.transcript if turn["role"] == "assistant"]
        seeds = [seed_of("two_turns", f"p{row.problem}", row.trial, call) for call in (0, 1)]
        assert [re.findall(r"seed (\d+)", text) for text in said] == [[str(s)] for s in seeds]
        assert row.text == said[1]


def test_tools_are_executed() -> None:
    model = get_model("adder/x", memoize=False)
    run("tool_use", model=model)
    for row in rows("tool_use"):
        assert row.transcript is not None
        assert [turn["role"] for turn in row.transcript] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert row.transcript[1]["tool_calls"][0]["function"] == "add"
        assert (row.prompt_tokens, row.completion_tokens) == (14, 6)
    assert scores("tool_use") == [{"includes": 1.0}] * 8
    assert len(set(model.api.seeds)) == 16
    assert "generate" not in vars(model.api)  # the caller's model is as it was


def test_sandboxes_work() -> None:
    run("in_a_sandbox")
    assert scores("in_a_sandbox") == [{"includes": 1.0}] * 4


def test_each_scorer_and_each_part_of_a_score_is_a_score_of_its_own() -> None:
    run("several_scores", n=1)
    for row, score in zip(rows("several_scores"), scores("several_scores"), strict=True):
        length = float(len(row.text or ""))
        expected = {"match": 1.0, "aspects/right": 1.0, "aspects/length": length, "undecided": None}
        assert score == expected


def test_errors_and_limits_have_statuses_of_their_own() -> None:
    run("faulty")
    recorded = {(row.problem, row.trial): row for row in rows("faulty")}
    statuses = {place: row.status for place, row in recorded.items()}
    assert statuses == {
        (0, 0): "ok", (0, 1): "errored", (1, 0): "limit", (1, 1): "limit", (2, 0): "ok",
        (2, 1): "ok",
    }  # fmt: skip
    assert recorded[1, 0].scores  # Inspect scores what its limits end
    assert recorded[0, 1].scores == []
    again = run("faulty", retry_failed=True)
    assert again.task_runs[0].counters.fresh == 1


def test_a_task_that_only_fails_is_stopped_and_leaves_nothing() -> None:
    with pytest.raises(NothingAnswered, match="no such file"):
        run("hopeless")
    assert rows("hopeless") == []


def test_judges_are_not_seeded() -> None:
    run("graded")
    assert scores("graded") == [{"model_graded_qa": 1.0}] * 4
    assert inspect_tasks.JUDGED == [None] * 4


def test_choices_are_asked_and_scored_by_the_tasks_solver() -> None:
    run("choices")
    assert [score["choice"] for score in scores("choices")] == [1.0, 1.0, 0.0, 0.0] * 3


def test_more_trials_are_added_to_those_that_are_there() -> None:
    first = run("plain", n=2)
    before = rows("plain")
    second = run("plain", n=4)
    assert (first.task_runs[0].counters.fresh, second.task_runs[0].counters.fresh) == (8, 8)
    after = rows("plain")
    assert [row for row in after if row.trial < 2] == before
    assert len({row.text for row in after}) == 16


def test_many_samples_are_run_in_one_evaluation_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subject, "_LARGEST", 10)
    assert run("plain", n=8).ending == "finished"
    assert len({row.text for row in rows("plain")}) == 32


def test_what_was_run_and_how_is_recorded() -> None:
    run("plain", task_args={"count": 2, "temperature": 0.5}, top_p=0.9)
    with Trials(Path("run")) as trials:
        record = trials.run("plain")
    assert record.model == MODEL
    assert record.spec["task_args"] == {"count": 2, "temperature": 0.5}
    assert (record.spec["sampling"]["temperature"], record.spec["sampling"]["top_p"]) == (0.5, 0.9)
    assert record.config["task"]["inspect"] == "support.samples.inspect_tasks:plain"
    how = record.config["subject"]
    assert (how["engine"], how["client"]) == ("inspect", "passband")
    assert how["inspect_ai"] == version("inspect_ai")


def test_the_model_that_is_named_comes_before_the_tasks_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def own() -> Task:
        return Task(inspect_tasks.sums(1), scorer=includes(), model=inspect_tasks.judge())

    monkeypatch.setattr(inspect_tasks, "own", own, raising=False)
    run("own", n=1)
    assert (rows("own")[0].text or "").startswith("It is 30")
    assert inspect_tasks.JUDGED == []


def test_two_tasks_take_turns() -> None:
    finished = run("plain", "two_turns", "choices")
    assert [task_run.counters.fresh for task_run in finished.task_runs] == [8, 8, 12]


def test_a_task_may_ask_for_the_model_when_it_is_made() -> None:
    run("own_model", "plain")
    for row in rows("own_model"):
        assert row.text == f"It is {30 + 2 * row.problem} (seed {row.seed})."
    assert load_tasks(
        "inspect:support.samples.inspect_tasks:own_model"
    )  # without a model it loads as well


def test_other_samples_under_the_same_ids_are_refused() -> None:
    run("unnamed", n=1)
    with pytest.raises(InvalidInput, match="task_args"):
        run("unnamed", n=2, task_args={"first": "What is 1 + 1?"})


def test_samples_that_change_between_sessions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run("choices", n=1, limit=3)
    samples = inspect_tasks.choices().dataset
    samples.shuffle_choices(seed=1)
    monkeypatch.setattr(inspect_tasks, "MemoryDataset", lambda made: samples)
    with pytest.raises(InvalidInput, match=r"problem '\d' has changed its choices: .*zero.* then"):
        run("choices", n=2, limit=3)


def test_further_scorers_score_what_is_recorded() -> None:
    run("plain", n=1)
    assert rescore_run(Path("run"), scorers=["contains"]).added == 4
    assert scores("plain") == [{"includes": 1.0, "contains": 1.0}] * 4
    with pytest.raises(InvalidInput, match="plain was recorded with its scores"):
        rescore_run(Path("run"))


def test_simple_evaluate_gives_the_mean_of_every_scorer_also_in_a_running_loop() -> None:
    async def evaluated() -> dict[str, Any]:
        with pytest.warns(UserWarning, match="undecided"):  # which has no value
            return simple_evaluate(MODEL, "inspect:support.samples.inspect_tasks:several_scores", 2)

    results = asyncio.run(evaluated())
    numbers, samples = results["results"]["several_scores"], results["samples"]["several_scores"]
    mean = sum(score for row in samples for score in row["match_repeats"]) / 4
    assert numbers["match,none"] == pytest.approx(mean)
    assert numbers["undecided,none"] is None
    assert [row["problem_id"] for row in samples] == ["p0", "p1"]
