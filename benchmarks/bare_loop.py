"""The floor: what asking costs when nothing else is done.

    python benchmarks/bare_loop.py URL [--requests 3200] [--concurrency 64] [--n 16] [--repeat 5]
    python benchmarks/bare_loop.py URL --raw

A bare aiohttp loop sends requests to the chat API at URL (http://127.0.0.1:PORT/v1), parses each
reply and keeps nothing. No run can be faster on the same machine and client library, so the
overhead of a run is the difference to this. It prints JSON: ``rate`` is completions per second of
wall time, ``cpu_ms_per_generation`` the CPU time of this process alone for one completion,
``wall_s`` the time from the first connection to the last reply. With n choices to a request there
are n times as many completions as requests. ``--repeat`` keeps the fastest of several.

``--raw`` replaces aiohttp by sockets that send ready bytes and look for nothing but the length of
the reply. That is the ceiling of the server, and must be well above what is measured with it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

PROBLEMS = 200

Body = dict[str, Any]
Client = Callable[[str, Iterator[Body], int], Awaitable[int]]


@dataclass(frozen=True)
class Floor:
    """How fast completions came, and what each of them cost this process."""

    rate: float
    cpu_ms_per_generation: float
    wall_s: float


def bodies(requests: int, n: int = 1) -> Iterator[Body]:
    """Requests that go round 200 problems, with another seed in every round."""
    for number in range(requests):
        seed, problem = divmod(number, PROBLEMS)
        question = f"What is {100 + 37 * problem} + {991 - 3 * problem}?"
        message = {"role": "user", "content": question}
        body: Body = {"model": "loopback", "messages": [message], "seed": seed}
        yield body | {"n": n} if n > 1 else body


async def with_aiohttp(url: str, asked: Iterator[Body], concurrency: int) -> int:
    """Send every request and parse every reply; return how many completions came."""
    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def work() -> int:
            came = 0
            for body in asked:
                async with session.post(f"{url}/chat/completions", json=body) as reply:
                    reply.raise_for_status()
                    came += len(json.loads(await reply.read())["choices"])
            return came

        return sum(await asyncio.gather(*(work() for _ in range(concurrency))))


async def with_sockets(url: str, asked: Iterator[Body], concurrency: int) -> int:
    """Do the same with as little as possible; one completion to a reply is taken for granted."""
    place = urlsplit(url)
    host, port = place.hostname or "", place.port or 80
    top = f"POST {place.path}/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: "
    encoded = (json.dumps(body).encode() for body in asked)
    ready = [b"%b%d\r\n\r\n%b" % (top.encode(), len(body), body) for body in encoded]
    await asyncio.gather(
        *(raw_client(host, port, ready[i::concurrency]) for i in range(concurrency))
    )
    return len(ready)


async def raw_client(host: str, port: int, ready: list[bytes]) -> None:
    """Send requests over one connection, each when the reply to the one before has come."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    transport, _ = await loop.create_connection(lambda: RawClient(ready, done), host, port)
    await done
    transport.close()


class RawClient(asyncio.Protocol):
    """One connection, which counts bytes."""

    def __init__(self, ready: list[bytes], done: asyncio.Future[None]) -> None:
        self.left = iter(ready)
        self.done = done
        self.unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.send()

    def send(self) -> None:
        """Send the next request, or end."""
        request = next(self.left, None)
        if request is not None:
            self.transport.write(request)
        elif not self.done.done():
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        self.unread += data
        end = self.unread.find(b"\r\n\r\n")
        if end < 0:
            return
        start = self.unread.index(b"Content-Length: ") + 16
        if len(self.unread) >= end + 4 + int(self.unread[start : self.unread.index(b"\r", start)]):
            self.unread = b""
            self.send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server hung up"))


def measure(
    url: str,
    *,
    requests: int = 3200,
    concurrency: int = 64,
    n: int = 1,
    client: Client = with_aiohttp,
) -> Floor:
    """Time one pass; raise where the server gave fewer completions than were asked for."""

    async def timed() -> Floor:
        wall, cpu = time.perf_counter(), time.process_time()
        came = await client(url, bodies(requests, n), concurrency)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if came != requests * n:
            raise RuntimeError(f"{came} completions came where {requests * n} were asked for")
        return Floor(round(came / wall, 1), round(1000 * cpu / came, 4), round(wall, 3))

    return asyncio.run(timed())


def best(url: str, repeat: int, **options: Any) -> Floor:
    """The fastest of several passes; the least CPU time may come from another one of them."""
    passes = [measure(url, **options) for _ in range(repeat)]
    fastest = max(passes, key=lambda one: one.rate)
    least = min(one.cpu_ms_per_generation for one in passes)
    return Floor(fastest.rate, least, fastest.wall_s)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description="Time a bare loop of requests.")
    parser.add_argument("url", help="such as http://127.0.0.1:8000/v1")
    parser.add_argument("--requests", type=int, default=3200)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--n", type=int, default=1, help="choices asked for in each request")
    parser.add_argument("--repeat", type=int, default=1, help="passes, of which the best is kept")
    parser.add_argument("--raw", action="store_true", help="without aiohttp; not with --n")
    options = vars(parser.parse_args())
    if options.pop("raw"):
        options["client"] = with_sockets
    print(json.dumps(asdict(best(**options))))


if __name__ == "__main__":
    main()
