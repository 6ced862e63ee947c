r"""A server in this process that speaks the OpenAI HTTP API and fails in the ways real ones do.

A script says how each request is answered: one `Behaviour` for all of them, a list that is played
in the order in which requests arrive and followed by `ok`, or a function from the request to a
behaviour. Here the server limits the rate once, then gives a message without content, then works:

    >>> import http.client, contextlib
    >>> def ask(server):
    ...     message = {"role": "user", "content": "What is 17 + 25?"}
    ...     body = json.dumps({"messages": [message], "seed": 1})
    ...     with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as line:
    ...         line.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer k"})
    ...         reply = line.getresponse()
    ...         return reply.status, reply.getheader("retry-after"), json.load(reply)
    >>> with FaultServer([rate_limit("1"), null_content]) as server:
    ...     limited, empty, good = ask(server), ask(server), ask(server)
    >>> limited[0], limited[1], limited[2]["error"]["code"]
    (429, '1', 'rate_limit_exceeded')
    >>> empty[2]["choices"][0]["message"]["content"] is None
    True
    >>> good[2]["choices"][0]["message"]["content"]
    'Way ...: I add the two numbers. The answer is 42.'
    >>> [request.headers["authorization"] for request in server.requests]
    ['Bearer k', 'Bearer k', 'Bearer k']
    >>> server.max_in_flight, server.connections
    (1, 3)

Arrival order is not the order of asking when several requests are under way. Scripts that do not
depend on it are functions:

    FaultServer(lambda request: hang if "17" in request.prompt else ok)
    FaultServer(lambda request: status(500) if request.number % 20 == 0 else ok)
    FaultServer(first_time(status(503)))  # fails each request once; the retry succeeds

To act while requests are under way, without sleeping, hold them:

    with FaultServer(held()) as server:
        ...                       # start the client in another thread, task or process
        server.wait_for(64)       # until 64 requests have arrived
        assert server.in_flight == 64
        server.release()          # now all are answered, and those that follow too
        server.wait_until(lambda server: server.in_flight == 0)

`server.down()` refuses connections and cuts those that are open; `server.up()` listens again on
the same port; `restart` does both from inside a script. The methods of the server block, so call
them from a thread that runs no event loop, or by ``asyncio.to_thread``.

A client that leaves before its answer is complete frees the request at once: it no longer counts
as in flight and stands in `server.abandoned`. Requests that are not for one of the
`PATHS`, or are not JSON, are refused and stand in `server.strays`; `server.models = serving("m")`
gives it a list of models. A mistake in a script, or in a
behaviour, is raised when the server is left.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from types import TracebackType
from typing import Any

Json = dict[str, Any]

PATHS = {  # is it a chat?
    "/v1/chat/completions": True,
    "/v1/completions": False,
    "/v1/messages": True,  # of Anthropic
    "/v1beta/models/m:generateContent": True,  # of Google
    "/v1beta/models/m:streamGenerateContent?alt=sse": True,
}
JSON = "application/json"
HTML = "text/html; charset=utf-8"
LONGEST_WAIT = 30.0  # seconds; a test that waits for longer has failed
SUM = re.compile(r"What is (-?\d+) \+ (-?\d+)\?")
HOSTILE = (
    "a\x00b\ud800c"  # NUL, half of a surrogate pair
    "\x1b[31m\x1b[2J"  # ANSI: red, clear the screen
    "\x1b]52;c;cm0gLXJmIH4=\x07"  # OSC 52: put a command on the clipboard
    "\u202eexe.txt"  # what follows is shown from right to left
    " The answer is 42."
)


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    number: int  # 0, 1, ... in the order of arrival
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Json
    arrived: float  # by time.monotonic
    connection: int  # 0, 1, ... in the order of opening

    @property
    def is_chat(self) -> bool:
        return PATHS[self.path]

    @property
    def prompt(self) -> str:
        """The prompt, or what the user said last."""
        if not self.is_chat:
            return str(self.body["prompt"])
        if "contents" in self.body:  # Google
            return str(self.body["contents"][-1]["parts"][0]["text"])
        turns = [turn["content"] for turn in self.body["messages"] if turn["role"] == "user"]
        return str(turns[-1]) if turns else ""

    @property
    def n(self) -> int:
        return int(self.body.get("n") or 1)


@dataclass(frozen=True)
class Behaviour:
    """A named way to answer a request."""

    name: str
    play: Callable[[Exchange], Awaitable[None]]

    def __str__(self) -> str:
        return self.name


Script = Behaviour | Sequence[Behaviour] | Callable[[Received], Behaviour]


def behaviour(play: Callable[[Exchange], Awaitable[None]]) -> Behaviour:
    """Name a way to answer after the function that does it."""
    return Behaviour(play.__name__, play)


class Exchange:
    """A request being answered: what a behaviour may do."""

    def __init__(self, server: FaultServer, connection: Connection, request: Received) -> None:
        self.server = server
        self.connection = connection
        self.request = request

    async def write(self, data: bytes) -> None:
        """Put bytes on the wire; wait while the client is slow to take them."""
        transport = self.connection.transport
        transport.write(data)
        if transport.is_closing():
            await asyncio.Event().wait()  # the client has left: this task is about to be cancelled
        await self.connection.writable.wait()

    async def head(self, code: int, *, content_type: str | None = JSON, **headers: object) -> None:
        """Send the status and the headers; an underscore stands for a hyphen."""
        fields = {"x_request_id": f"req-{self.request.number}"} | headers
        if content_type is not None:
            fields["content_type"] = content_type
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        top = f"HTTP/1.1 {code} {HTTPStatus(code).phrase}"
        await self.write("\r\n".join([top, *lines, "", ""]).encode())

    async def reply(self, code: int, body: Json | bytes, **headers: Any) -> None:
        """Send a whole response."""
        data = body if isinstance(body, bytes) else encoded(body)
        await self.head(code, content_length=len(data), **headers)
        await self.write(data)

    async def reply_in_chunks(self, code: int, pieces: Iterable[bytes], **headers: Any) -> None:
        """Send a whole response without saying how long it will be."""
        await self.head(code, transfer_encoding="chunked", **headers)
        for piece in pieces:
            await self.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await self.write(b"0\r\n\r\n")

    def close(self) -> None:
        """Hang up once everything written has gone out."""
        self.connection.drop(self.connection.transport.close)

    def reset(self) -> None:
        """Hang up with a TCP reset."""
        transport = self.connection.transport
        at_once = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.connection.drop(transport.abort)


# --- what is said ----------------------------------------------------------------------------


def encoded(body: Json) -> bytes:
    """JSON in ASCII, in which a lone surrogate is an escape like any other character."""
    return json.dumps(body).encode("ascii")


def text_of(prompt: str, seed: object, index: int) -> str:
    """A completion; its answer is right with probability sha256(prompt)[0] / 255."""
    data = prompt.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(data).digest()
    sums = SUM.findall(prompt)
    right = sum(map(int, sums[-1])) if sums else digest[1]
    drawn = hashlib.sha256(b"%b|%b|%d" % (data, str(seed).encode(), index)).digest()
    is_right = int.from_bytes(drawn[:4], "big") < digest[0] / 255 * 2**32
    answer = right if is_right else right + 1 + drawn[4] % 9
    return f"Way {drawn[5:9].hex()}: I add the two numbers. The answer is {answer}."


def texts_for(request: Received) -> list[str]:
    """n completions, a function of prompt and seed; without a seed, of when they were asked."""
    seed = request.body.get("seed")
    seed = f"request {request.number + 1}" if seed is None else seed
    return [text_of(request.prompt, seed, index) for index in range(request.n)]


def choice(request: Received, index: int, text: str | None, finish: str, **extra: str) -> Json:
    """One completion, in the form that the path asks for."""
    top: Json = {"index": index, "logprobs": None, "finish_reason": finish}
    if request.is_chat:
        return top | {"message": {"role": "assistant", "content": text} | extra}
    return top | {"text": text} | extra


def completion(
    request: Received, texts: Sequence[str | None], finish: str = "stop", **extra: str
) -> Json:
    """A whole reply with these texts."""
    asked, given = len(request.prompt) // 4, sum(len(text or "") // 4 for text in texts)
    return {
        "id": f"{'chatcmpl' if request.is_chat else 'cmpl'}-{request.number}",
        "object": "chat.completion" if request.is_chat else "text_completion",
        "created": int(time.time()),
        "model": request.body.get("model", "fault"),
        "choices": [choice(request, i, text, finish, **extra) for i, text in enumerate(texts)],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": given,
            "total_tokens": asked + given,
        },
    }


def error(
    message: str,
    code: str | None = None,
    *,
    kind: str | None = "invalid_request_error",
    param: str | None = None,
    **more: Any,
) -> Json:
    """The body that tells what went wrong."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code} | more}


def page(code: int) -> bytes:
    """What a proxy says when the server behind it does not."""
    title = f"{code} {HTTPStatus(code).phrase}"
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>".encode()


def http_date(seconds: float) -> str:
    """The time so many seconds from now, as ``Retry-After`` writes it."""
    return formatdate(time.time() + seconds, usegmt=True)


# --- good answers ----------------------------------------------------------------------------


@behaviour
async def ok(exchange: Exchange) -> None:
    """A good reply with n choices that depend on prompt and seed."""
    await exchange.reply(200, completion(exchange.request, texts_for(exchange.request)))


def says(*texts: str | None, finish: str = "stop") -> Behaviour:
    """These texts, over and over where n asks for more, whatever seed and temperature are."""

    async def play(exchange: Exchange) -> None:
        given = [texts[index % len(texts)] for index in range(exchange.request.n)]
        await exchange.reply(200, completion(exchange.request, given, finish))

    return Behaviour("says", play)


same_answer = says("It is always the same. The answer is 42.")


def after(seconds: float, then: Behaviour = ok) -> Behaviour:
    """Another behaviour, so much later."""

    async def play(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await then.play(exchange)

    return Behaviour(f"after {seconds} s, {then}", play)


def held(then: Behaviour = ok) -> Behaviour:
    """Another behaviour, once the test calls `FaultServer.release`."""

    async def play(exchange: Exchange) -> None:
        await exchange.server.released.wait()
        await then.play(exchange)

    return Behaviour(f"held, {then}", play)


def first_time(fault: Behaviour, then: Behaviour = ok) -> Callable[[Received], Behaviour]:
    """A script: a fault where a request comes for the first time, and `then` where it returns."""
    seen: set[str] = set()

    def choose(request: Received) -> Behaviour:
        name = json.dumps(request.body, sort_keys=True)
        is_new = name not in seen
        seen.add(name)
        return fault if is_new else then

    return choose


# --- refusals --------------------------------------------------------------------------------


def rate_limit(retry_after: str | None = "1", *, retry_after_ms: str | None = None) -> Behaviour:
    """429; `retry_after` is in seconds or an `http_date`, and None leaves the header out."""
    headers = {"retry_after": retry_after, "retry_after_ms": retry_after_ms}
    sent = {name: value for name, value in headers.items() if value is not None}
    body = error("Rate limit reached for requests.", "rate_limit_exceeded", kind="requests")

    async def play(exchange: Exchange) -> None:
        await exchange.reply(429, body, **sent)

    return Behaviour("rate_limit", play)


def serving(*names: str) -> Json:
    """A list of models, for `FaultServer.models`."""
    models = [{"id": name, "object": "model", "owned_by": "tests"} for name in names]
    return {"object": "list", "data": models}


def refusal(name: str, code: int, body: Json) -> Behaviour:
    """The same error for every request."""

    async def play(exchange: Exchange) -> None:
        await exchange.reply(code, body)

    return Behaviour(name, play)


insufficient_quota = refusal(
    "insufficient_quota",
    429,
    error(
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        kind="insufficient_quota",
    ),
)
forbidden_403 = refusal(
    "forbidden_403", 403, error("This key may not use this model.", "permission_denied")
)
bad_request_400 = refusal(
    "bad_request_400",
    400,
    error(
        "This model's maximum context length is 8192 tokens, but 9001 were asked for.",
        "context_length_exceeded",
        param="messages",
    ),
)
odd_request_400 = refusal(
    "odd_request_400",
    400,
    error("The last message must be of the user.", "invalid_value", param="messages"),
)
content_filter_400 = refusal(
    "content_filter_400",
    400,
    error(
        "The prompt triggered the content management policy.",
        "content_filter",
        kind=None,
        param="prompt",
        status=400,
        innererror={
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
        },
    ),
)


@behaviour
async def unauthorized_401(exchange: Exchange) -> None:
    """401, with the key that was sent in the message, which must not reach a log."""
    key = exchange.request.headers.get("authorization", "").removeprefix("Bearer ")
    body = error(f"Incorrect API key provided: {key}.", "invalid_api_key")
    await exchange.reply(401, body)


@behaviour
async def model_404(exchange: Exchange) -> None:
    """404: there is no such model."""
    model = exchange.request.body.get("model")
    await exchange.reply(404, error(f"The model `{model}` does not exist.", "model_not_found"))


@behaviour
async def reject_n(exchange: Exchange) -> None:
    """400 that names the parameter n where n is more than 1; otherwise a good reply."""
    if exchange.request.n == 1:
        await ok.play(exchange)
    else:
        await exchange.reply(400, error("Only n = 1 is supported.", param="n"))


def status(code: int) -> Behaviour:
    """A status such as 500, 502 or 503 with an HTML page."""

    async def play(exchange: Exchange) -> None:
        await exchange.reply(code, page(code), content_type=HTML)

    return Behaviour(f"status {code}", play)


# --- replies that are none -------------------------------------------------------------------


def padded(request: Received, size: int) -> bytes:
    """A good reply of so many bytes, or more where n choices need more."""
    texts = texts_for(request)
    lacking = size - len(encoded(completion(request, texts)))
    texts[0] = "x" * (lacking - 8) + texts[0]
    data = encoded(completion(request, texts))
    return data[:-1] + b" " * (size - len(data)) + b"}"  # the token counts have grown too


@behaviour
async def truncated_json(exchange: Exchange) -> None:
    """Half of a reply, whose length is said rightly."""
    data = encoded(completion(exchange.request, texts_for(exchange.request)))
    await exchange.reply(200, data[: len(data) // 2])


@behaviour
async def html_200(exchange: Exchange) -> None:
    """A page that says it is one, with status 200: the portal of some network."""
    await exchange.reply(200, page(200), content_type=HTML)


@behaviour
async def html_labelled_json(exchange: Exchange) -> None:
    """A page that says it is JSON."""
    await exchange.reply(200, page(200))


@behaviour
async def no_choices(exchange: Exchange) -> None:
    """A reply whose list of choices is empty."""
    await exchange.reply(200, completion(exchange.request, []))


@behaviour
async def error_in_200(exchange: Exchange) -> None:
    """An error whose status says that there is none."""
    await exchange.reply(200, error("The model is overloaded.", "overloaded", kind="server_error"))


# --- replies that are good but odd -----------------------------------------------------------


@behaviour
async def null_content(exchange: Exchange) -> None:
    """Messages without content."""
    await exchange.reply(200, completion(exchange.request, [None] * exchange.request.n))


@behaviour
async def content_filter(exchange: Exchange) -> None:
    """Completions that a filter has cut off."""
    texts = ["I add"] * exchange.request.n
    await exchange.reply(200, completion(exchange.request, texts, "content_filter"))


@behaviour
async def length(exchange: Exchange) -> None:
    """Completions that have run out of tokens."""
    texts = ["I add the two numbers and"] * exchange.request.n
    await exchange.reply(200, completion(exchange.request, texts, "length"))


@behaviour
async def short_n(exchange: Exchange) -> None:
    """One choice, whatever n asks for."""
    await exchange.reply(200, completion(exchange.request, texts_for(exchange.request)[:1]))


@behaviour
async def missing_usage(exchange: Exchange) -> None:
    """A reply that does not count tokens."""
    body = completion(exchange.request, texts_for(exchange.request))
    del body["usage"]
    await exchange.reply(200, body)


@behaviour
async def reasoning(exchange: Exchange) -> None:
    """Messages with the reasoning in a field of its own."""
    texts = texts_for(exchange.request)
    body = completion(exchange.request, texts, reasoning_content="Seven and five make twelve.")
    await exchange.reply(200, body)


@behaviour
async def hostile_text(exchange: Exchange) -> None:
    """Text that must not reach a terminal, a file name or a strict encoder as it is: `HOSTILE`."""
    await exchange.reply(200, completion(exchange.request, [HOSTILE] * exchange.request.n))


def labelled(content_type: str | None) -> Behaviour:
    """A good reply that says it is something else than JSON; None says nothing."""

    async def play(exchange: Exchange) -> None:
        body = completion(exchange.request, texts_for(exchange.request))
        await exchange.reply(200, body, content_type=content_type)

    return Behaviour(f"labelled {content_type}", play)


# --- how it travels --------------------------------------------------------------------------


@behaviour
async def chunked(exchange: Exchange) -> None:
    """A good reply in chunks of seven bytes, without a length."""
    data = encoded(completion(exchange.request, texts_for(exchange.request)))
    await exchange.reply_in_chunks(200, (data[i : i + 7] for i in range(0, len(data), 7)))


@behaviour
async def hang(exchange: Exchange) -> None:
    """Not one byte, until the client leaves."""
    await asyncio.Event().wait()


@behaviour
async def no_reply(exchange: Exchange) -> None:
    """The connection is closed where the reply should be."""
    exchange.close()


async def part_of_reply(exchange: Exchange) -> None:
    """2,000 bytes of a body that is said to have 5,200."""
    await exchange.head(200, content_length=5200)
    await exchange.write(padded(exchange.request, 5200)[:2000])


@behaviour
async def reset_mid_body(exchange: Exchange) -> None:
    """2,000 bytes of 5,200, then a TCP reset."""
    await part_of_reply(exchange)
    exchange.reset()


@behaviour
async def close_mid_body(exchange: Exchange) -> None:
    """2,000 bytes of 5,200, then an orderly end."""
    await part_of_reply(exchange)
    exchange.close()


@behaviour
async def hang_mid_body(exchange: Exchange) -> None:
    """2,000 bytes of 5,200, then nothing until the client leaves."""
    await part_of_reply(exchange)
    await asyncio.Event().wait()


def drip(size: int = 20, every: float = 0.1, total: int = 2200) -> Behaviour:
    """A good reply, a few bytes at a time: no single read is slow, the whole takes 11 seconds."""

    async def play(exchange: Exchange) -> None:
        data = padded(exchange.request, total)
        await exchange.head(200, content_length=len(data))
        for start in range(0, len(data), size):
            await exchange.write(data[start : start + size])
            await asyncio.sleep(every)

    return Behaviour("drip", play)


@behaviour
async def drip_headers(exchange: Exchange) -> None:
    """One header after another, and never the last."""
    await exchange.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        await exchange.write(b"x-%d: y\r\n" % number)
        await asyncio.sleep(0.05)


def long_reply(request: Received, size: int) -> Iterable[bytes]:
    """A good reply with so many characters of text, in pieces."""
    before, behind = encoded(completion(request, ["<here>"])).split(b"<here>")
    piece = b"x" * 65_536
    yield before
    for _ in range(size // len(piece)):
        yield piece
    yield piece[: size % len(piece)] + behind


@behaviour
async def huge(exchange: Exchange) -> None:
    """A completion of ten million characters, whose length is said beforehand."""
    await exchange.reply(200, b"".join(long_reply(exchange.request, 10_000_000)))


@behaviour
async def huge_over_cap(exchange: Exchange) -> None:
    """A completion of forty million characters, in chunks: only reading shows how long it is."""
    await exchange.reply_in_chunks(200, long_reply(exchange.request, 40_000_000))


def restart(seconds: float) -> Behaviour:
    """The server goes down, this request and all others with it, and comes up again later."""

    async def play(exchange: Exchange) -> None:
        exchange.server.begin_restart(seconds)
        await asyncio.Event().wait()

    return Behaviour("restart", play)


# --- the server ------------------------------------------------------------------------------


class Unreadable(Exception):
    """A request that is refused before any script sees it."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Head:
    """The first lines of a request."""

    method: str
    path: str
    headers: dict[str, str]

    @classmethod
    def read(cls, data: bytes) -> Head:
        top, *lines = data.decode("latin-1").split("\r\n")
        method, path, _ = top.split(" ", 2)
        fields = (line.partition(":") for line in lines)
        return cls(method, path, {name.lower(): value.strip() for name, _, value in fields})


class Connection(asyncio.Protocol):
    """One client: requests are answered one after another, each by a task."""

    def __init__(self, server: FaultServer, number: int) -> None:
        self.server = server
        self.number = number
        self.unread = b""
        self.task: asyncio.Task[None] | None = None
        self.writable = asyncio.Event()
        self.writable.set()
        self.was_dropped = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.open.discard(self)
        if self.task is not None:
            self.task.cancel()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def drop(self, end: Callable[[], None]) -> None:
        """End the connection from this side."""
        self.was_dropped = True
        end()

    def data_received(self, data: bytes) -> None:
        self.unread += data
        self.go_on()

    def go_on(self, _: object = None) -> None:
        """Begin with the next request if it is complete and the one before is answered."""
        end = self.unread.find(b"\r\n\r\n")
        if end < 0 or self.transport.is_closing() or (self.task and not self.task.done()):
            return
        head = Head.read(self.unread[:end])
        stop = end + 4 + int(head.headers.get("content-length", 0))
        if stop > len(self.unread):
            return
        body, self.unread = self.unread[end + 4 : stop], self.unread[stop:]
        self.task = asyncio.ensure_future(self.answer(head, body))
        self.task.add_done_callback(self.go_on)

    async def answer(self, head: Head, body: bytes) -> None:
        try:
            if head.path == "/v1/models" and self.server.models is not None:
                await self.list_models(head, self.server.models)
            else:
                await self.server.answer(self, head, body)
        except Unreadable as unreadable:
            await self.refuse(head, unreadable)
        except Exception as error:
            self.server.mistakes.append(error)
            self.drop(self.transport.abort)
        if head.headers.get("connection", "").lower() == "close":
            self.transport.close()

    async def list_models(self, head: Head, models: Json | bytes) -> None:
        """Answer what is served."""
        request = Received(-1, head.path, head.headers, {}, time.monotonic(), self.number)
        await Exchange(self.server, self, request).reply(200, models)

    async def refuse(self, head: Head, why: Unreadable) -> None:
        """Answer what is no question."""
        self.server.strays.append(f"{head.method} {head.path}: {why}")
        request = Received(-1, head.path, head.headers, {}, time.monotonic(), self.number)
        await Exchange(self.server, self, request).reply(why.code, error(str(why)))


def read_request(head: Head, body: bytes, number: int, connection: int) -> Received:
    """Read a request for completions; refuse anything else."""
    if "transfer-encoding" in head.headers:
        raise Unreadable(411, "send Content-Length")
    if head.path not in PATHS:
        raise Unreadable(404, "no such path")
    if head.method != "POST":
        raise Unreadable(405, "only POST is allowed here")
    try:
        parsed = json.loads(body)
    except ValueError as wrong:
        raise Unreadable(400, f"not JSON: {wrong}") from None
    return Received(number, head.path, head.headers, parsed, time.monotonic(), connection)


def chosen(script: Script, request: Received, number: int) -> Behaviour:
    """What a script has for a request, the `number`-th since the script began."""
    if isinstance(script, Behaviour):
        picked: object = script
    elif callable(script):
        picked = script(request)
    else:
        picked = script[number] if number < len(script) else ok
    if not isinstance(picked, Behaviour):
        raise TypeError(f"a script must give behaviours, got {picked!r}; is a call missing?")
    return picked


def bound(port: int) -> socket.socket:
    """A socket that has the port but does not listen, so that connections to it are refused."""
    place = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio then sends small writes at once
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", port))
    return place


class FaultServer:
    """The server, which runs in a thread of its own as long as its ``with`` block."""

    def __init__(
        self, script: Script = ok, *, latency: float | Callable[[Received], float] = 0.0
    ) -> None:
        self.latency = latency
        self.models: Json | bytes | None = None  # the reply to GET /v1/models, if there is one
        self.requests: list[Received] = []
        self.abandoned: list[Received] = []  # whose client left before the answer was complete
        self.strays: list[str] = []
        self.mistakes: list[Exception] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.connections = 0
        self.open: set[Connection] = set()
        self.play(script)
        self._change = threading.Condition()
        self._place: socket.socket | None = None
        self._listener: asyncio.Server | None = None
        self._restart: asyncio.Task[None] | None = None

    # --- for the test ---

    @property
    def url(self) -> str:
        """What a client takes as the base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, script: Script) -> None:
        """Follow this script from the next request on; a list begins with its first entry."""
        self._script, self._begin = script, len(self.requests)

    def wait_for(self, count: int) -> None:
        """Wait until so many requests have arrived."""
        self.wait_until(lambda server: len(server.requests) >= count)

    def wait_until(self, holds: Callable[[FaultServer], bool]) -> None:
        """Wait until something holds; looked at whenever a request arrives or leaves."""
        with self._change:
            if not self._change.wait_for(lambda: holds(self), LONGEST_WAIT):
                raise TimeoutError(f"{len(self.requests)} requests came, {self.in_flight} are here")

    def release(self) -> None:
        """Let go of all that is `held`, now and from now on."""
        self._loop.call_soon_threadsafe(self.released.set)

    def down(self) -> None:
        """Cut all connections and refuse new ones."""
        self._do(self._down)

    def up(self) -> None:
        """Listen again on the same port."""
        self._do(self._up)

    def __enter__(self) -> FaultServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        if not ready.wait(LONGEST_WAIT):
            raise TimeoutError("the server did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(LONGEST_WAIT)
        if self.mistakes and value is None:
            raise self.mistakes[0]

    # --- for connections and behaviours ---

    async def answer(self, connection: Connection, head: Head, body: bytes) -> None:
        """Answer a request as the script wants, and keep count."""
        request = read_request(head, body, len(self.requests), connection.number)
        self._enter(request)
        try:
            picked = chosen(self._script, request, request.number - self._begin)
            wait = self.latency(request) if callable(self.latency) else self.latency
            await after(wait, picked).play(Exchange(self, connection, request))
        except asyncio.CancelledError:
            if not connection.was_dropped:
                self.abandoned.append(request)
            raise
        finally:
            self._leave()

    def begin_restart(self, seconds: float) -> None:
        """Go down now and up again after a while."""

        async def run() -> None:
            await self._down()
            await asyncio.sleep(seconds)
            await self._up()

        if self._restart is None or self._restart.done():
            self._restart = asyncio.ensure_future(run())

    # --- inside ---

    def _enter(self, request: Received) -> None:
        with self._change:
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
            self.requests.append(request)
            self._change.notify_all()

    def _leave(self) -> None:
        with self._change:
            self.in_flight -= 1
            self._change.notify_all()

    def _do(self, action: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("a script cannot wait for the server it runs in; use restart")
        asyncio.run_coroutine_threadsafe(action(), self._loop).result(LONGEST_WAIT)

    def _connect(self) -> Connection:
        self.connections += 1
        return Connection(self, self.connections - 1)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self.released = asyncio.Event()
        self._place = bound(0)
        self.port: int = self._place.getsockname()[1]
        await self._up()
        ready.set()
        await self._stop.wait()
        if self._restart is not None:
            self._restart.cancel()
        await self._down()
        if self._place is not None:
            self._place.close()

    async def _up(self) -> None:
        if self._place is not None:
            place, self._place = self._place, None
            self._listener = await self._loop.create_server(self._connect, sock=place, backlog=1024)

    async def _down(self) -> None:
        if self._listener is None:
            return
        listener, self._listener = self._listener, None
        listener.close()
        for connection in list(self.open):
            connection.drop(connection.transport.abort)
        await listener.wait_closed()
        await asyncio.sleep(0)  # until the sockets are closed, before Python 3.12
        self._place = bound(self.port)
