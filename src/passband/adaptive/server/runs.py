"""The test runs of a server: a few in memory, all on disk."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from weakref import WeakValueDictionary

from passband.adaptive.server.catalogue import Catalogue
from passband.adaptive.server.live import LiveRun
from passband.adaptive.server.refusal import conflict, unknown
from passband.adaptive.server.state import AnswerRow, RunRow, State


class Runs:
    """Runs by id; those used last stay in memory, others are rebuilt from their answers.

    There is never more than one `LiveRun` of a run, so that its lock keeps requests apart.
    """

    def __init__(self, state: State, catalogue: Catalogue, most: int) -> None:
        self._state, self._catalogue, self._most = state, catalogue, most
        self._recent: OrderedDict[str, LiveRun] = OrderedDict()
        self._alive: WeakValueDictionary[str, LiveRun] = WeakValueDictionary()
        self._loading: dict[str, asyncio.Task[LiveRun]] = {}

    async def get(self, id: str) -> LiveRun:
        """Return a run; refuse an id that is none, and a run whose bank is not here any more."""
        run = self._alive.get(id)
        if run is None or run.is_stale:
            run = await self._loaded(id)
        self._keep(run)
        return run

    def add(self, run: LiveRun) -> None:
        """Keep a run that has been recorded just now."""
        self._alive[run.row.id] = run
        self._keep(run)

    def forget(self, run: LiveRun) -> None:
        """Let a run be rebuilt from the disk when it is used next."""
        run.is_stale = True
        self._recent.pop(run.row.id, None)

    async def _loaded(self, id: str) -> LiveRun:
        task = self._loading.get(id)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._load(id))
            self._loading[id] = task
            task.add_done_callback(lambda _: self._loading.pop(id, None))
        return await asyncio.shield(task)

    async def _load(self, id: str) -> LiveRun:
        row = self._state.run(id)
        if row is None:
            raise unknown(f"There is no run {id!r:.100}.")
        answers = self._state.answers(id)
        # In a thread, since a long run takes a while; the answers of others need not wait for it.
        run = await asyncio.to_thread(self._rebuilt, row, answers)
        self._alive[id] = run
        return run

    def _rebuilt(self, row: RunRow, answers: list[AnswerRow]) -> LiveRun:
        dataset = self._catalogue.find(row.dataset)
        if dataset is None or dataset.bank.hash != row.bank:
            why = "is not served any more" if dataset is None else "has changed since"
            raise conflict(
                f"Run {row.id} is of bank {row.dataset!r}, which {why}; serve the bank as it was "
                "to go on."
            )
        return LiveRun(row, dataset.split(row.split), answers)

    def _keep(self, run: LiveRun) -> None:
        self._recent[run.row.id] = run
        self._recent.move_to_end(run.row.id)
        while len(self._recent) > self._most:
            self._recent.popitem(last=False)
