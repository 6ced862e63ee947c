"""Drive a headless chromium over its DevTools protocol, for tests of pages.

    with browser.open(path, width=390, dark=True) as page:
        page.click("#more")
        assert page.evaluate("document.title") == "report"
        assert page.messages == [] and not page.scrolls_sideways

The fixture `browser` (conftest.py) starts one browser for all tests and skips them, with the
reason, where there is none.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import aiohttp

PROGRAMS = ("chromium", "google-chrome-stable", "google-chrome")
PATIENCE = 60.0  # seconds for one answer of the browser
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]
_KEYS = {  # text and code of keys with a name; another key is its own text
    "Enter": ("\r", 13),
    "Tab": ("\t", 9),
    "Escape": ("", 27),
    " ": (" ", 32),
    "ArrowLeft": ("", 37),
    "ArrowUp": ("", 38),
    "ArrowRight": ("", 39),
    "ArrowDown": ("", 40),
    "Home": ("", 36),
    "End": ("", 35),
}


class NoBrowser(Exception):
    """There is no chromium, or it does not start."""


class PageError(Exception):
    """The browser refused a command, or a script of the test raised."""


class Browser:
    """One chromium with a profile of its own; a thread of its own listens to it."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process, address = _started(self._profile)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}
        self._await(self._connect(address))

    def open(
        self, place: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> Page:
        """Open a file or an address in a new tab and wait until it is loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, target, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(dark)
        page.go(place.resolve().as_uri() if isinstance(place, Path) else place)
        return page

    def send(self, method: str, session: str | None = None, /, **arguments: Any) -> dict[str, Any]:
        """Send a command of the protocol and return its result."""
        return self._await(self._sent(method, session, arguments))

    def forget(self, session: str) -> None:
        """Drop the events of a closed tab."""
        self._pages.pop(session, None)

    def close(self) -> None:
        """End the browser, its thread and its profile."""
        with suppress(Exception):
            self.send("Browser.close")
        self._await(self._disconnect())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        _ended(self._process)
        self._profile.cleanup()

    def _await(self, work: Coroutine[Any, Any, Any]) -> Any:
        waiting: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return waiting.result(PATIENCE)

    async def _connect(self, address: str) -> None:
        self._client = aiohttp.ClientSession()
        self._socket = await self._client.ws_connect(address, max_msg_size=0)
        self._listener = asyncio.create_task(self._listen())

    async def _disconnect(self) -> None:
        self._listener.cancel()
        await asyncio.gather(self._listener, return_exceptions=True)
        await self._socket.close()
        await self._client.close()

    async def _listen(self) -> None:
        async for message in self._socket:
            event = message.json()
            if "id" in event:
                self._answers.pop(event["id"]).set_result(event)
            elif page := self._pages.get(event.get("sessionId", "")):
                page.on_event(event["method"], event["params"])
        for answer in self._answers.values():
            answer.set_exception(PageError("the browser has gone"))

    async def _sent(
        self, method: str, session: str | None, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": arguments}
        answer = self._answers[number] = self._loop.create_future()
        await self._socket.send_json(command | ({"sessionId": session} if session else {}))
        event = await answer
        if "error" in event:
            raise PageError(f"{method}: {event['error']['message']}")
        result: dict[str, Any] = event["result"]
        return result


class Page:
    """One tab: what it asked of the network, what it said, and the reader's hands."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session
        self._loaded = threading.Event()
        self.requests: list[str] = []  #: addresses asked for, the page's own among them
        self.messages: list[str] = []  #: console lines, exceptions and violations of the policy

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Send a command of the protocol to this tab."""
        return self._browser.send(method, self._session, **arguments)

    def on_event(self, method: str, event: dict[str, Any]) -> None:
        """Note what the tab did."""
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            words = [str(part.get("value", part.get("description"))) for part in event["args"]]
            self.messages.append(f"{event['type']}: {' '.join(words)}")
        elif method == "Runtime.exceptionThrown":
            self.messages.append(f"exception: {_exception(event['exceptionDetails'])}")
        elif method == "Log.entryAdded":
            self.messages.append(f"{event['entry']['level']}: {event['entry']['text']}")

    def go(self, address: str) -> None:
        """Load an address and wait for it."""
        self._loaded.clear()
        answer = self.send("Page.navigate", url=address)
        if "errorText" in answer:
            raise PageError(f"{address}: {answer['errorText']}")
        if not self._loaded.wait(PATIENCE):
            raise PageError(f"{address} did not load in {PATIENCE:g} s")

    def resize(self, width: int, height: int = 900) -> None:
        """Set the size of the window, in CSS pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, dark: bool) -> None:
        """Choose the reader's colour scheme."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, or of the promise that it gives."""
        answer = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise PageError(f"{script}: {_exception(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def wait_for(self, condition: str, seconds: float = 20) -> None:
        """Wait until an expression is true; the page looks after each frame."""
        script = f"""new Promise((resolve) => {{
            const end = performance.now() + {seconds * 1000};
            const look = () => ({condition}) ? resolve(true)
                : performance.now() > end ? resolve(false) : setTimeout(look, 10);
            look();
        }})"""
        if not self.evaluate(script):
            raise PageError(f"not true after {seconds:g} s: {condition}")

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that a CSS selector finds."""
        x, y = self.evaluate(f"""(() => {{
            const element = document.querySelector({selector!r});
            element.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        """Press and release the mouse at a point of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press and release a key by its name in JavaScript, such as Enter, Tab or n."""
        text, code = _KEYS.get(key, (key, ord(key[0].upper())))
        about = {"key": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    @property
    def scrolls_sideways(self) -> bool:
        """Whether the document is wider than the window."""
        root = "document.documentElement"
        return bool(self.evaluate(f"{root}.scrollWidth > {root}.clientWidth"))

    def screenshot(self, path: Path | None = None) -> bytes:
        """Return the whole page as PNG, and write it if there is a path."""
        answer = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        return _decoded(answer, path)

    def pdf(self, path: Path | None = None) -> bytes:
        """Print the page; return the PDF, and write it if there is a path."""
        return _decoded(self.send("Page.printToPDF", printBackground=True), path)

    def close(self) -> None:
        """Close the tab."""
        self._browser.forget(self._session)
        self._browser.send("Target.closeTarget", targetId=self._target)


def _started(
    profile: tempfile.TemporaryDirectory[str],
) -> tuple[subprocess.Popen[str], str]:
    """Start chromium and return it with the address on which it listens."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        profile.cleanup()
        raise NoBrowser(f"there is no {PROGRAMS[0]} here; on Debian: apt install {PROGRAMS[0]}")
    command = [program, *_FLAGS, f"--user-data-dir={profile.name}", "about:blank"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace",
    )  # fmt: skip
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("DevTools listening on "):
            threading.Thread(target=_drain, args=[process.stderr], daemon=True).start()
            return process, line.split()[-1]
    process.stderr.close()
    _ended(process)
    profile.cleanup()
    raise NoBrowser(f"{program} does not start: {' '.join(said)[-500:].strip()}")


def _ended(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _drain(pipe: IO[str]) -> None:
    """Read what the browser says until it ends, so that it never waits for a reader."""
    with pipe:
        for _ in pipe:
            pass


def _exception(details: dict[str, Any]) -> str:
    thrown = details.get("exception", {})
    return str(thrown.get("description") or thrown.get("value") or details["text"])


def _decoded(answer: dict[str, Any], path: Path | None) -> bytes:
    content = base64.b64decode(answer["data"])
    if path is not None:
        path.write_bytes(content)
    return content
