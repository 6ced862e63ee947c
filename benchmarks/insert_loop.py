"""The second floor: a loop that asks, extracts the answers, and keeps them in one table.

    python benchmarks/insert_loop.py URL [--requests 3200] [--concurrency 64] [--n 16] [--repeat 5]

This is the least that has to be done for answers which survive a power cut: the requests of
bare_loop.py, the extraction rules of a run, and one SQLite table of problem, trial, completion,
answer, rule, score and tokens with synchronous=FULL. What has come is committed every 50 ms, as a
run does it, or with `--each-reply` when a reply has come, as a short script does it; both with one
executemany. There is no checksum, no count, no retry, and nothing can be resumed. It prints JSON,
as bare_loop.py does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import bare_loop

from passband.score.extract.answer import extract

EVERY = 0.05  # seconds between commits
TABLE = (
    "CREATE TABLE completion(problem INT, trial INT, text TEXT, answer TEXT, rule TEXT, "
    "score REAL, prompt_tokens INT, completion_tokens INT, PRIMARY KEY(problem, trial))"
)

Row = tuple[int, int, str, str | None, str | None, float, int, int]


class Table:
    """Rows that have come, and those that are committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._waiting: list[Row] = []
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(TABLE)

    def add(self, problem: int, turn: int, reply: dict[str, Any]) -> None:
        """Extract and score the answers of a reply, and keep them."""
        target, choices = str(1091 + 34 * problem), reply["choices"]
        tokens = reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"]
        for trial, choice in enumerate(choices, turn * len(choices)):
            text = choice["message"]["content"]
            answer, rule = extract(text)
            self._waiting.append(
                (problem, trial, text, answer, rule, float(answer == target), *tokens)
            )

    def commit(self) -> None:
        """Write what has come."""
        rows, self._waiting = self._waiting, []
        with self._connection:
            self._connection.executemany("INSERT INTO completion VALUES (?,?,?,?,?,?,?,?)", rows)

    async def commit_again_and_again(self) -> None:
        """Write what has come, every twentieth of a second."""
        while True:
            await asyncio.sleep(EVERY)
            self.commit()


async def with_table(
    url: str, asked: Iterator[bare_loop.Body], concurrency: int, *, each_reply: bool = False
) -> int:
    """Send every request and keep every completion; return how many are in the table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(Path(folder) / "completions.sqlite")) as connection,
    ):
        table = Table(connection)
        committing = None
        if not each_reply:
            committing = asyncio.ensure_future(table.commit_again_and_again())
        await ask(url, asked, concurrency, table, each_reply)
        if committing is not None:
            committing.cancel()
        table.commit()
        return int(connection.execute("SELECT count(*) FROM completion").fetchone()[0])


async def ask(
    url: str, asked: Iterator[bare_loop.Body], concurrency: int, table: Table, each_reply: bool
) -> None:
    """Send every request, and give every reply to the table."""
    numbered = enumerate(asked)
    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def work() -> None:
            for number, body in numbered:
                async with session.post(f"{url}/chat/completions", json=body) as reply:
                    reply.raise_for_status()
                    said = json.loads(await reply.read())
                turn, problem = divmod(number, bare_loop.PROBLEMS)
                table.add(problem, turn, said)
                if each_reply:
                    table.commit()

        await asyncio.gather(*(work() for _ in range(concurrency)))


def measure(url: str, *, each_reply: bool = False, **options: Any) -> bare_loop.Floor:
    """Time one pass."""
    client = partial(with_table, each_reply=each_reply)
    return bare_loop.measure(url, client=client, **options)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description="Time a loop that keeps completions in a table.")
    parser.add_argument("url", help="such as http://127.0.0.1:8000/v1")
    parser.add_argument("--requests", type=int, default=3200)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--n", type=int, default=1, help="choices asked for in each request")
    parser.add_argument("--repeat", type=int, default=1, help="passes, of which the best is kept")
    parser.add_argument("--each-reply", action="store_true", help="commit when a reply has come")
    options = vars(parser.parse_args())
    client = partial(with_table, each_reply=options.pop("each_reply"))
    print(json.dumps(asdict(bare_loop.best(client=client, **options))))


if __name__ == "__main__":
    main()
