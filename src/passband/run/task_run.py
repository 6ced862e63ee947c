"""One task within a run: its problems, its scorers, where its rows go, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from passband.generate.problem import Problem
from passband.generate.provider import Sampling
from passband.generate.subject import Subject
from passband.run.blocks import shuffled
from passband.run.counters import Counters
from passband.run.grade import Grader, scorer_entry
from passband.run.shard import Shard, Taken
from passband.tasks.task import Task
from passband.trials.rows import ScorerEntry
from passband.trials.store import Store

if TYPE_CHECKING:
    from passband.stats.sequential.width import WidthRule

__all__ = ["BROUGHT", "TaskRun"]

BROUGHT = "brought by the model: "  # begins the identity of a scorer of the model's own scores


@dataclass(frozen=True, eq=False)
class TaskRun:
    """A task that is being run."""

    task: Task
    subject: Subject  # that is asked; tasks that bring none of their own share one
    number: int  # of its run in the store
    problems: Sequence[Problem]
    sampling: Sampling
    seed: str | None  # that its trials' seeds are derived from
    n: int
    grader: Grader
    counters: Counters
    retries_failed: bool = False  # whether failed trials are requested again, and then replaced
    recorded: Mapping[int, int] = field(default_factory=dict)  # trials there before, as bits
    attempts: Mapping[tuple[int, int], int] = field(default_factory=dict)  # failed before
    turned_away: Mapping[tuple[int, int], int] = field(default_factory=dict)  # those that drew none
    brought: dict[str, int] = field(default_factory=dict)  # scorers of the model's own scores
    numbers: Sequence[int] = ()  # of its problems in the store
    unasked: int = 0  # problems with trials that are not among its problems
    is_scored: bool = False  # whether its scorers have seen every trial that was there before
    rule: WidthRule | None = None  # that ends it, where it has no fixed number of trials
    shard: Shard | None = None  # the part that is asked for; all of it if None
    elsewhere: Mapping[int, int] = field(default_factory=dict)  # trials in the store of the run

    @property
    def batch(self) -> int:
        """Completions that one request may ask for."""
        return max(1, self.subject.batch)

    @cached_property
    def taken(self) -> Taken:
        """Trials that are not to be asked for: recorded, or another shard's."""
        return Taken(
            len(self.problems), self.n, self.batch, self.recorded, self.elsewhere, self.shard
        )

    @cached_property
    def order(self) -> Sequence[int]:
        """Positions of its problems in the order in which they are asked; reads their keys."""
        return shuffled(self.seed or "", self.task.name, (one.key for one in self.problems))

    @property
    def has_one_seed(self) -> bool:
        """Whether only the first seed of a request is used."""
        return getattr(self.subject, "one_seed", False)

    @cached_property
    def is_in_order(self) -> bool:
        """Whether problems are numbered in the store as they are here."""
        return list(self.numbers) == list(range(len(self.problems)))

    @cached_property
    def quick(self) -> Grader:
        """The scorers that may run between two requests."""
        return self.grader.quick()

    @cached_property
    def slow(self) -> Grader:
        """The scorers that must not hold up the run."""
        return self.grader.slow()

    def scorer_number(self, store: Store, name: str) -> int:
        """Return the number of the scorer under which the model's own scores are stored.

        It comes after the task's scorers, and is the main one where the task has none. A name
        that the task uses itself becomes NAME,model: the two need not agree.
        """
        if name not in self.brought:
            own = [scorer_entry(s, self.grader.truncated) for _, s in self.grader.scorers]
            taken = {entry.name for entry in own}
            entries = [
                ScorerEntry(f"{one},model" if one in taken else one, f"{BROUGHT}{one}")
                for one in (*self.brought, name)
            ]
            self.brought[name] = store.set_scorers(self.number, [*own, *entries])[-1]
            if self.counters.main is None:
                self.counters.main = self.brought[name]
        return self.brought[name]
