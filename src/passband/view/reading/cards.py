"""List runs with their state and first estimate, read again when they have changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from passband.errors import PassbandError
from passband.summary import RunNumbers
from passband.trials import CorruptStore
from passband.view.reading.run_figures import current_figures
from passband.view.reading.run_index import RunFolder, UnknownRun
from passband.view.reading.run_reader import RunReaders, RunSnapshot

_SHARE = 25  # reading runs that grow may take this part of the time: 1 in 25
_ALIVE = 2.0  # seconds after which a run that was going on is looked at in any case


@dataclass(frozen=True)
class Card:
    """A run in the list; one whose directory cannot be read has the reason instead of numbers."""

    folder: RunFolder
    number: int = 0
    task: str = ""
    model: str = ""
    numbers: RunNumbers | None = None
    problem: str | None = None
    is_damaged: bool = False


@dataclass(frozen=True)
class _KnownCards:
    signature: tuple[int, ...] | None
    cards: tuple[Card, ...]
    until: float  # no other look before
    alive: float  # another look after, whether it has changed or not


class Cards:
    """Reads the runs of directories one after another, with the readers of their pages."""

    def __init__(self, readers: RunReaders) -> None:
        self._readers = readers
        self._known: dict[str, _KnownCards] = {}
        self._turn = asyncio.Lock()

    async def of(self, folders: Sequence[RunFolder]) -> list[Card]:
        """Return the runs of these directories."""
        async with self._turn:  # whoever comes second finds what the first has read
            return [card for folder in folders for card in await self._cards(folder)]

    async def _cards(self, folder: RunFolder) -> tuple[Card, ...]:
        now, signature = time.monotonic(), folder.signature()
        known = self._known.get(folder.name)
        if known is not None and (
            now < known.until or (known.signature == signature and now < known.alive)
        ):
            return known.cards
        cards = () if signature is None else await self._read(folder)
        end = time.monotonic()
        is_going_on = any(c.numbers and c.numbers.standing.state == "running" for c in cards)
        alive = end + _ALIVE if is_going_on else float("inf")
        self._known[folder.name] = _KnownCards(signature, cards, end + _SHARE * (end - now), alive)
        return cards

    async def _read(self, folder: RunFolder) -> tuple[Card, ...]:
        try:
            return await self._readers.of(folder).ask(lambda reading: _cards_of(folder, reading))
        except UnknownRun:
            return ()
        except CorruptStore as error:
            return (Card(folder, problem=str(error), is_damaged=True),)
        except PassbandError as error:
            return (Card(folder, problem=str(error)),)


def _cards_of(folder: RunFolder, reading: RunSnapshot) -> tuple[Card, ...]:
    return tuple(
        Card(
            folder, run.number, run.task, run.label or run.model,
            current_figures(reading, run, thorough=False),
        )
        for run in reading.trials.runs()
    ) or (Card(folder, problem="no trials yet"),)  # fmt: skip
