"""The judge that a command names, and the scorers of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.run.judge.choice import JudgeChoice, judged_tasks
from passband.score.judge.scorer import JudgeScorer, make_judge
from support.runs.runs import sums


def test_a_judge_comes_after_the_scorers_of_a_task() -> None:
    (task,) = judged_tasks([sums()], JudgeChoice(model="m", votes=3))
    assert [scorer.name for scorer in task.scorers] == ["exact_match", "judge"]
    assert [entry.scorer for entry in task.metrics] == ["judge"]


def test_a_task_without_metric_list_is_judged_alone() -> None:
    (task,) = judged_tasks([sums(path=Path("t.yaml"))], JudgeChoice(model="m"))
    assert [scorer.name for scorer in task.scorers] == ["judge"]
    listed = sums(path=Path("t.yaml"), config={"metric_list": []})
    (task,) = judged_tasks([listed], JudgeChoice(model="m"))
    assert [scorer.name for scorer in task.scorers] == ["exact_match", "judge"]


def test_the_command_wins_over_the_task() -> None:
    own = make_judge("judge", {"model": "a", "votes": 5, "temperature": 0.3})
    (task,) = judged_tasks([sums(scorers=[own])], JudgeChoice(model="b", rubric="{{ answer }}"))
    (scorer,) = task.scorers
    assert isinstance(scorer, JudgeScorer)
    options = scorer.options
    assert (options.model, options.votes, options.temperature) == ("b", 5, 0.3)
    assert options.rubric.template == "{{ answer }}"


def test_without_options_tasks_stay_as_they_are() -> None:
    task = sums()
    (same,) = judged_tasks([task], None)
    assert same.scorers == task.scorers


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"votes": 3}, "--votes: no scorer here is a judge"),
        ({"model": "m", "votes": 0}, "got 0"),
        ({"model": "m", "against": "run"}, "--against is for a pairwise rubric"),
    ],
)
def test_wrong_choices(choice: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        judged_tasks([sums()], JudgeChoice(**choice))  # type: ignore[arg-type]


def test_a_judge_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match="name it with --judge MODEL"):
        judged_tasks([sums(scorers=[make_judge("judge", {})])], JudgeChoice())


def test_canaries_are_not_negative() -> None:
    with pytest.raises(InvalidInput, match="--canaries"):
        JudgeChoice(canaries=-1)
