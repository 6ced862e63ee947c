"""A model server on this machine that speaks the OpenAI HTTP API, made to cost little.

    python benchmarks/loopback.py --port 0 [--latency 0.2] [--slots 16] [--characters 330] [--no-n]

The first line it prints is its port. It serves until its standard input ends or it is killed.

POST /v1/chat/completions and POST /v1/completions answer sums: a prompt asks "What is 17 + 25?",
and the completion ends in "The answer is 42." or names another number. Whether it is right is a
pure function of the prompt (the last message of the user), the seed and the index of the choice.
A problem's rate of success is the first byte of the prompt's SHA-256 over 255, so the truth that
an evaluation estimates is known: see `Problem.chance`. Requests without a seed are numbered
instead, and so get different answers. ``--no-n`` gives one choice whatever ``n`` asks for.
``--slots 16`` answers so many requests at once, and others wait. Streaming, stop sequences,
temperature and limits on tokens are not imitated.

GET /v1/models lists the one model, `loopback`. GET /stats says how many requests, completions and
connections there have been, and how many requests were in flight at once. The last needs a latency
to mean something: without one, every answer is given before the next client is heard.

From another script or a test:

    with loopback.started(latency=0.2) as url:  # http://127.0.0.1:PORT/v1
        ...
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import heapq
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

SUM = re.compile(r"What is (-?\d+) \+ (-?\d+)\?")
WORKING = (
    b"First I read the question once more and write down what is given. ",
    b"Then I add the ones, keep the carry, and go on with the tens. ",
    b"The carry goes to the next column, where it is added like any other digit. ",
    b"To be sure I do the same sum from the other end and compare the two. ",
    b"Both ways agree, so I see no reason to look for another way. ",
)

# --- what is said ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A prompt, how often it is solved, and the right answer."""

    prompt: bytes
    chance: float
    right: int

    @staticmethod
    @lru_cache(maxsize=65_536)
    def of(prompt: str) -> Problem:
        """Read a prompt; the last sum in it is the question, any before it are examples."""
        encoded = prompt.encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(encoded).digest()
        sums = SUM.findall(prompt)
        right = sum(map(int, sums[-1])) if sums else digest[1]
        return Problem(encoded, digest[0] / 255, right)

    def draw(self, seed: int | str, index: int) -> bytes:
        """The random bytes of one completion."""
        return hashlib.sha256(b"%b|%b|%d" % (self.prompt, str(seed).encode(), index)).digest()

    def answer(self, drawn: bytes) -> int:
        """The number that a completion names: the right one, or one of nine above it."""
        if int.from_bytes(drawn[:4], "big") < self.chance * 2**32:
            return self.right
        return self.right + 1 + drawn[4] % 9


@lru_cache(maxsize=1024)
def working(first: int, length: int) -> bytes:
    """So many characters of reasoning that say nothing, beginning at one of the sentences."""
    once = b"".join(WORKING[first:] + WORKING[:first])
    return (once * (length // len(once) + 1))[:length]


def completion_text(problem: Problem, seed: int | str, index: int, characters: int) -> bytes:
    """A completion of this many characters that ends in its answer; plain enough for JSON."""
    drawn = problem.draw(seed, index)
    opening = b"Way %b: " % drawn[5:9].hex().encode()  # two completions are hardly ever the same
    ending = b" The answer is %d." % problem.answer(drawn)
    length = max(0, characters - len(opening) - len(ending))
    return opening + working(drawn[9] % len(WORKING), length) + ending


# --- how it is said --------------------------------------------------------------------------

HEAD = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
CHAT = (
    b'{"index":%d,"message":{"role":"assistant","content":"%b"},'
    b'"logprobs":null,"finish_reason":"stop"}'
)
TEXT = b'{"index":%d,"text":"%b","logprobs":null,"finish_reason":"stop"}'
REPLY = (
    b'{"id":"%b-%016x","object":"%b","created":%d,"model":"loopback","choices":[%b],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}'
)


class Refused(Exception):
    """A request that is not answered with completions; says the status line and why."""

    def __init__(self, status: bytes, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def message(status: bytes, body: bytes) -> bytes:
    """A whole HTTP response."""
    return HEAD % (status, len(body), body)


def refusal(refused: Refused) -> bytes:
    """The HTTP response to a request that cannot be answered."""
    error = {"message": refused.why, "type": "invalid_request_error", "param": None, "code": None}
    return message(refused.status, json.dumps({"error": error}).encode())


def content_text(content: Any) -> str:
    """The text of a message, be it a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def last_question(body: dict[str, Any]) -> str:
    """What the user said last."""
    for turn in reversed(body["messages"]):
        if turn["role"] == "user":
            return content_text(turn["content"])
    return ""


@dataclass
class Stats:
    """What a server has seen so far."""

    requests: int = 0
    completions: int = 0
    max_in_flight: int = 0
    connections: int = 0


class Model:
    """Turns the body of a request into a response."""

    def __init__(
        self, characters: int = 330, several: bool = True, slots: int | None = None
    ) -> None:
        self.characters = characters
        self._free = None if slots is None else [0.0] * slots  # when each slot will be
        self.several = several
        self.stats = Stats()
        self.in_flight = 0
        self.born = int(time.time())

    def ready_at(self, now: float, latency: float) -> float:
        """Return when a request that comes now is answered: once a slot is free, and later."""
        if self._free is None:
            return now + latency
        ready = max(now, self._free[0]) + latency
        heapq.heapreplace(self._free, ready)
        return ready

    def reply(self, head: bytes, body: bytes) -> bytes:
        """Answer a request; `head` is in lower case."""
        try:
            if head.startswith(b"post /v1/chat/completions "):
                return self.completions(body, chat=True)
            if head.startswith(b"post /v1/completions "):
                return self.completions(body, chat=False)
            if head.startswith(b"get /v1/models "):
                return message(b"200 OK", b'{"object":"list","data":[{"id":"loopback"}]}')
            if head.startswith(b"get /stats "):
                return message(b"200 OK", json.dumps(asdict(self.stats)).encode())
            raise Refused(b"404 Not Found", "no such path")
        except Refused as refused:
            return refusal(refused)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            return refusal(Refused(b"400 Bad Request", f"not understood: {error!r}"))

    def completions(self, body: bytes, chat: bool) -> bytes:
        """Answer a question as often as it asks to be."""
        asked = json.loads(body)
        if asked.get("stream"):
            raise Refused(b"400 Bad Request", "this server does not stream")
        prompt = last_question(asked) if chat else asked["prompt"]
        problem = Problem.of(prompt)
        seed = asked.get("seed")
        self.stats.requests += 1
        if seed is None:
            seed = f"request {self.stats.requests}"
        count = (asked.get("n") or 1) if self.several else 1
        texts = [completion_text(problem, seed, i, self.characters) for i in range(count)]
        self.stats.completions += count
        return message(b"200 OK", self.wrapped(texts, len(prompt) // 4, chat))

    def wrapped(self, texts: list[bytes], prompt_tokens: int, chat: bool) -> bytes:
        """The JSON around the texts."""
        form = CHAT if chat else TEXT
        tokens = sum(len(text) // 4 for text in texts)
        return REPLY % (
            b"chatcmpl" if chat else b"cmpl",
            self.stats.requests,
            b"chat.completion" if chat else b"text_completion",
            self.born,
            b",".join([form % choice for choice in enumerate(texts)]),
            prompt_tokens,
            tokens,
            prompt_tokens + tokens,
        )


# --- how it travels --------------------------------------------------------------------------


def body_length(head: bytes) -> int:
    """The length of the body that follows a head in lower case."""
    if b"\r\ntransfer-encoding:" in head:
        raise Refused(b"411 Length Required", "send Content-Length")
    start = head.find(b"\r\ncontent-length:")
    if start < 0:
        return 0
    end = head.find(b"\r\n", start + 17)
    return int(head[start + 17 : end if end >= 0 else None])


class Connection(asyncio.Protocol):
    """One client: takes requests apart and answers them in the order they came."""

    def __init__(self, model: Model, latency: float) -> None:
        self.model = model
        self.latency = latency
        self.loop = asyncio.get_running_loop()
        self.unread = b""
        self.waiting: deque[bytes] = deque()
        self.is_last = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.model.stats.connections += 1

    def connection_lost(self, error: Exception | None) -> None:
        self.model.in_flight -= len(self.waiting)
        self.waiting.clear()

    def data_received(self, data: bytes) -> None:
        self.unread += data
        start = 0
        while (end := self.unread.find(b"\r\n\r\n", start)) >= 0 and not self.is_last:
            head = self.unread[start:end].lower()
            try:
                stop = end + 4 + body_length(head)
            except (Refused, ValueError) as error:
                return self.give_up(error)
            if stop > len(self.unread):
                break
            self.is_last = b"\r\nconnection: close" in head or b" http/1.0\r\n" in head
            self.take(head, self.unread[end + 4 : stop])
            start = stop
        self.unread = self.unread[start:]
        if not self.latency:
            self.send(len(self.waiting))

    def take(self, head: bytes, body: bytes) -> None:
        """Answer a request, now or after the latency; who asks for the stats need not wait."""
        model = self.model
        if head.startswith((b"get /stats ", b"get /v1/models ")) and not self.waiting:
            self.transport.write(model.reply(head, body))
            return
        model.in_flight += 1
        if model.in_flight > model.stats.max_in_flight:
            model.stats.max_in_flight = model.in_flight
        self.waiting.append(model.reply(head, body))
        if self.latency:
            # Whichever timer fires sends the oldest answer, so that the order holds.
            self.loop.call_at(model.ready_at(self.loop.time(), self.latency), self.send, 1)

    def send(self, count: int) -> None:
        """Send the oldest answers that wait, unless the client has left."""
        count = min(count, len(self.waiting))
        if count:
            self.model.in_flight -= count
            self.transport.write(b"".join([self.waiting.popleft() for _ in range(count)]))
        if self.is_last and not self.waiting:
            self.transport.close()

    def give_up(self, error: Exception) -> None:
        """Say what is wrong and hang up: where the next request begins is not known."""
        refused = error if isinstance(error, Refused) else Refused(b"400 Bad Request", repr(error))
        self.transport.write(refusal(refused))
        self.transport.close()


async def serve(model: Model, port: int, latency: float) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    server = await loop.create_server(
        lambda: Connection(model, latency), "127.0.0.1", port, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)

    def watch() -> None:
        while os.read(0, 4096):
            pass
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, daemon=True).start()
    await ended.wait()
    server.close()


@contextmanager
def started(
    *,
    latency: float = 0.0,
    characters: int = 330,
    several: bool = True,
    slots: int | None = None,
) -> Iterator[str]:
    """Start a server in a process of its own and give its base URL; end it afterwards."""
    options = ["--port", "0", "--latency", str(latency), "--characters", str(characters)]
    options += [] if slots is None else ["--slots", str(slots)]
    command = [sys.executable, __file__, *options, *([] if several else ["--no-n"])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        try:
            port = process.stdout.readline().strip()
            if not port:
                raise RuntimeError("the loopback server did not start; its error is above")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(description="A fast model server on this machine.")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--characters", type=int, default=330, help="length of a completion")
    parser.add_argument("--no-n", action="store_true", help="one choice whatever n asks for")
    parser.add_argument("--slots", type=int, help="requests that are answered at once")
    options = parser.parse_args()
    model = Model(options.characters, several=not options.no_n, slots=options.slots)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(model, options.port, options.latency))


if __name__ == "__main__":
    main()
