"""Connections are opened when they are needed, and closed when they are not."""

import asyncio
import threading
from pathlib import Path

from passband.system.event_loop import complete
from passband.view.reading.run_index import RunFolder
from passband.view.reading.run_reader import RunReaders, RunSnapshot
from passband.view.reading.scans import Scans
from support.samples.stores import filled


def folder(path: Path, name: str) -> RunFolder:
    return RunFolder(name, name, filled(path / name, [[1, 0, 1], [0, 1, 1]]))


def test_a_desk_that_nobody_uses_is_closed(tmp_path: Path) -> None:
    first, second = folder(tmp_path, "first"), folder(tmp_path, "second")

    async def ask() -> list[str]:
        readers = RunReaders(idle=0.0)
        threads = []
        for one in (first, second, first):
            assert await readers.of(one).ask(lambda reading: reading.trials.trial_count(1)) == 6
            threads.append(await readers.of(one).ask(lambda _: threading.current_thread().name))
        readers.close()
        return threads

    before = threading.active_count()
    assert len(complete(ask())) == 3
    for thread in threading.enumerate():
        if thread.name.startswith("view-"):
            thread.join(30)
    assert threading.active_count() <= before


def test_of_too_many_desks_the_one_used_longest_ago_is_closed(tmp_path: Path) -> None:
    folders = [folder(tmp_path, name) for name in "abc"]

    async def ask() -> set[str]:
        readers = RunReaders(most=2)
        for at in (0, 1, 0, 2):
            assert await readers.of(folders[at]).ask(lambda reading: reading.trials.trial_count(1))
        left = set(readers._readers)
        readers.close()
        return left

    assert complete(ask()) == {"a", "c"}


def test_what_is_kept_is_computed_once(tmp_path: Path) -> None:
    one = folder(tmp_path, "one")
    made: list[int] = []

    async def ask() -> None:
        readers = RunReaders()

        def question(reading: RunSnapshot) -> int:
            return reading.keep("key", lambda: made.append(1) or len(made))

        assert [await readers.of(one).ask(question) for _ in range(3)] == [1, 1, 1]
        readers.close()

    complete(ask())
    assert made == [1]


def test_a_search_ends_when_nobody_listens(tmp_path: Path) -> None:
    one = folder(tmp_path, "one")

    async def leave() -> None:
        scans = Scans()
        hits = scans.search(one, 1, "answer")
        first = await anext(hits)
        assert (len(first.found), first.searched) == (6, 6)
        await hits.aclose()
        assert not scans._places.locked()
        scans.close()
        await asyncio.sleep(0)

    complete(leave())
    for thread in threading.enumerate():
        if thread.name.startswith("view-search"):
            thread.join(30)
            assert not thread.is_alive()
