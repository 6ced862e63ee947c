"""Counts of a task's recorded trials, kept as rows are committed."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from passband.trials.costs import total_cost
from passband.trials.rows import STATUSES, ScoreRow, TrialRow

if TYPE_CHECKING:
    from passband.stats.interval.estimate import Estimate

__all__ = ["Counters", "Price", "fits"]

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
        from passband.stats.data.outcomes import Outcomes
        from passband.stats.interval.estimate import estimate

        counts, sums = zip(*pairs, strict=True)
        if all(total == int(total) and 0 <= total <= n for n, total in pairs):
            outcomes = Outcomes.from_counts([int(total) for total in sums], list(counts))
        else:  # graded scores: each problem's mean is one number
            outcomes = Outcomes.from_array([[total / n] for n, total in pairs])
        return estimate(outcomes, "avg")
