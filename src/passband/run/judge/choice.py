"""The judge that a command names, and what that makes of the scorers of its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.run.budget import find_price
from passband.run.task_run import Price
from passband.score import JudgeOptions, JudgeScorer, Scorer
from passband.tasks import MetricEntry, Task

DEFAULT_CANARIES = 3  # problems whose null answers are judged, unless more or fewer are asked for
_NAME = "judge"


@dataclass(frozen=True)
class JudgeChoice:
    """The options of a command about judges; None leaves one to the task, or to its default."""

    model: str | None = None
    base_url: str | None = None
    rubric: Any = None  # plain values
    votes: int | None = None
    against: str | None = None  # directory of the run that pairs are made with
    concurrency: int = 64
    canaries: int = DEFAULT_CANARIES
    prices: Path | None = None  # the file of prices

    def __post_init__(self) -> None:
        if self.canaries < 0:
            raise InvalidInput(f"--canaries must be 0 or more; got {self.canaries}.")

    def price_of(self, model: str) -> Price | None:
        """Return the price of a judge; None if it is not known."""
        return find_price(model, self.prices, [self.base_url] if self.base_url else ())

    @property
    def given(self) -> dict[str, Any]:
        """The options of a judge that the command sets."""
        values = {
            "model": self.model,
            "rubric": self.rubric,
            "votes": self.votes,
            "against": self.against,
        }
        return {name: value for name, value in values.items() if value is not None}

    def judge(self, scorer: JudgeScorer) -> JudgeScorer:
        """Return a judge of a task with the options of the command in place of its own."""
        values = {**scorer.options.as_json(), **self.given}
        return scorer.with_options(JudgeOptions.of(values))

    def scorers(self, scorers: Sequence[Scorer], *, adds: bool = True) -> list[Scorer]:
        """Return scorers with the judges as the command wants them; one is added if there is none.

        A judge that keeps no model is refused.
        """
        chosen: list[Scorer] = [self.judge(s) if isinstance(s, JudgeScorer) else s for s in scorers]
        judges = [scorer for scorer in chosen if isinstance(scorer, JudgeScorer)]
        if not judges and adds and self.model is not None:
            return [*chosen, JudgeScorer(_NAME, JudgeOptions.of(self.given))]
        if not judges and self.given:
            options = ", ".join(f"--{'judge' if n == 'model' else n}" for n in self.given)
            raise InvalidInput(
                f"{options}: no scorer here is a judge; name its model with --judge."
            )
        for scorer in judges:
            if scorer.options.model is None:
                raise InvalidInput(
                    f"the scorer {scorer.name} is a judge, and nothing says which model it is; "
                    "name it with --judge MODEL."
                )
        return chosen


def judged_tasks(tasks: Sequence[Task], choice: JudgeChoice | None) -> list[Task]:
    """Return tasks with the judges that a command wants; refuse judges without a model.

    A task that has no metric_list is scored by the judge alone.
    """
    choice = choice or JudgeChoice()
    return [_judged(task, choice) for task in tasks]


def _judged(task: Task, choice: JudgeChoice) -> Task:
    is_default = "metric_list" not in task.config and task.path is not None
    has_judge = any(isinstance(scorer, JudgeScorer) for scorer in task.scorers)
    if not has_judge and choice.model is not None and is_default:
        task = replace(task, scorers=(), metrics=())
    scorers = tuple(choice.scorers(task.scorers))
    new = [scorer.name for scorer in scorers[len(task.scorers) :]]
    entries = [MetricEntry(name, name, repeat_aggregation="mean") for name in new]
    return replace(task, scorers=scorers, metrics=(*task.metrics, *entries))
