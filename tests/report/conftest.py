"""Runs of a function, for reports on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from passband.generate.problem import Problem
from passband.generate.provider import Completion, Message, Sampling
from passband.generate.registry import Connection
from passband.report.terminal.live import Quiet
from passband.run.session import RunResult, run_session
from passband.run.settings import Patience, Settings
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.tasks.task import MetricEntry, Task

Answers = Sequence[Sequence[str | Completion | None]]


def task_of(count: int, *, scorer: str = "exact_match", **changes: Any) -> Task:
    """A task of so many problems, whose prompts are their positions and targets "yes"."""
    problems = [
        Problem(f"p{at}", (Message("user", str(at)),), Reference(("yes",))) for at in range(count)
    ]
    task = Task(
        name="words",
        path=None,
        sampling=Sampling(temperature=1.0, max_tokens=10),
        repeats=2,
        scorers=(make_scorer(scorer),),
        metrics=(MetricEntry(scorer, scorer, repeat_aggregation="mean"),),
        load=lambda limit: problems[:limit],
    )
    return replace(task, **changes)


@dataclass
class Reported:
    """Runs into one directory."""

    directory: Path
    tasks: list[Task] = field(default_factory=list)

    def run(self, answers: Answers, task: Task | None = None, **settings: Any) -> RunResult:
        """Ask, where problem i is answered by `answers[i]`, one after the other."""
        left = [list(each) for each in answers]
        price = settings.pop("price", None)

        def answer(prompt: str) -> Any:
            return left[int(prompt)].pop(0)

        self.tasks = [task or task_of(len(answers))]
        chosen: dict[str, Any] = {"n": len(answers[0]), "concurrency": 1, "seed": "s"} | settings
        return run_session(
            self.tasks,
            answer,
            self.directory,
            settings=Settings(patience=Patience(first_pause=0.001), **chosen),
            connection=Connection(concurrency=1),
            watcher=Quiet(),
            price=price,
            low_water=0,
        )


@pytest.fixture
def reported(tmp_path: Path) -> Reported:
    return Reported(tmp_path / "a run")


@pytest.fixture
def words() -> Callable[..., Task]:
    return task_of
