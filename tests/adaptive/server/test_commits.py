"""Group commit: what arrives together is committed together, and a bad change fails alone."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passband.adaptive.server.state import Change, Commits
from passband.system.event_loop import complete


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "x.sqlite"
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY)")
    yield connection
    connection.close()


def adding(number: int) -> Change:
    return lambda connection: connection.execute("INSERT INTO t VALUES(?)", (number,)) and None  # type: ignore[return-value]


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT a FROM t ORDER BY a")]


def test_changes_that_arrive_together_are_one_transaction(connection: sqlite3.Connection) -> None:
    said: list[str] = []
    connection.set_trace_callback(said.append)

    async def main() -> None:
        commits = Commits(connection, lambda: None)
        await asyncio.gather(*(commits.make(adding(number)) for number in range(50)))
        await commits.close()

    complete(main())
    assert numbers(connection) == list(range(50))
    assert said.count("COMMIT") == 1


def test_a_change_that_fails_is_alone_in_that(connection: sqlite3.Connection) -> None:
    async def main() -> list[Any]:
        commits = Commits(connection, lambda: None)
        made = (commits.make(adding(number)) for number in (1, 2, 2, 3))
        results = await asyncio.gather(*made, return_exceptions=True)
        await commits.make(adding(4))
        await commits.close()
        return results

    results = complete(main())
    assert [type(result) for result in results] == [
        type(None), type(None), sqlite3.IntegrityError, type(None),
    ]  # fmt: skip
    assert numbers(connection) == [1, 2, 3, 4]


def test_nothing_is_written_when_there_is_no_room(connection: sqlite3.Connection) -> None:
    def refuse() -> None:
        raise OSError("full")

    async def main() -> list[Any]:
        commits = Commits(connection, refuse)
        made = (commits.make(adding(number)) for number in (1, 2))
        results = await asyncio.gather(*made, return_exceptions=True)
        await commits.close()
        return results

    assert [str(result) for result in complete(main())] == ["full", "full"]
    assert numbers(connection) == []


def test_a_change_whose_author_has_left_is_made(connection: sqlite3.Connection) -> None:
    async def main() -> None:
        commits = Commits(connection, lambda: None)
        leaving = asyncio.ensure_future(commits.make(adding(1)))
        await asyncio.sleep(0)
        leaving.cancel()
        await commits.make(adding(2))
        await commits.close()

    complete(main())
    assert numbers(connection) == [1, 2]
