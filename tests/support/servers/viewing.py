"""A viewer in this process, on a port of its own, and requests to it."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

from passband.view.server.app import View
from passband.view.server.guard import new_token
from passband.view.server.serving import open_index, running


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def page(self) -> Page:
        page = Page()
        page.feed(self.text)
        page.close()
        return page


class Page(HTMLParser):
    """A page as a browser takes it: its elements, links and words."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._silent = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words += data

    def links(self, **wanted: str) -> list[str]:
        """Return where the links with these attributes lead."""
        return [
            of["href"] or ""
            for tag, of in self.elements
            if tag == "a" and all(of.get(k.replace("_", "-")) == v for k, v in wanted.items())
        ]


@dataclass
class Viewing:
    """A viewer that runs."""

    address: str
    view: View
    port: int = field(init=False)

    def __post_init__(self) -> None:
        self.port = urlsplit(self.address).port or 0

    def ask(self, path: str, method: str = "GET", *, token: bool = True, **headers: str) -> Answer:
        """Send a request; a path that begins with / is taken as it is."""
        if not path.startswith("/") and token:
            path = self.view.home + path
        with self.open(path, method, **headers) as response:
            text = response.read().decode()
            return Answer(response.status, dict(response.headers), text)

    @contextmanager
    def open(
        self, path: str, method: str = "GET", **headers: str
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request and read the answer as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            yield connection.getresponse()
        finally:
            connection.close()


@contextmanager
def viewing(*sources: Path, pulse: float = 0.01) -> Iterator[Viewing]:
    """Start a viewer of these sources, and end it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    ready, stop = threading.Event(), asyncio.Event()
    found: list[Viewing] = []

    async def serve() -> None:
        with open_index(sources) as index:
            view = View(index, new_token(), [str(source) for source in sources], pulse=pulse)
            async with running(view) as address:
                found.append(Viewing(address, view))
                ready.set()
                await stop.wait()

    served = asyncio.run_coroutine_threadsafe(serve(), loop)
    served.add_done_callback(lambda _: ready.set())
    try:
        ready.wait()
        if not found:
            served.result()
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        served.result(30)
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
