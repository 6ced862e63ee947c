"""One of the two runs that a gate tops up: recorded trials, cost of a round, further requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate import Connection
from passband.readers import stored_outcomes
from passband.run.budget import find_price, price_files
from passband.run.loop.loop import Ending
from passband.run.progress import Watcher
from passband.run.rescore.recorded_task import recorded_settings, recorded_task
from passband.run.session import run_session
from passband.run.task_run import Price
from passband.stats.data import Outcomes
from passband.trials import RunRecord, Trials, is_run_directory


@dataclass(frozen=True)
class RecordedTask:
    """What a run directory holds of one task of the model."""

    problems: int
    rounds: int  #: complete
    trials: int
    cost: float | None  #: of all trials; None where no price is known

    @property
    def round_cost(self) -> float | None:
        """What a round costs, by the trials so far."""
        if self.cost is None or not self.trials:
            return None
        return self.cost / self.trials * self.problems


@dataclass(frozen=True)
class SettleSide:
    """A model in a run directory, with the tasks that it is gated by."""

    directory: Path
    label: str | None  #: of the model, where the directory holds several
    tasks: tuple[str, ...]
    prices: Path | None = None
    concurrency: int = 64

    def __post_init__(self) -> None:
        if not is_run_directory(self.directory):
            raise InvalidInput(
                f"{self.directory} is no run directory: --settle asks the model for more trials, "
                "and only a run that passband made says how. Without --settle any log will do."
            )

    def check(self) -> None:
        """Refuse a run that cannot be asked for more."""
        with Trials(self.directory) as trials:
            for run in self._runs(trials):
                recorded_task(trials, run)

    def identity(self) -> dict[str, Any]:
        """Return what tells this side from others, wherever its directory is moved."""
        with Trials(self.directory) as trials:
            runs = self._runs(trials)
            return {
                "model": runs[0].model,
                "tasks": {run.task: len(trials.numbers(run.number)) for run in runs},
                "created": {run.task: run.created for run in runs},
            }

    def held(self) -> dict[str, RecordedTask]:
        """Return what is there of each task."""
        with Trials(self.directory) as trials:
            return {run.task: self._held(trials, run) for run in self._runs(trials)}

    def outcomes(self, tasks: Iterable[str], rounds: int | None) -> dict[str, Outcomes]:
        """Return the outcomes of the first rounds of some tasks, or of all their trials.

        Which problems have one trial more follows from the order of asking and from money, so that
        counts which go along with results are no finding.
        """
        chosen = set(tasks)
        with Trials(self.directory) as trials:
            runs = [run for run in self._runs(trials) if run.task in chosen]
            found = {run.task: stored_outcomes(trials, run, run.scorer(), rounds) for run in runs}
        accepted = ("trials-related",) if rounds is None else ()
        return {task: outcomes.accepting(accepted) for task, outcomes in found.items()}

    def top_up(
        self, tasks: Iterable[str], rounds: int, money: float | None, watcher: Watcher
    ) -> Ending:
        """Bring tasks to this many rounds, spending no more than the money given."""
        chosen = set(tasks)
        with Trials(self.directory) as trials:
            runs = [run for run in self._runs(trials) if run.task in chosen]
        alike: dict[tuple[str | None, tuple[str, ...]], list[RunRecord]] = {}
        for run in runs:
            alike.setdefault((run.spec.get("seed"), tuple(run.addresses)), []).append(run)
        for group in alike.values():
            before = self._spent(group)
            ending = self._ask(group, rounds, None if money is None else before + money, watcher)
            if ending != "finished":
                return ending
            money = None if money is None else money - (self._spent(group) - before)
        return "finished"

    def _ask(
        self, runs: Sequence[RunRecord], rounds: int, max_cost: float | None, watcher: Watcher
    ) -> Ending:
        """Make the missing trials of runs that were asked with one seed, at one address."""
        with Trials(self.directory) as trials:
            recorded = [recorded_task(trials, run) for run in runs]
        return run_session(
            recorded,
            runs[0].model,
            self.directory,
            settings=recorded_settings(
                runs[0], rounds, concurrency=self.concurrency, max_cost=max_cost
            ),
            connection=Connection(runs[0].addresses or None, concurrency=self.concurrency),
            watcher=watcher,
            price=self._price(runs[0]),
        ).ending

    def _spent(self, runs: Sequence[RunRecord]) -> float:
        with Trials(self.directory) as trials:
            return sum(self._held(trials, run).cost or 0.0 for run in runs)

    def require_price(self) -> None:
        """Refuse a limit of cost where no price is known, or no tokens are counted."""
        with Trials(self.directory) as trials:
            run = self._runs(trials)[0]
        price = self._price(run)
        for task, held in self.held().items():
            if price is None:
                places = " or ".join(map(str, price_files()))
                raise InvalidInput(
                    f"--max-cost needs the price of {run.model}. Put it into {places} (or into "
                    "--prices FILE) as NAME: {prompt: 0.15, completion: 0.60}, per million tokens; "
                    "or limit the rounds with --max-rounds."
                )
            if not held.cost and price != Price(0.0, 0.0):
                raise InvalidInput(
                    f"{task}: the trials of {run.model} do not say how many tokens they took, so "
                    "--max-cost cannot be kept; limit the rounds with --max-rounds."
                )

    def _runs(self, trials: Trials) -> list[RunRecord]:
        runs = [
            run
            for run in trials.runs()
            if run.task in self.tasks and self.label in (None, run.label)
        ]
        if len({run.model for run in runs}) != 1:
            raise InvalidInput(
                f"{self.directory} must hold these tasks for one model only; choose it with "
                "--base-model or --new-model."
            )
        return runs

    def _held(self, trials: Trials, run: RunRecord) -> RecordedTask:
        known = trials.cost(run.number)
        price = self._price(run)
        cost = known or (None if price is None else price.of(*trials.tokens(run.number)))
        return RecordedTask(
            len(trials.numbers(run.number)),
            trials.rounds_there(run),
            trials.trial_count(run.number),
            cost,
        )

    def _price(self, run: RunRecord) -> Price | None:
        return find_price(run.model, self.prices, run.addresses)
