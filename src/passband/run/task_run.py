"""One task within a run: problems, scorers, prices and counts.

Counts of a task's recorded trials, kept as rows are committed.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from passband.generate import Problem, Sampling, Subject
from passband.run.loop.grader import Grader, scorer_entry
from passband.run.schedule.blocks import shuffled
from passband.run.shards.shard import Shard, Taken
from passband.tasks import Task
from passband.trials import STATUSES, ScorerEntry, ScoreRow, Store, TrialRow, total_cost

if TYPE_CHECKING:
    from passband.stats.interval import Estimate
    from passband.stats.sequential import WidthRule


_UNITS = 10**9  # money is compared in whole billionths: 120 x 0.02 is 2.4, whatever floats add to


@dataclass(frozen=True)
class Price:
    """The price of a million tokens.

    One that is not stated is that of a model in this process: nothing is paid, and the rows of its
    trials have no cost.
    """

    prompt: float
    completion: float
    is_stated: bool = field(default=True, compare=False)
    source: str = field(default="", compare=False)  # where it is from, if not from the caller

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of tokens."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6

    @property
    def proposal(self) -> str:
        """What it is, where it is from, and how to adopt it."""
        rates = f"{self.prompt:g},{self.completion:g}"
        return (
            f"{rates} per million tokens by {self.source} (--price {rates} or --prices genai "
            "takes it)"
        )

    def put_on(self, rows: Sequence[TrialRow]) -> None:
        """Give each row without a cost its own, where its tokens were counted."""
        for row in rows:
            prompt, completion = row.prompt_tokens, row.completion_tokens
            if row.cost is None and not prompt is completion is None:
                row.cost = self.of(prompt or 0, completion or 0)


def fits(cost: float, limit: float) -> bool:
    """Return whether a cost is within a limit, both in whole billionths.

    >>> sum([0.02] * 120) <= 2.4, fits(sum([0.02] * 120), 2.4), fits(2.40001, 2.4)
    (False, True, False)
    """
    return round(cost * _UNITS) <= round(limit * _UNITS)


@dataclass
class Counters:
    """Counts of one task, those of earlier processes included."""

    problems: int
    planned: int  # trials in total
    main: int | None = None  # number of the scorer that the estimate is of
    is_chosen: bool = False  # problems are chosen by answers: their mean score estimates nothing
    done: int = 0
    fresh: int = 0  # of those, recorded by this process
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0  # of those that came out, where the server counts them
    cached_tokens: int = 0  # of those that went in, where the server counts them
    known_cost: float = 0.0  # of trials that came with their cost
    known_tokens: tuple[int, int] = (0, 0)  # of those trials
    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))

    def __post_init__(self) -> None:
        zeros = bytes(8 * self.problems)
        self._scored, self._sums = array("q", zeros), array("d", zeros)

    def start_from(
        self,
        statuses: Mapping[str, int],
        tokens: tuple[int, int],
        cost: float = 0.0,
        unpriced: tuple[int, int] | None = None,
    ) -> None:
        """Add the counts of earlier processes; `unpriced` are the tokens of trials without a cost.

        Without it, all trials have one or none has.
        """
        for status, count in statuses.items():
            self.statuses[status] += count
            self.done += count
        self.prompt_tokens, self.completion_tokens = tokens
        if unpriced is None:
            unpriced = (0, 0) if cost else tokens
        self.known_cost = cost
        self.known_tokens = tokens[0] - unpriced[0], tokens[1] - unpriced[1]

    def start_scores(self, problem: int, scored: int, total: float) -> None:
        """Add the scores that a problem already has."""
        self._scored[problem] += scored
        self._sums[problem] += total

    def committed(self, rows: Sequence[TrialRow]) -> None:
        """Count rows that are on disk."""
        self.done += len(rows)
        self.fresh += len(rows)
        statuses, main, scored, sums = self.statuses, self.main, self._scored, self._sums
        for row in rows:
            statuses[row.status] += 1
            prompt, completion = row.prompt_tokens or 0, row.completion_tokens or 0
            self.prompt_tokens += prompt
            self.completion_tokens += completion
            self.reasoning_tokens += row.reasoning_tokens or 0
            self.cached_tokens += row.cached_tokens or 0
            if row.cost is not None:
                self._add_cost(row.cost, prompt, completion)
            for score in row.scores:
                if score[0] == main and (value := score[1]) is not None:
                    scored[row.problem] += 1
                    sums[row.problem] += value

    def cost(self, price: Price | None) -> float | None:
        """Return the cost of all trials; None if some of it needs a price."""
        prompt = self.prompt_tokens - self.known_tokens[0]
        completion = self.completion_tokens - self.known_tokens[1]
        if price is None:
            return self.known_cost if self.known_cost and not (prompt or completion) else None
        return total_cost([self.known_cost, price.of(prompt, completion)])

    def _add_cost(self, cost: float, prompt: int, completion: int) -> None:
        self.known_cost = total_cost([self.known_cost, cost])
        self.known_tokens = self.known_tokens[0] + prompt, self.known_tokens[1] + completion

    def scored(self, problem: int, score: ScoreRow) -> None:
        """Count a score, if it is the main scorer's."""
        if score.scorer == self.main and score.value is not None:
            self._scored[problem] += 1
            self._sums[problem] += score.value

    @property
    def has_scores(self) -> bool:
        """Whether any trial has a score by the main scorer."""
        return any(self._scored)

    def estimate(self) -> Estimate | None:
        """Return the mean score so far with its interval, for problems like these."""
        pairs = [(n, c) for n, c in zip(self._scored, self._sums, strict=True) if n]
        if len(pairs) < 2 or self.is_chosen:
            return None
        from passband.stats.data import Outcomes
        from passband.stats.interval import estimate

        counts, sums = zip(*pairs, strict=True)
        if all(total == int(total) and 0 <= total <= n for n, total in pairs):
            outcomes = Outcomes.from_counts([int(total) for total in sums], list(counts))
        else:  # graded scores: each problem's mean is one number
            outcomes = Outcomes.from_array([[total / n] for n, total in pairs])
        return estimate(outcomes, "avg")


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
        return self.subject.one_seed

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
