"""Banks to serve, and a server in this process that answers requests without a socket of HTTP."""

from __future__ import annotations

import itertools
import json
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp.test_utils import TestClient, TestServer

from passband.adaptive.bank import Bank, read_bank
from passband.adaptive.design import Design
from passband.adaptive.server.app import make_app
from passband.adaptive.server.catalogue import Catalogue
from passband.adaptive.server.keys import Keys
from passband.adaptive.server.service import Service
from passband.adaptive.server.state import ServerState
from support.runs.commands import process

DESIGN = Design(selection="randomesque", se=0.4, max_items=12)
KEY = {"x-api-key": "anything"}


def write_bank_file(
    path: Path,
    *,
    items: int = 40,
    open_ended: bool = False,
    splits: tuple[str, ...] = ("validation", "test"),
    scorer: Mapping[str, Any] | None = None,
) -> Path:
    """Write a bank of sums, of so many items in each split; the choice "B" is right."""
    rng = np.random.default_rng(5)
    header = {"passband_bank": 1, "name": path.stem, "model": "2pl"}
    lines: list[Mapping[str, Any]] = [header | ({"scorer": scorer} if scorer else {})]
    for split in splits:
        for number in range(items):
            item = {
                "id": f"{split}-{number}",
                "split": split,
                "question": f"What is {number} + 17?",
                "targets": [str(number + 17)],
                "a": float(rng.lognormal(0, 0.3)),
                "b": float(rng.normal()),
            }
            if not open_ended:
                texts = zip("ABC", range(number + 16, number + 19), strict=True)
                item |= {"targets": ["B"], "choices": [{"id": i, "text": str(t)} for i, t in texts]}
            lines.append(item)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def sums(folder: Path, name: str = "sums", **options: Any) -> Bank:
    """Return a bank of sums."""
    return read_bank(write_bank_file(folder / f"{name}.jsonl", **options))


def make_service(
    state: ServerState, *banks: Bank, design: Design = DESIGN, **options: Any
) -> Service:
    """Return a service whose ids and times count up."""
    numbers = itertools.count(1)
    return Service(
        state,
        Catalogue(banks, design),
        new_id=lambda: f"id-{next(numbers)}",
        now=lambda: "2026-01-01T00:00:00+00:00",
        **options,
    )


@asynccontextmanager
async def client_of(
    service: Service, keys: Keys | None = None, **options: Any
) -> AsyncIterator[TestClient]:
    """Yield a client of a server in this process; it sends a key with every request."""
    app = make_app(service, keys or Keys([]), **options)
    async with TestClient(TestServer(app), headers=KEY) as client:
        yield client


@contextmanager
def serving(*arguments: object, **variables: str) -> Iterator[Serving]:
    """Run `passband serve` as a process, and kill it at the end if it still runs."""
    with process("serve", *arguments, "--port", 0, **variables) as started:
        try:
            assert started.stdout is not None
            yield Serving(started, started.stdout.readline().decode().partition(" ")[0])
        finally:
            started.kill()


@dataclass
class Serving:
    """A server in a process of its own, and its address: empty if it did not start."""

    process: subprocess.Popen[bytes]
    address: str

    def ask(self, path: str, body: object = None) -> Any:
        """Send a request and return the JSON of the reply."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"x-api-key": "any"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def stop(self, number: int) -> tuple[int, str]:
        """Send a signal; return the exit code and what was said to standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said.decode()
