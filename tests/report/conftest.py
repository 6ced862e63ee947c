"""Runs of a function, for reports on them; and a run as a display sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from passband.generate.provider import Completion, Message, Sampling
from passband.generate.providers import Connection
from passband.report.live import Quiet
from passband.run.budget import Budget
from passband.run.counters import Counters, Price
from passband.run.session import Finished, run_session
from passband.run.settings import Patience, Settings
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.tasks.task import MetricEntry, Problem, Task
from passband.trials.rows import ScoreRow, TrialRow

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

    def run(self, answers: Answers, task: Task | None = None, **settings: Any) -> Finished:
        """Ask, where problem i is answered by `answers[i]`, one after the other."""
        left = [list(each) for each in answers]
        price = settings.pop("price", None)

        def answer(prompt: str) -> Any:
            return left[int(prompt)].pop(0)

        self.tasks = [task or task_of(len(answers))]
        chosen = {"n": len(answers[0]), "concurrency": 1, "seed": "s"} | settings
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


def fake_runner(
    rows: Sequence[Sequence[float | None]] = ((1.0, 0.0), (0.0, 0.0), (1.0, 1.0)),
    *,
    name: str = "sums",
    planned: int = 12,
    failed: Sequence[str] = (),
    tokens: int = 1_000,
    price: Price | None = None,
    **endpoint: Any,
) -> Any:
    """As much of a run as displays look at; rows are scores by problem."""
    counters = Counters(max(1, len(rows)), planned, main=1)
    done = [
        TrialRow(at, trial, "ok", f"{at} {trial}", None, tokens, 2 * tokens,
                 scores=[ScoreRow(1, value)])
        for at, scores in enumerate(rows)
        for trial, value in enumerate(scores)
    ]  # fmt: skip
    counters.committed(done)
    counters.committed([TrialRow(0, 90 + at, status) for at, status in enumerate(failed)])
    states = {"is_stopping": False, "paused_for": 0.0, "is_down": False} | endpoint
    part = SimpleNamespace(task=SimpleNamespace(name=name), counters=counters)
    return SimpleNamespace(
        parts=[part],
        budget=Budget(price, None),
        endpoint=SimpleNamespace(**states),
        under_way=3,
        can_estimate=True,
    )


@pytest.fixture
def runner() -> Callable[..., Any]:
    return fake_runner


@pytest.fixture
def words() -> Callable[..., Task]:
    return task_of
