"""Many test runs at a server at once, and kill -9 of the server: how long, and is all still there?

    python benchmarks/serve.py [--runs 200] [--items 40] [--think 0.5] [--seed 0]
    python benchmarks/serve.py --kills 100

The server is `passband serve` in a process of its own, on loopback, over a bank of 1,000 items. All
clients are in this process; with the server they share the cores, and a time is from sending an
answer until its reply is read. A client answers by the item and its seed alone, so that the path of
its run is known: every path is compared with that of an `AdaptiveTest` in this process, to the bit.

Clients first think for half a second on average before each answer, as fast models do; the target
is for these. Then they do not think at all: that is the most that the server can take, and waiting
is queueing. "server CPU" is what an answer costs whatever else the machine does.

With --kills, 20 clients answer without pause while the server is killed at random moments, a tenth
of them while it starts, and started again on the same directory. Then the record of each run is
compared with what the client was told:

    acknowledged  answers whose reply the client had read, summed over the kills
    lost          of them, how many are not in the record, or differ
    resent        answers without a reply, sent again with their item
    twice         items that were answered more than once
    identical     finished runs whose path is that of an AdaptiveTest

Rows have a target and a verdict, "ok" or "SHORT". With --kills the exit code is 1 if an answer is
lost; otherwise it is 0 whatever was measured.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from passband.adaptive.bank import Bank, read_bank
from passband.adaptive.design import Design
from passband.adaptive.server.listen import DESIGN
from passband.adaptive.test import AdaptiveTest, grid_of
from passband.system.event_loop import complete

BANK_ITEMS = 1000
CLIENTS = 20  # while the server is killed
TARGET = 0.050  # seconds: 99 of 100 replies
Json = dict[str, Any]


def write_bank(path: Path, seed: int) -> Bank:
    """Write a bank of items with four choices, and read it."""
    rng = np.random.default_rng(seed)
    choices = [{"id": letter, "text": f"option {letter}"} for letter in "ABCD"]
    lines: list[Json] = [{"passband_bank": 1, "name": "many", "model": "2pl"}]
    lines += [
        {
            "id": f"item-{number}",
            "split": "test",
            "question": f"Question {number}? " + "It has a few words. " * 10,
            "targets": ["B"],
            "choices": choices,
            "a": float(rng.lognormal(0, 0.3)),
            "b": float(rng.normal()),
        }
        for number in range(BANK_ITEMS)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_bank(path).of_split("test")


def choice_of(seed: int, item: str) -> str:
    """Return the answer of a client to an item: right more often than not."""
    byte = hashlib.sha256(f"{seed} {item}".encode()).digest()[0]
    return "B" if byte < 160 else "ACD"[byte % 3]


# -- the server ----------------------------------------------------------------------------


@asynccontextmanager
async def server(bank: Path, state: Path, design: Design) -> AsyncIterator[tuple[str, Any]]:
    """Start a server; yield its address, and the process."""
    process = await started(bank, state, design)
    try:
        yield await address_of(process), process
    finally:
        await ended(process)


async def ended(process: asyncio.subprocess.Process) -> None:
    """Kill a process that still runs, and wait for its end."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)  # `Process.kill` would take its exit code away
    await process.wait()


async def started(bank: Path, state: Path, design: Design) -> asyncio.subprocess.Process:
    options = {"state": state, "port": 0, "rate": 0, "se": design.se, "max-items": design.max_items}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "passband", "serve", str(bank), *words,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def address_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), 60)
    return line.decode().partition(" ")[0]


# -- one run -------------------------------------------------------------------------------


@dataclass
class Client:
    """A run as its client knows it."""

    seed: int
    run: str = ""
    item: str | None = None
    state: Json = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)

    async def ask(self, session: aiohttp.ClientSession, path: str, body: Json | None) -> Json:
        method = "GET" if body is None else "POST"
        async with session.request(method, "/adaptive-testing/runs/" + path, json=body) as reply:
            reply.raise_for_status()
            result: Json = await reply.json()
            return result

    async def start(self, session: aiohttp.ClientSession) -> None:
        body = {"datasetId": "many:adaptive", "split": "test", "seed": self.seed}
        self._read(await self.ask(session, "start", body))

    async def answer(self, session: aiohttp.ClientSession) -> None:
        """Answer the item that waits; what comes back is known as recorded."""
        assert self.item is not None
        body = {"itemChoiceId": choice_of(self.seed, self.item), "itemId": self.item}
        began = time.perf_counter()
        reply = await self.ask(session, f"{self.run}/continue", body)
        self.waits.append(time.perf_counter() - began)
        self._read(reply)

    def _read(self, reply: Json) -> None:
        self.run, self.state = reply["runInfo"]["id"], reply["state"]
        self.item = reply["nextItem"]["id"] if reply["nextItem"] else None

    def is_right(self, bank: Bank, design: Design, grid: Any) -> bool:
        """Return whether the path is that of an adaptive test with these answers."""
        test = AdaptiveTest(bank, design, str(self.seed), grid=grid)
        while choices := test.next():
            test.answer(choices[0].key, float(choice_of(self.seed, choices[0].key) == "B"))
        path = [(step.key, step.theta, step.se) for step in test.history]
        names = ("responses", "thetas", "std_error_history")
        return path == list(zip(*(self.state[name] for name in names), strict=True))


def session_to(address: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        address,
        headers={"x-api-key": "benchmark"},
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=120),
    )


# -- many at once --------------------------------------------------------------------------


async def run_all(address: str, clients: Sequence[Client], think: float, seed: int) -> float:
    """Take every run to its end; return the seconds from the first answer on."""

    async def one(client: Client) -> None:
        rng = random.Random(f"{seed} {client.seed}")
        while client.item is not None:
            await asyncio.sleep(rng.uniform(0, 2 * think))
            await client.answer(session)

    async with session_to(address) as session:
        for client in clients:
            await client.start(session)
        began = time.perf_counter()
        await asyncio.gather(*(one(client) for client in clients))
        return time.perf_counter() - began


def described(waits: Sequence[float], took: float, used: float, think: float) -> str:
    """Say how long answers took; only clients that think have a target."""
    p50, p99, longest = np.percentile(waits, [50, 99, 100]) * 1000
    verdict = "ok" if p99 < TARGET * 1000 else "SHORT"
    target = f" (target under {TARGET * 1000:.0f} ms: {verdict})" if think else ""
    return (
        f"{len(waits)} answers, {len(waits) / took:.0f} a second, server CPU "
        f"{used / len(waits) * 1e6:.0f} us each, p50 {p50:.1f} ms, p99 {p99:.1f} ms{target}, "
        f"longest {longest:.0f} ms"
    )


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, where the system tells; otherwise nan."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return float("nan")


async def measure(arguments: argparse.Namespace, folder: Path) -> None:
    design = replace(DESIGN, se=0.01, max_items=arguments.items)
    bank = write_bank(folder / "many.jsonl", arguments.seed)
    grid = grid_of(bank, design)
    async with server(folder / "many.jsonl", folder / "state", design) as (address, process):
        for think in (arguments.think, 0.0):
            first = 0 if think else arguments.runs
            clients = [Client(first + number) for number in range(arguments.runs)]
            load, used = os.getloadavg()[0], cpu_seconds(process.pid)
            took = await run_all(address, clients, think, arguments.seed)
            used = cpu_seconds(process.pid) - used
            right = sum(client.is_right(bank, design, grid) for client in clients)
            print(
                f"{arguments.runs} runs, thinking {think:g} s: "
                + described(
                    [wait for client in clients for wait in client.waits], took, used, think
                )
                + f"; {right} of {arguments.runs} paths right "
                f"({'ok' if right == arguments.runs else 'SHORT'}); load before {load:.1f}",
                flush=True,
            )


# -- kills ---------------------------------------------------------------------------------


@dataclass
class Count:
    """What was found after the kills."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    resent: int = 0
    twice: int = 0
    finished: int = 0
    identical: int = 0


class Killing:
    """Clients that answer without pause, at a server that is killed again and again."""

    def __init__(self, folder: Path, seed: int, items: int) -> None:
        self.design = replace(DESIGN, se=0.01, max_items=items)
        self.bank = write_bank(folder / "many.jsonl", seed)
        self.grid = grid_of(self.bank, self.design)
        self.folder, self.rng = folder, random.Random(seed)
        self.count = Count()
        self.clients: list[Client] = []
        self._seed = 0

    async def run(self, kills: int) -> Count:
        while self.count.kills < kills:
            process = await started(self.folder / "many.jsonl", self.folder / "state", self.design)
            try:
                await self._bother(process)
            finally:
                await ended(process)
            self.count.kills += 1
        async with (
            server(self.folder / "many.jsonl", self.folder / "state", self.design) as (address, _),
            session_to(address) as session,
        ):
            for client in self.clients:
                await self._check(client, session)
                while client.item is not None:
                    await client.answer(session)
                self._finish(client)
        return self.count

    async def _bother(self, process: asyncio.subprocess.Process) -> None:
        """Let the clients answer until the moment comes to kill the server."""
        if self.rng.random() < 0.1:
            await asyncio.sleep(self.rng.uniform(0, 1.0))
            return  # it may not even listen yet
        async with session_to(await address_of(process)) as session:
            for client in self.clients:
                await self._check(client, session)
            working = [asyncio.ensure_future(self._work(session)) for _ in range(CLIENTS)]
            await asyncio.sleep(self.rng.uniform(0.0, 0.6))
            await ended(process)
            await asyncio.gather(*working)

    async def _work(self, session: aiohttp.ClientSession) -> None:
        """Take runs to their end, one after another, until the server is gone."""
        try:
            while True:
                client = self._next_client()
                try:
                    if not client.run:
                        await client.start(session)
                    while client.item is not None:
                        await client.answer(session)
                    self._finish(client)
                    client = Client(-1)
                finally:
                    if client.run and client.item is not None:
                        self.clients.append(client)
        except (aiohttp.ClientError, ConnectionError):
            return

    def _next_client(self) -> Client:
        if self.clients:
            return self.clients.pop(0)
        self._seed += 1
        return Client(self._seed)

    async def _check(self, client: Client, session: aiohttp.ClientSession) -> None:
        """Compare the record of a run with what its client was told; send the open answer again."""
        record = await client.ask(session, f"adaptive/{client.run}", None)
        told, kept = client.state["responses"], record["state"]["responses"]
        values = [response["value"] for response in record["responses"]]
        right = [choice_of(client.seed, item) for item in kept]
        self.count.acknowledged += len(told)
        same = sum(a == b and v == r for a, b, v, r in zip(told, kept, values, right))  # noqa: B905
        self.count.lost += len(told) - same
        self.count.twice += len(kept) - len(set(kept)) + max(0, len(kept) - len(told) - 1)
        self.count.resent += 1
        await client.answer(session)

    def _finish(self, client: Client) -> None:
        self.count.finished += 1
        self.count.identical += client.is_right(self.bank, self.design, self.grid)


async def kill(arguments: argparse.Namespace, folder: Path) -> int:
    began = time.perf_counter()
    count = await Killing(folder, arguments.seed, arguments.items).run(arguments.kills)
    clean = not (count.lost or count.twice) and count.identical == count.finished
    print(
        f"{count.kills} kills in {time.perf_counter() - began:.0f} s: {count.acknowledged} answers "
        f"acknowledged, {count.lost} lost (target 0: {'ok' if not count.lost else 'SHORT'}), "
        f"{count.resent} resent, {count.twice} twice, {count.identical} of {count.finished} runs "
        f"identical ({'ok' if clean else 'SHORT'}); load {os.getloadavg()[0]:.1f}"
    )
    return 0 if clean else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--items", type=int, default=40)
    parser.add_argument("--think", type=float, default=0.5)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.kills:
            return complete(kill(arguments, Path(folder)))
        complete(measure(arguments, Path(folder)))
        return 0


if __name__ == "__main__":
    sys.exit(main())
