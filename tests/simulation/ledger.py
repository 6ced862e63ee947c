"""What happened in a simulation, as an onlooker saw it: requests, commits, faults, endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from passband.trials.rows import AttemptRow, TrialRow
from passband.trials.store import Store
from simulation.questions import Place


@dataclass
class Asked:
    """One request, and what the client made of it."""

    session: int
    places: tuple[Place, ...]
    answered: int = 0  # completions that came back whole
    fault: str | None = None  # the kind of error; "Down" for everyone, "cancelled" by the run
    is_forgotten: bool = False  # whether its problem was left out before any trial was recorded

    @property
    def drew(self) -> bool:
        """Whether it may have drawn an answer, so that it counts as an attempt."""
        is_refused_batch = self.fault == "Rejected" and len(self.places) > 1
        return self.fault != "RateLimited" and not is_refused_batch


@dataclass
class Ledger:
    """Everything that was asked, answered and acknowledged, over all sessions."""

    session: int = 0
    is_dead: bool = False  # the process was killed; what it does after that never happened
    asked: list[Asked] = field(default_factory=list)
    stored: dict[Place, TrialRow] = field(default_factory=dict)  # acknowledged
    attempts: int = 0  # acknowledged rows of failed attempts
    faults: Counter[str] = field(default_factory=Counter)  # played by the server, all sessions
    in_session: Counter[str] = field(default_factory=Counter)  # the same of this session
    left_tasks: list[str] = field(default_factory=list)

    def ask(self, places: tuple[Place, ...]) -> Asked:
        asked = Asked(self.session, places)
        if not self.is_dead:
            self.asked.append(asked)
        return asked

    def play(self, fault: str) -> None:
        """Note a fault that the server, the way to it, the disk or the machine plays."""
        if not self.is_dead:
            self.faults[fault] += 1
            self.in_session[fault] += 1

    def of_session(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.session == self.session]


def watched_store(ledger: Ledger) -> type[Store]:
    """Return a store that tells the ledger what it has acknowledged."""

    names: dict[int, tuple[str, dict[int, str]]] = {}  # task and problems of each run

    class WatchedStore(Store):
        def append(self, run: int, trials: Sequence[TrialRow], *rest: Any, **options: Any) -> None:
            super().append(run, trials, *rest, **options)
            if ledger.is_dead:
                return
            if run not in names:
                (task,) = (row[2] for row in self.rows("run") if row[0] == run)
                keys = {problem.number: problem.key for problem in self.problems(run).values()}
                names[run] = task, keys
            task, keys = names[run]
            for row in trials:
                ledger.stored[Place(task, keys[row.problem], row.trial)] = row

        def add_attempts(
            self, run: int, attempts: Sequence[AttemptRow], *rest: Any, **options: Any
        ) -> None:
            super().add_attempts(run, attempts, *rest, **options)
            if not ledger.is_dead:
                ledger.attempts += len(attempts)

    return WatchedStore
