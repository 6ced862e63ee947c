"""An HTTP client that asks a server for completions: one attempt, and what became of it.

Keys and headers that are sent are removed from whatever comes back. One task watches the deadlines
of all requests: a timer for each would be set and unset a thousand times for every time it rings.
All requests to a server have the same time limit, so the oldest is the first to be late.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType

import aiohttp

from passband.errors import InvalidInput
from passband.generate.provider import (
    Completion,
    Hopeless,
    JsonMapping,
    Provider,
    TimedOut,
    Unavailable,
    Unfinished,
)
from passband.generate.secrets import add_secret, check_headers, merged_headers, redacted_values
from passband.generate.servers.errors import fault_of
from passband.generate.servers.event_stream import Assembly, assembled, read_stream
from passband.generate.servers.http import address_of, read_body
from passband.log import event, is_logged

_LOOKS = 50  # looks at the oldest request within the time that it has: late by 2% at most


class Deadlines:
    """Cancels the task that is inside a `Deadline` for longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.inside: dict[Deadline, float] = {}  # since when, the oldest first
        self._watch: asyncio.Task[None] | None = None

    def start(self) -> Deadline:
        """Return the deadline of one request, to be used in a with statement."""
        if self._watch is None or self._watch.done():
            self.loop = asyncio.get_running_loop()
            self._watch = asyncio.ensure_future(self._look())
        return Deadline(self)

    def close(self) -> None:
        """Stop the timer."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self.seconds / _LOOKS)
            late = self.loop.time() - self.seconds
            for deadline, since in list(self.inside.items()):
                if since > late:
                    break
                del self.inside[deadline]
                deadline.expire()


class Deadline:
    """The time limit of one request: its body is cancelled when time is up."""

    __slots__ = ("_expired", "_of", "_task")

    def __init__(self, of: Deadlines) -> None:
        self._of = of
        self._expired = False
        self._task = asyncio.current_task(of.loop)

    def __enter__(self) -> None:
        self._of.inside[self] = self._of.loop.time()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._of.inside.pop(self, None)
        if self._expired and kind is asyncio.CancelledError:
            uncancel = getattr(self._task, "uncancel", None)  # since Python 3.11
            if uncancel is not None and uncancel() > 0:  # it was cancelled elsewhere too
                return
            raise asyncio.TimeoutError from None

    def expire(self) -> None:
        """Cancel the task inside."""
        self._expired = True
        if self._task is not None:
            self._task.cancel()


_CONNECT = 10.0  # seconds to reach the server
_RESOLVE = 30.0  # seconds to look its name up and to reach it
_SHORT = 8  # characters; a header with fewer is no secret, and may be in any error
_NUMBERS = (
    "prompt_tokens", "completion_tokens", "seed", "cost", "scores", "latency_ms",
    "reasoning_tokens", "cached_tokens",
)  # fmt: skip
_TEXTS = tuple(name for name in Completion._fields if name not in _NUMBERS)

Reader = Callable[[bytes], list[Completion]]


class Client:
    """Posts requests to a server and reads its replies."""

    def __init__(
        self,
        *,
        key: str = "",
        own_headers: Mapping[str, str],
        headers: Mapping[str, str],
        timeout: float,
    ) -> None:
        check_headers(headers)
        self._headers = merged_headers(own_headers, headers)
        self._secrets = [add_secret(one) for one in (key, *_parts(headers.values())) if one]
        self._long = [secret for secret in self._secrets if secret.is_long]
        self._deadlines = Deadlines(timeout)
        self._session: aiohttp.ClientSession | None = None

    def __reduce__(self) -> str:
        raise TypeError("a client holds a key; send the name of the model, and make it there.")

    async def post(
        self, url: str, body: bytes, read: Reader, assembly: Callable[[], Assembly] | None = None
    ) -> list[Completion]:
        """Make one request; return its completions or raise a `ProviderFault`.

        `read` takes a reply with status 200; `assembly` puts one together that is streamed.
        """
        try:
            with self._deadlines.start():
                began = time.monotonic()
                async with self.session().post(url, data=body, allow_redirects=False) as reply:
                    if is_logged():
                        _log_reply(url, reply.status, began)
                    if reply.status == 200:
                        return self._read(await _body(reply, assembly), read)
                    raw = self._cleaned(await read_body(reply))
                    headers = {k: self._removed(v) for k, v in reply.headers.items()}
                    raise fault_of(reply.status, headers, raw, time.time())
        except aiohttp.ServerTimeoutError as error:
            raise Unavailable(self._described(error), everyone=True) from None
        except asyncio.TimeoutError:
            raise TimedOut(f"no complete answer within {self._deadlines.seconds:g} s") from None
        except aiohttp.InvalidURL:
            raise Hopeless(f"{self._removed(url)} is not an address") from None
        except aiohttp.ClientConnectorError as error:
            raise Unavailable(self._described(error), everyone=True) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Unavailable(self._described(error)) from None

    def session(self) -> aiohttp.ClientSession:
        """Return the session of the running loop."""
        if self._session is None:  # made inside the running loop
            fixed = {"Content-Type": "application/json", "Accept": "application/json"}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),  # the caller limits
                timeout=aiohttp.ClientTimeout(total=None, connect=_RESOLVE, sock_connect=_CONNECT),
                headers={**fixed, **self._headers},
                auto_decompress=True,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def reset(self) -> None:
        """Drop every connection: a sleep of the machine has left them dead."""
        session, self._session = self._session, None  # a request made meanwhile opens another
        if session is not None:
            await session.close()

    async def close(self) -> None:
        """Drop every connection, and stop the timer."""
        self._deadlines.close()
        await self.reset()

    # -- secrets -------------------------------------------------------------------------------

    def _read(self, raw: bytes, read: Reader) -> list[Completion]:
        """Return the completions of a reply, without any key in any spelling."""
        if not self._long:
            return read(raw)
        for secret in self._long:
            if secret.may_be_in(raw):
                raw = secret.removed_from_bytes(raw)
        try:
            completions = read(raw)
        except Unfinished as fault:
            fault.completions = [self._clean(completion) for completion in fault.completions]
            raise
        return [self._clean(completion) for completion in completions]

    def _clean(self, completion: Completion) -> Completion:
        """Return a completion without the keys, which escapes of JSON may have hidden."""
        said = completion.text, completion.reasoning, completion.request_id
        is_clean = not any(s.is_in_texts(*said, completion.finish_reason) for s in self._long)
        if is_clean and completion.transcript is None:
            return completion
        fields = completion._asdict()
        return completion._replace(**{name: redacted_values(fields[name]) for name in _TEXTS})

    def _cleaned(self, raw: bytes) -> bytes:
        for secret in self._secrets:
            raw = secret.removed_from_bytes(raw)
        return raw

    def _removed(self, text: str) -> str:
        for secret in self._secrets:
            text = secret.removed_from(text)
        return text

    def _described(self, error: Exception) -> str:
        return self._removed(str(error)) or type(error).__name__


def _log_reply(url: str, status: int, began: float) -> None:
    """Log that a reply began; headers, and the query of an address, may hold a key."""
    ms = round(1000 * (time.monotonic() - began))
    event("http", method="POST", address=address_of(url), status=status, ms=ms)


async def _body(reply: aiohttp.ClientResponse, assembly: Callable[[], Assembly] | None) -> bytes:
    """Return the body of a reply; a stream as the reply that it makes."""
    if assembly is None:
        return await read_body(reply)
    if reply.headers.get("Content-Type", "").lower().startswith("text/event-stream"):
        return await read_stream(reply, assembly())
    raw = await read_body(reply)
    if raw[:1] in (b"{", b"["):
        return raw
    return assembled(raw, assembly()) or raw


def _parts(values: Iterable[str]) -> list[str]:
    """Return the values of headers, and what follows words such as Bearer, as secrets."""
    parts = [part for value in values for part in (value, value.rpartition(" ")[2])]
    return [part for part in dict.fromkeys(parts) if len(part) >= _SHORT]


class Server(Provider):
    """A provider that posts its requests to a server; its addresses and headers as recorded."""

    one_seed = True  # a request carries the seed of its first completion alone

    def __init__(self, client: Client, url: str, headers: Mapping[str, str]) -> None:
        self._client = client
        self._header_names = sorted(map(str.lower, headers))
        self.address: str = address_of(url)

    @property
    def config(self) -> JsonMapping:
        """Return how requests differ from the settings; recorded with the run."""
        return {"headers": self._header_names} if self._header_names else {}

    async def reset(self) -> None:
        await self._client.reset()

    async def close(self) -> None:
        await self._client.close()


def native_url(kind: str, model: str, given: str | None, variable: str, default: str) -> str:
    """Return the address of a service: as given, that of a variable, or the usual one."""
    if not model:
        raise InvalidInput(f"--model {kind}: needs the name of a model, such as {kind}:NAME.")
    return given or os.environ.get(variable, "").strip() or default


def api_key(variables: Sequence[str], needed: bool, headers: Mapping[str, str], header: str) -> str:
    """Return the key of the first variable that is set; a header of the user's may replace it."""
    found = [(name, os.environ.get(name, "").strip()) for name in variables]
    name, key = next(((n, k) for n, k in found if k), (variables[0], ""))
    if not key.isprintable():
        raise InvalidInput(f"{name} holds a line break or the like; set it again.")
    is_replaced = not {header, "authorization"}.isdisjoint(map(str.lower, headers))
    if needed and not key and not is_replaced:
        raise InvalidInput(
            f"{' or '.join(variables)} is not set. Set it, or give the address of another server "
            "with --base-url."
        )
    return "" if is_replaced else key
