"""Runs against the fault server: a task of sums, no pauses, and what is on disk afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from passband.generate.problem import Problem
from passband.generate.provider import Message, Sampling
from passband.generate.registry import Connection
from passband.run import session
from passband.run.loop.loop import Runner
from passband.run.progress import RunProgress
from passband.run.session import RunResult, run_session
from passband.run.settings import Patience, Settings
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference, Scorer
from passband.tasks.task import Task
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from support.servers.fault_server import FaultServer, Script, ok

NAME = "sums"
HURRIED = Patience(first_pause=0.001, longest_pause=0.005, preflight=5.0)
"""Waits for nothing, except that nobody is asked before the first request is answered."""


def number_scorer() -> Scorer:
    """Compare the last number of a completion."""
    return make_scorer("exact_match", steps=[{"function": "extract", "rules": ["last_number"]}])


def sums(
    count: int = 3,
    *,
    scorers: Sequence[Scorer] | None = None,
    sampling: Sampling | None = None,
    prompts: Sequence[str] | None = None,
    **changes: Any,
) -> Task:
    """A task whose prompts the fault server answers, some rightly and some not."""
    asked = prompts or [f"What is {17 + at} + {25 + at}?" for at in range(count)]
    problems = [
        Problem(f"p{at}", (Message("user", prompt),), Reference((str(42 + 2 * at),)))
        for at, prompt in enumerate(asked)
    ]
    task = Task(
        name=NAME,
        path=None,
        sampling=sampling or Sampling(temperature=1.0),
        repeats=2,
        scorers=tuple([number_scorer()] if scorers is None else scorers),
        metrics=(),
        load=lambda limit: problems[:limit],
    )
    return replace(task, **changes)


@dataclass
class Notes:
    """A watcher that remembers."""

    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    progress: list[RunProgress] = field(default_factory=list)
    on_tick: Callable[[Any], None] = lambda runner: None
    runner: Runner | None = None  # the one that is running; a watcher itself never sees it

    def tick(self, progress: RunProgress) -> None:
        self.progress.append(progress)
        self.on_tick(self.runner)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)


def run_watched(notes: Notes, *arguments: Any, **options: Any) -> RunResult:
    """Run a session whose runner a test can reach."""

    def remembered(**fields: Any) -> Runner:
        notes.runner = Runner(**fields)
        return notes.runner

    with patch.object(session, "Runner", remembered):
        return run_session(*arguments, watcher=notes, **options)


@dataclass
class Bench:
    """One run directory, and how to run into it."""

    directory: Path
    notes: Notes = field(default_factory=Notes)

    def run(
        self,
        server: FaultServer | str | Sequence[str],
        task: Task | None = None,
        *,
        batch: int = 1,
        timeout: float = 30.0,
        patience: Patience = HURRIED,
        **settings: Any,
    ) -> RunResult:
        """RunRecord in this process, with `settings` as in `Settings`."""
        low_water = settings.pop("low_water", 0)
        price, judge = settings.pop("price", None), settings.pop("judge", None)
        defaults: dict[str, Any] = {"seed": "bench", "concurrency": 8, "moved_server": True}
        settings = defaults | settings
        connection = Connection(
            server.url if isinstance(server, FaultServer) else server,
            timeout=timeout,
            concurrency=settings["concurrency"],
            batch=batch,
        )
        return run_watched(
            self.notes,
            [task or sums()],
            "openai:model",
            self.directory,
            settings=Settings(patience=patience, **settings),
            connection=connection,
            price=price,
            judge=judge,
            low_water=low_water,
        )

    def play(self, script: Script = ok, task: Task | None = None, **options: Any) -> FaultServer:
        """Run against a server that follows a script, and return it, with its requests."""
        with FaultServer(script) as server:
            self.run(server, task, **options)
        return server

    # --- what is on disk ---

    @property
    def rows(self) -> list[TrialRow]:
        with Trials(self.directory) as trials:
            return list(trials.trials(trials.run(NAME)))

    def row(self, problem: int, trial: int = 0) -> TrialRow:
        return next(row for row in self.rows if (row.problem, row.trial) == (problem, trial))

    @property
    def keys(self) -> list[tuple[int, int]]:
        return [(row.problem, row.trial) for row in self.rows]

    @property
    def statuses(self) -> dict[str, int]:
        with Trials(self.directory) as trials:
            return trials.statuses(trials.run(NAME).number)

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """Every attempt that failed, in order."""
        with closing(sqlite3.connect(self.directory / "trials.sqlite")) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda data: data.decode("utf-8", "surrogatepass")
            found = connection.execute("SELECT * FROM attempt ORDER BY problem, trial, attempt")
            return [dict(row) for row in found]

    @property
    def outcomes(self) -> list[str]:
        return [attempt["outcome"] for attempt in self.attempts]

    @property
    def content(self) -> list[tuple[Any, ...]]:
        """What must be the same however often a run was interrupted."""
        return [
            (
                (row.problem, row.trial, row.status, row.text, row.seed),
                [(score.value, score.status, score.answer) for score in row.scores],
            )
            for row in self.rows
        ]
