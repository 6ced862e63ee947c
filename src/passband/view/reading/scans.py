"""Scan whole runs in threads of their own: text search, the slowest and longest trials."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from passband.errors import PassbandError
from passband.summary import TrialBrowser, TrialQuery
from passband.trials import Column, Extreme, SearchHit, Trials
from passband.view.reading.run_index import RunFolder
from passband.view.reading.run_reader import open_to_read

MOST = 1_000  # of the slowest or longest trials that are kept
_STEP = 0.05  # seconds of searching between two looks at what was found
_SEARCHES = 2  # at a time


@dataclass(frozen=True)
class Hits:
    """New matches of a search, and the number of completions read for them."""

    found: tuple[SearchHit, ...]
    searched: int


@dataclass(frozen=True)
class Extremes:
    """The slowest or longest trials, as of a number of commits."""

    trials: tuple[Extreme, ...]
    commits: int


class Scans:
    """Searches, and lists of extremes that are made once and kept until the run grows."""

    def __init__(self) -> None:
        self._lists: dict[tuple[str, int, Column], Extremes] = {}
        self._making: dict[tuple[str, int, Column], asyncio.Task[None]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="view-scan")
        self._places = asyncio.Semaphore(_SEARCHES)

    # -- the slowest and the longest -------------------------------------------------------

    async def extremes(
        self, folder: RunFolder, run: int, column: Column, commits: int, patience: float = 0.1
    ) -> Extremes | None:
        """Return the largest ones; an earlier list, or None, if making it takes longer."""
        making = self.prepare(folder, run, column, commits)
        if making is not None:
            await asyncio.wait([making], timeout=patience)
        return self._lists.get((folder.name, run, column))

    def prepare(
        self, folder: RunFolder, run: int, column: Column, commits: int
    ) -> asyncio.Task[None] | None:
        """Start making a list unless it is under way or up to date."""
        key = folder.name, run, column
        known = self._lists.get(key)
        if known is not None and known.commits == commits:
            return None
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._made(folder, run, column))
        return self._making[key]

    async def _made(self, folder: RunFolder, run: int, column: Column) -> None:
        key, loop = (folder.name, run, column), asyncio.get_running_loop()
        try:
            with suppress(PassbandError, OSError):  # the page itself says what is wrong
                self._lists[key] = await loop.run_in_executor(
                    self._thread, _largest, folder, run, column
                )
        finally:
            del self._making[key]

    # -- search ----------------------------------------------------------------------------

    async def search(self, folder: RunFolder, run: int, text: str) -> AsyncGenerator[Hits, None]:
        """Yield matches step by step, until all is read or the client is gone."""
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="view-search")
        async with self._places:
            searcher = None
            try:
                searcher = await loop.run_in_executor(thread, _Searcher, folder, run, text)
                while (hits := await loop.run_in_executor(thread, searcher.step)) is not None:
                    yield hits
            finally:
                if searcher is not None:
                    searcher.trials.interrupt()
                    thread.submit(searcher.trials.close)
                thread.shutdown(wait=False)

    def close(self) -> None:
        """Cancel pending scans."""
        for task in list(self._making.values()):
            task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)


def _largest(folder: RunFolder, run: int, column: Column) -> Extremes:
    with open_to_read(folder.path) as trials:
        browser = TrialBrowser(trials, trials.run_numbered(run), TrialQuery())
        return Extremes(tuple(browser.extremes(column, MOST)), trials.commits)


class _Searcher:
    """A search in its own thread; between two steps it holds on to nothing."""

    def __init__(self, folder: RunFolder, run: int, text: str) -> None:
        self.trials: Trials = open_to_read(folder.path)
        browser = TrialBrowser(self.trials, self.trials.run_numbered(run), TrialQuery())
        self._search = browser.search(text)
        self.trials.release()
        self._last = 0

    def step(self) -> Hits | None:
        """Search for a moment; None where all has been read."""
        end, found, searched, more = time.monotonic() + _STEP, list[SearchHit](), 0, False
        self.trials.renew()
        try:
            while time.monotonic() < end:
                stretch = self._search.stretch(self._last)
                if stretch is None:
                    break
                more, self._last = True, stretch.last
                found += stretch.found
                searched += stretch.searched
        finally:
            self.trials.release()
        return Hits(tuple(found), searched) if more else None
