"""Run the viewer: its sources, its port, the browser, and the signals that stop it."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import tempfile
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import get_args

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from passband.errors import InvalidInput, PassbandError
from passband.readers import Options, import_logs, is_several, read_logs
from passband.report import escape
from passband.stats import Over
from passband.stats.data import Outcomes
from passband.stats.interval import estimate
from passband.system import complete, until_signal
from passband.trials import is_run_directory
from passband.view.reading.run_index import RunIndex
from passband.view.server.app import View
from passband.view.server.guard import new_token

HOST = "127.0.0.1"
_PATIENCE = 1.0  # seconds for requests under way, once the viewer is to stop


def serve(sources: Sequence[Path], port: int, on_ready: Callable[[str], None]) -> None:
    """Show run directories until SIGINT or SIGTERM; `on_ready` is given the address."""
    _load_statistics()
    with open_index(sources) as index:
        complete(_serve(View(index, new_token(), [str(s) for s in sources]), port, on_ready))


def _load_statistics() -> None:
    """Import the statistics beforehand, which takes longer than any page."""
    outcomes = Outcomes.from_counts([0, 1, 2], 2)
    for over in get_args(Over):
        estimate(outcomes, ["pass@1", "pass^2"], over=over)
    gc.freeze()  # what is loaded stays; looking through it again and again would take half a page


@contextmanager
def open_index(sources: Sequence[Path]) -> Iterator[RunIndex]:
    """Return the index of the sources; logs of other tools are imported temporarily."""
    with tempfile.TemporaryDirectory(prefix="passband-view-") as name:
        roots, imported = list[Path](), dict[Path, str]()
        for number, source in enumerate(sources):
            if _is_log(source):
                directory = Path(name) / str(number)
                import_logs(read_logs(source, Options(texts=True)), directory)
                imported[directory] = source.name
            else:
                roots.append(source)
        yield RunIndex(roots, imported)


def _is_log(source: Path) -> bool:
    """Return whether a source must be imported; a missing folder must not."""
    if source.is_file():
        return True
    return source.is_dir() and not is_run_directory(source) and not is_several(source)


async def _serve(view: View, port: int, on_ready: Callable[[str], None]) -> None:
    async with running(view, port) as address:
        await until_signal(lambda: on_ready(address))


@asynccontextmanager
async def running(view: View, port: int = 0) -> AsyncIterator[str]:
    """Listen on this machine alone, for the time of a block; give the address."""
    runner = web.AppRunner(
        view.application(), access_log=None, handle_signals=False, shutdown_timeout=_PATIENCE,
        handler_cancellation=True, logger=_discreet_logger(),
    )  # fmt: skip
    await runner.setup()
    try:
        await _listen(runner, port)
        view.guard.listen_on(runner.addresses[0][1])
        yield f"http://{HOST}:{runner.addresses[0][1]}{view.home}"
    finally:
        await runner.cleanup()


def _discreet_logger() -> logging.Logger:
    """Return a logger without requests that cannot be read, which may have the token in them."""
    logger = logging.getLogger("passband.view.protocol")
    if not logger.filters:
        logger.addFilter(_is_ours)
    return logger


def _is_ours(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | ConnectionError)


async def _listen(runner: web.AppRunner, port: int) -> None:
    try:
        await web.TCPSite(runner, HOST, port).start()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PassbandError(f"cannot listen on port {port}: {reason}.") from None


def check_sources(sources: Sequence[Path]) -> None:
    """Raise `InvalidInput` for a source that does not exist."""
    for source in sources:
        if not source.exists():
            raise InvalidInput(f"{source} does not exist. Name a run directory, a folder of them, "
                               "or a log.")  # fmt: skip


def open_in_browser(address: str) -> bool:
    """Open an address; return whether there is a browser.

    The browser is given a file that only this user can read and that leads on to the address: the
    command line of a process can be read by everyone on a machine.
    """
    path = redirect_file(address)
    atexit.register(path.unlink, missing_ok=True)
    return webbrowser.open(path.as_uri())


def redirect_file(address: str) -> Path:
    """Return a new file, readable by this user alone, that leads to an address."""
    descriptor, name = tempfile.mkstemp(prefix="passband-view-", suffix=".html")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<title>passband view</title><a href="{escape(address)}">passband view</a>\n'
        )
    return Path(name)
