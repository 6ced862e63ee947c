"""A test run in memory: rebuilt from its row and its answers whenever it is needed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import numpy as np

from passband.adaptive.design import Design
from passband.adaptive.item import BankItem
from passband.adaptive.server.body import to_json
from passband.adaptive.server.catalogue import Split
from passband.adaptive.server.refusal import conflict
from passband.adaptive.server.state import AnswerRow, RunRow
from passband.adaptive.test import AdaptiveTest
from passband.stats.irt import AbilityPosterior, ItemEvidence, kl_information

_STATE = ("responses", "thetas", "std_error_history", "kl_info_history", "effective_difficulties")
_KL_WIDTH = 3.0  # information is about abilities within 3 / sqrt(n) of the estimate


class LiveRun:
    """A test run and its answers; a replay has the items of another run and asks nothing."""

    def __init__(self, row: RunRow, split: Split, answers: Sequence[AnswerRow] = ()) -> None:
        self.row, self.split = row, split
        self.answers: list[AnswerRow] = []
        self.item: BankItem | None = None  # that waits for an answer
        self.lock = asyncio.Lock()
        self.is_stale = False  # whether the disk may hold more than this
        self._told: dict[str, list[str]] = {name: [] for name in _STATE}  # as JSON
        self._path = _Fixed(split, answers) if row.replay_of else _Chosen(row, split)
        self._ask()
        for answer in answers:
            self.take(answer)

    @property
    def is_replay(self) -> bool:
        """Whether the items were those of another run."""
        return self.row.replay_of is not None

    def take(self, answer: AnswerRow) -> None:
        """Take the answer to the item that waits, and choose the next."""
        if self.item is None or answer.item != self.item.key:
            raise conflict(
                f"Run {self.row.id} was recorded with another bank or another version of passband, "
                "and cannot go on: its items would be others now."
            )
        theta, error = self._path.answer(answer)
        self.answers.append(answer)
        self._tell(responses=answer.item, thetas=theta, std_error_history=error)
        self._ask()

    def state(self) -> str:
        """Return the run so far as the protocol tells it, as JSON.

        Numbers are written once, not with every reply. The last two lists have an entry for the
        item that waits, too.
        """
        lists = (f'"{name}":[{",".join(texts)}]' for name, texts in self._told.items())
        return "{" + ",".join(lists) + "}"

    def _tell(self, **values: str | float) -> None:
        for name, value in values.items():
            self._told[name].append(to_json(value))

    def _ask(self) -> None:
        place = self._path.next()
        bank = self.split.bank
        self.item = None if place is None else bank.items[place]
        if place is not None:
            one = bank.parameters.take(np.array([place]))
            delta = _KL_WIDTH / np.sqrt(len(self.answers) + 1)
            self._tell(
                kl_info_history=float(kl_information(one, self._path.theta, delta)[0]),
                effective_difficulties=float(bank.parameters.b[place]),
            )


class _Chosen:
    """A path that the answers decide."""

    def __init__(self, row: RunRow, split: Split) -> None:
        design = Design.of(json.loads(row.design))
        self._test = AdaptiveTest(split.bank, design, row.seed, grid=split.grid)
        self._position = split.bank.position

    @property
    def theta(self) -> float:
        return self._test.theta

    def next(self) -> int | None:
        choices = self._test.next()
        return self._position[choices[0].key] if choices else None

    def answer(self, answer: AnswerRow) -> tuple[float, float]:
        self._test.answer(answer.item, answer.score)
        return self._test.theta, self._test.se


class _Fixed:
    """The path of a replay: the items in the order in which they were answered."""

    def __init__(self, split: Split, answers: Sequence[AnswerRow]) -> None:
        self._places = iter([split.bank.position[answer.item] for answer in answers])
        self._position = split.bank.position
        self._posterior = AbilityPosterior(split.grid)

    @property
    def theta(self) -> float:
        return self._posterior.theta

    def next(self) -> int | None:
        return next(self._places, None)

    def answer(self, answer: AnswerRow) -> tuple[float, float]:
        if answer.score is not None:
            self._posterior.add(ItemEvidence(self._position[answer.item], answer.score))
        return self._posterior.theta, self._posterior.se
