"""An adaptive test: which item next, what the answers say about ability, and when to stop.

It is pure: no clock, no file, no global randomness. The same bank, design, seed and answers give
the same path, so a test is resumed by replaying its answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from passband.adaptive.bank import Bank
from passband.adaptive.design import Design
from passband.adaptive.selection import Pick, Selector, item_information, most_items
from passband.errors import InvalidInput, UnknownName, nearest
from passband.stats.irt import (
    Ability,
    AbilityPosterior,
    BankAccuracy,
    Grid,
    ItemEvidence,
    ability_of,
    bank_accuracy,
    check_evidence,
    stratum_accuracy,
)


class Choice(NamedTuple):
    """An item that is to be asked, and why."""

    key: str
    reason: str
    is_random: bool = False  # whether it is in the random stratum
    probability: float | None = None  # with which it came to be in the random stratum


class Step(NamedTuple):
    """An item of the path, and the ability estimate after its answer."""

    key: str
    reason: str
    score: float | None  # mean of its trials; None: no trial has a score
    trials: int
    theta: float
    se: float
    information: float  # of the item, per trial, at the ability before its batch
    difficulty: float
    is_random: bool = False
    probability: float | None = None


Scores = float | Sequence[float] | None


class _Answer(NamedTuple):
    score: float | None
    trials: int
    evidence: tuple[ItemEvidence, ...]


class AdaptiveTest:
    """The state of one test of one respondent.

    Items are chosen `design.batch` at a time, and the next batch only when the last is complete,
    so the path does not depend on the order in which answers arrive.
    """

    def __init__(
        self, bank: Bank, design: Design | None = None, seed: str = "", *, grid: Grid | None = None
    ) -> None:
        """Begin a test of one split of a bank; `grid` is one that was made for it before."""
        self.bank, self.design, self.seed = bank, design or Design(), seed
        self._check()
        self.grid = grid if grid is not None else grid_of(bank, self.design)
        self.posterior = AbilityPosterior(self.grid)
        self._selector = Selector(bank, self.design, seed, self.grid)
        self._most = most_items(self.design, len(bank.items))
        self._taken = np.zeros(len(bank.items), dtype=bool)
        self._asked: list[int] = []
        self._waiting: dict[int, tuple[Choice, float]] = {}  # with the item's information
        self._answers: dict[int, _Answer] = {}  # of the unfinished batch
        self._scored = 0  # items with a score
        self.history: list[Step] = []
        self.stop: str | None = None

    def _check(self) -> None:
        if len(self.bank.splits) > 1:
            raise InvalidInput(
                f"a test is of one split; {self.bank.name!r} has {', '.join(self.bank.splits)}. "
                "Choose one with of_split."
            )
        budget = self.design.max_trials
        if budget is not None and budget < self.design.trials:
            raise InvalidInput(
                f"a budget of {budget} trials does not pay for one item of {self.design.trials}."
            )

    # -- the two things that happen ----------------------------------------------------------

    def next(self) -> list[Choice]:
        """Choose the next batch; nothing while answers are missing, or once the test is over."""
        if self.stop is not None or self._waiting:
            return []
        for _ in range(min(self.design.batch, self._most - len(self._asked))):
            pick = self._pick()
            if pick is None:
                break
            self._take(pick)
        if not self._waiting:
            self.stop = "bank is exhausted"
        return self.outstanding

    def answer(self, key: str, score: Scores, trials: int = 1) -> None:
        """Take the scores of an item, one a trial, or the mean of `trials`; None if there is none.

        An item without a score counts as asked, and says nothing about ability.
        """
        position = self._waiting_position(key)
        self._answers[position] = self._read(position, score, trials)
        if len(self._answers) == len(self._waiting):
            self._finish_batch()

    def take(self, key: str, reason: str) -> None:
        """Take an item that was asked for a reason of its own, as the next to be answered."""
        position = self.bank.position[key]
        if self._taken[position]:
            raise InvalidInput(f"item {key!r} was asked already.")
        self._take(Pick(position, reason))

    # -- what is known -----------------------------------------------------------------------

    @property
    def outstanding(self) -> list[Choice]:
        """The items of the present batch that have no answer yet."""
        return [c for place, (c, _) in self._waiting.items() if place not in self._answers]

    @property
    def answered(self) -> set[str]:
        """Return the keys of the answered items, including an unfinished batch."""
        places = (self.bank.items[place].key for place in self._answers)
        return {*(step.key for step in self.history), *places}

    @property
    def theta(self) -> float:
        """Ability as it is estimated on the way: the mean of the posterior."""
        return self.posterior.theta

    @property
    def se(self) -> float:
        """The standard deviation of the posterior, which `Design.se` is compared with."""
        return self.posterior.se

    @property
    def n_items(self) -> int:
        """The number of items that were asked and answered."""
        return len(self.history)

    def ability(self) -> Ability:
        """Estimate ability from the answers of all complete batches, by the design's method."""
        return ability_of(self.posterior, method=self.design.method, level=self.design.level)

    def accuracy(self) -> BankAccuracy:
        """Return the expected accuracy on all items of the bank, through the model."""
        return bank_accuracy(self.posterior, level=self.design.level)

    def random_accuracy(self) -> BankAccuracy | None:
        """Return the expected accuracy on the bank from random items alone, whatever the model.

        All items are a random sample too. None without two scored items of a sample, or before all
        of it was asked.
        """
        drawn = [step for step in self.random_steps if step.score is not None]
        if len(drawn) < 2:
            return None
        return stratum_accuracy(
            [step.score or 0.0 for step in drawn],
            [step.probability or 1.0 for step in drawn],
            len(self.bank.items),
            trials=min(step.trials for step in drawn),
            level=self.design.level,
        )

    @property
    def random_steps(self) -> list[Step]:
        """The steps of a random sample of the bank, once all of it was asked."""
        if len(self.history) == len(self.bank.items):
            return [step._replace(probability=1.0) for step in self.history]
        return [step for step in self.history if step.is_random] if self._is_sampled() else []

    # -- choosing ----------------------------------------------------------------------------

    def _pick(self) -> Pick | None:
        left = [place for place in self._selector.stratum if not self._taken[place]]
        if left and (self._is_due(len(left)) or self._is_enough()):
            return self._of_stratum(left)
        if self._is_enough():
            return None
        pick = self._selector.pick(self.theta, self._taken, self._asked)
        return self._of_stratum(left) if pick is None and left else pick

    def _is_due(self, left: int) -> bool:
        """Return whether the random stratum lags its share, or just fits into the items left."""
        stratum = len(self._selector.stratum)
        expected = stratum * (len(self._asked) + 1) // self._most
        return stratum - left < expected or left >= self._most - len(self._asked)

    def _of_stratum(self, left: list[int]) -> Pick:
        stratum = len(self._selector.stratum)
        return Pick(left[0], f"random sample for accuracy, {stratum - len(left) + 1} of {stratum}")

    def _take(self, pick: Pick) -> None:
        place, reason = pick
        is_random = self._selector.is_random(place)
        if is_random and not reason.startswith("random sample"):
            reason += "; also in the random sample"
        probability = len(self._selector.stratum) / len(self.bank.items) if is_random else None
        choice = Choice(self.bank.items[place].key, reason, is_random, probability)
        worth = item_information(self.bank.parameters, place, self.theta)
        self._taken[place] = True
        self._asked.append(place)
        self._waiting[place] = choice, worth

    # -- answers -----------------------------------------------------------------------------

    def _waiting_position(self, key: str) -> int:
        position = self.bank.position.get(key)
        if position is None:
            raise UnknownName(
                f"bank {self.bank.name!r} has no item {key!r}.{nearest(key, self.bank.position)}"
            )
        if position not in self._waiting or position in self._answers:
            waiting = ", ".join(repr(choice.key) for choice in self.outstanding) or "none"
            raise InvalidInput(f"item {key!r} is not waiting for an answer; waiting: {waiting}.")
        return position

    def _read(self, position: int, score: Scores, trials: int) -> _Answer:
        """Return scores as evidence; raise if the items' model has no such score."""
        if score is None:
            return _Answer(None, trials, ())
        scores = [score] if isinstance(score, int | float) else list(score)
        if not scores:
            return _Answer(None, trials, ())
        number = trials if isinstance(score, int | float) else len(scores)
        mean = math.fsum(scores) / len(scores)
        if self.bank.parameters.steps is None:  # the mean of 0/1 scores says all that they do
            scores, each = [mean], number
        else:
            each = number // len(scores)
        evidence = tuple(ItemEvidence(position, float(one), each) for one in scores)
        for one in evidence:
            check_evidence(self.bank.parameters, one)
        return _Answer(mean, number, evidence)

    def _finish_batch(self) -> None:
        """Update ability with the answers of a batch, in the order of its choices."""
        for place, (choice, worth) in self._waiting.items():
            score, trials, evidence = self._answers[place]
            if evidence:
                self._scored += 1
                self.posterior.extend(evidence)
            difficulty = float(self.bank.parameters.b[place])
            step = Step(
                choice.key, choice.reason, score, trials, self.theta, self.se, worth, difficulty,
                choice.is_random, choice.probability,
            )  # fmt: skip
            self.history.append(step)
        self._waiting, self._answers = {}, {}
        self.stop = self._stop_reason()

    def _stop_reason(self) -> str | None:
        if self._is_sampled() and (rule := self._reached()) is not None:
            return rule
        if self.design.max_items is not None and len(self._asked) >= self.design.max_items:
            return "max_items"
        if len(self._asked) == len(self.bank.items):
            return "bank is exhausted"
        return "budget" if len(self._asked) >= self._most else None

    def _is_sampled(self) -> bool:
        """Return whether all of the random stratum was asked."""
        return all(self._taken[place] for place in self._selector.stratum)

    def _is_enough(self) -> bool:
        return self._reached() is not None

    def _reached(self) -> str | None:
        """Return the rule by which ability is known well enough, if one is fulfilled."""
        if self._scored < self.design.min_items:
            return None
        if self.design.se is not None and self.se <= self.design.se:
            return "se"
        if self.design.stability is not None:
            window, tolerance = self.design.stability
            thetas = [step.theta for step in self.history[-window - 1 :]]
            if len(thetas) > window and max(thetas) - min(thetas) <= tolerance:
                return "stability"
        return None


def grid_of(bank: Bank, design: Design) -> Grid:
    """Return the tables that every test of a bank and design can share."""
    return Grid.of(
        bank.parameters, prior_mean=design.prior_mean, prior_sd=design.prior_sd, rho=bank.rho
    )


def replayed(
    bank: Bank, design: Design, seed: str, answers: Mapping[str, tuple[Scores, int]]
) -> AdaptiveTest:
    """Return a test as it is after answers, given by key; answers beyond its path are not used."""
    test = AdaptiveTest(bank, design, seed)
    while choices := test.next():
        known = [choice for choice in choices if choice.key in answers]
        for choice in known:
            test.answer(choice.key, *answers[choice.key])
        if len(known) < len(choices):
            break
    return test
