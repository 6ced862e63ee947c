"""The viewer as a web application: addresses, what each of them shows, and what goes wrong.

Numbers that move: what has changed on a page, sent while it is open.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import TypeAlias, TypeVar

from aiohttp import web

from passband.errors import InvalidInput, PassbandError, describe
from passband.readers import Groups
from passband.summary import ComparisonOptions, ComparisonSummary, compare_models, compared_models
from passband.trials import CorruptStore, RunRecord, TrialPlace
from passband.view import questions
from passband.view.cards import Cards
from passband.view.desk import Desks, Reading
from passband.view.guard import HEADERS, Guard, Refused
from passband.view.here import Here
from passband.view.links import NO_PAGE, Links, parse_number, parse_place
from passband.view.moment import numbers_of_page, numbers_sometimes
from passband.view.pages import comparison, failure, run, runs, search, strip, trial, trials
from passband.view.scans import Extremes, Scans
from passband.view.shelf import Folder, Shelf, UnknownRun

Look: TypeAlias = Callable[[], Awaitable[Mapping[str, str] | None]]
_logger = logging.getLogger("passband.view")
_QUIET = 15  # looks without a change, after which a line says that the server is there


class Pulse:
    """The time between two looks, and the end of all of them."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self._stop = asyncio.Event()

    async def wait(self) -> bool:
        """Wait for the next look; return whether there is one."""
        try:
            await asyncio.wait_for(self._stop.wait(), self._seconds)
        except asyncio.TimeoutError:
            return True
        return False

    def stop(self) -> None:
        """Let no other look come."""
        self._stop.set()


async def send_changes(request: web.Request, look: Look, pulse: Pulse) -> web.StreamResponse:
    """Send texts by their places, at first all of them, then those that have changed.

    None from `look` says that there is nothing to look at any more.
    """
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    with sending(request):
        await _send_changes(response, look, pulse)
    return response


async def _send_changes(response: web.StreamResponse, look: Look, pulse: Pulse) -> None:
    sent: dict[str, str] = {}
    quiet = 0
    while True:
        texts = await look()
        if texts is None:
            await response.write(b"event: gone\ndata: {}\n\n")
            break
        changed = {key: text for key, text in texts.items() if sent.get(key) != text}
        quiet = 0 if changed else quiet + 1
        if changed:
            await response.write(f"data: {json.dumps(changed)}\n\n".encode())
            sent |= changed
        elif quiet % _QUIET == 0:
            await response.write(b": still here\n\n")
        if not await pulse.wait():
            break


@contextmanager
def sending(request: web.Request) -> Iterator[None]:
    """End the connection where a block fails that sends an answer piece by piece.

    No page can say so any more; the terminal does, unless it is only that nobody listens.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, ConnectionError):
            _logger.error("a page failed: %s", describe(error), exc_info=error)
        if request.transport is not None:
            request.transport.abort()


T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Question = Callable[[Reading, Here, RunRecord], T]
_logger_app = logging.getLogger("passband.view")


class View:
    """Everything that answers requests: names, connections, scans and pages."""

    def __init__(
        self, shelf: Shelf, token: str, roots: Sequence[str] = (), *, pulse: float = 1.0
    ) -> None:
        self.guard = Guard(token)
        self._links, self._shelf, self._roots = Links(token), shelf, roots
        self._desks, self._scans = Desks(), Scans()
        self._cards = Cards(self._desks)
        self._pulse = Pulse(pulse)

    @property
    def home(self) -> str:
        """The path of the first page."""
        return self._links.home

    def application(self) -> web.Application:
        """Return the application; it closes what is open when it ends."""
        app = web.Application(middlewares=[self._middleware])
        app.on_response_prepare.append(_add_headers)
        app.on_shutdown.append(self._stop)
        app.on_cleanup.append(self._close)
        one = "/{token}/runs/{folder}/{run}"
        routes: Mapping[str, Handler] = {
            "/{token}/": self._runs,
            "/{token}/events": self._runs_events,
            "/{token}/compare": self._comparison,
            one: self._run,
            f"{one}/events": self._run_events,
            f"{one}/trials": self._trials,
            f"{one}/search": self._search,
            f"{one}/problems": self._problems,
            f"{one}/problem/{{problem}}": self._problem,
            f"{one}/problem/{{problem}}/trial/{{trial}}": self._trial,
            f"{one}/problem/{{problem}}/trial/{{trial}}/text": self._text,
            f"{one}/problem/{{problem}}/diff/{{first}}/{{second}}": self._difference,
        }
        for path, handler in routes.items():
            app.router.add_get(path, handler)
        return app

    async def _stop(self, app: web.Application) -> None:
        self._pulse.stop()

    async def _close(self, app: web.Application) -> None:
        self._desks.close()
        self._scans.close()

    # -- errors ----------------------------------------------------------------------------

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check a request, answer it, and say what is wrong where that fails."""
        try:
            self.guard.check(request)
            return await handler(request)
        except Exception as error:
            return self._explained(error)

    def _explained(self, error: Exception) -> web.Response:
        """Return the page that says what is wrong."""
        if isinstance(error, Refused):
            return _page(failure.plain_page("Not here", error.reason), error.status)
        if isinstance(error, web.HTTPException):
            return self._failure("There is no such page", NO_PAGE, error.status)
        if isinstance(error, UnknownRun):
            reason = "It was never there, or has been moved or deleted."
            return self._failure("There is no such run", reason, 404)
        if isinstance(error, CorruptStore):
            return self._failure("This run directory is damaged", error, 500)
        if isinstance(error, InvalidInput):
            return self._failure("This cannot be shown", error, 400)
        if isinstance(error, PassbandError | OSError):
            return self._failure("This cannot be read", error, 500)
        _logger_app.error("a page failed: %s", describe(error), exc_info=error)
        return self._failure("The viewer failed", "The terminal says why.", 500)

    def _failure(self, title: str, error: object, status: int) -> web.Response:
        return _page(failure.failure_page(self._links, title, error), status)

    # -- readings --------------------------------------------------------------------------

    async def _ask(self, request: web.Request, question: Question[T]) -> T:
        """Answer a question on the run that an address names."""
        return await self._ask_of(*_run_of(request), question)

    async def _ask_of(self, name: str, number: int, question: Question[T]) -> T:
        folder = self._shelf.folder(name)

        def answer(reading: Reading) -> T:
            record = questions.record(reading, number)
            return question(reading, Here.of(self._links, folder, record), record)

        return await self._desks.of(folder).ask(answer)

    # -- runs ------------------------------------------------------------------------------

    def _some_folders(self, request: web.Request) -> tuple[list[Folder], int, int]:
        folders = self._shelf.folders()
        start = min(_whole(request, "start"), max(0, len(folders) - 1))
        return folders[start : start + runs.RUNS_A_PAGE], start, len(folders)

    async def _runs(self, request: web.Request) -> web.Response:
        folders, start, total = self._some_folders(request)
        cards = await self._cards.of(folders)
        return _page(runs.runs_page(cards, self._links, self._roots, start, total))

    async def _runs_events(self, request: web.Request) -> web.StreamResponse:
        async def look() -> Mapping[str, str]:
            cards = await self._cards.of(self._some_folders(request)[0])
            texts = {key: text for card in cards for key, text in runs.card_texts(card).items()}
            return {**texts, "runs": runs.runs_key(cards)}

        return await send_changes(request, look, self._pulse)

    async def _run(self, request: web.Request) -> web.Response:
        def question(reading: Reading, here: Here, record: RunRecord) -> tuple[str, Here, int]:
            text = run.run_page(
                here,
                numbers_of_page(reading, record),
                questions.rates(reading, record),
                questions.some_trials(reading, here, record, "all"),
                questions.filter_counts(reading, record),
            )
            return text, here, reading.trials.commits

        text, here, commits = await self._ask(request, question)
        for column in questions.COLUMNS.values():  # read before anyone asks for them
            self._scans.prepare(here.folder, here.number, column, commits)
        return _page(text)

    async def _run_events(self, request: web.Request) -> web.StreamResponse:
        async def look() -> Mapping[str, str] | None:
            try:
                return await self._ask(
                    request,
                    lambda reading, _, record: run.run_texts(numbers_sometimes(reading, record)),
                )
            except (UnknownRun, PassbandError):
                return None

        return await send_changes(request, look, self._pulse)

    async def _comparison(self, request: web.Request) -> web.Response:
        names = [request.query.get(field, "").rpartition("/") for field in ("a", "b")]
        if names[0] == names[1]:
            raise InvalidInput("these are the same; a run cannot be compared with itself.")
        alone = names[0][0] == names[1][0]  # of one directory: tasks set them apart
        sides, readings = [], []
        for name, _, number in names:
            side, groups = await self._ask_of(
                name,
                parse_number(number),
                lambda reading, here, record: (
                    comparison.Side(here, reading.trials.numbers(record.number)),
                    questions.groups_for(
                        reading, here, record, here.task if alone else here.folder.label
                    ),
                ),
            )
            sides.append(side)
            readings.append(groups)
        summary = await asyncio.to_thread(_compared, readings)
        return _page(comparison.comparison_page(self._links, (sides[0], sides[1]), summary))

    # -- trials ----------------------------------------------------------------------------

    async def _trials(self, request: web.Request) -> web.Response:
        show = request.query.get("show", "all")
        after, before = (parse_place(request.query.get(key)) for key in ("after", "before"))
        extremes = await self._extremes(request, show) if show in questions.COLUMNS else None

        def question(reading: Reading, here: Here, record: RunRecord) -> str:
            counts = questions.filter_counts(reading, record)
            if show in questions.COLUMNS:
                start = _whole(request, "start")
                some = questions.ranked_trials(reading, here, record, show, extremes, start)
            else:
                some = questions.some_trials(reading, here, record, show, after, before)
            return trials.trials_page(here, some, counts)

        return _page(await self._ask(request, question))

    async def _extremes(self, request: web.Request, show: str) -> Extremes | None:
        name, number = _run_of(request)
        commits = await self._ask(request, lambda reading, *_: reading.trials.commits)
        column = questions.COLUMNS[show]
        return await self._scans.extremes(self._shelf.folder(name), number, column, commits)

    async def _search(self, request: web.Request) -> web.StreamResponse:
        text = request.query.get("q", "").strip()
        here, keys = await self._ask(
            request,
            lambda reading, here, record: (here, reading.trials.numbers(record.number)),
        )
        if not text:
            return _page(search.search_start(here, text) + search.search_end(0, 0))
        names = {number: key for key, number in keys.items()}
        response = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8"})
        await response.prepare(request)
        with sending(request):
            await response.write(search.search_start(here, text).encode())
            await self._send_found(response, here, names, text)
        return response

    async def _send_found(
        self, response: web.StreamResponse, here: Here, names: Mapping[int, str], text: str
    ) -> None:
        """Send what a search finds, as it finds it."""
        found = searched = 0
        damage: PassbandError | None = None
        try:
            async with aclosing(self._scans.search(here.folder, here.number, text)) as hits:
                async for some in hits:
                    searched += some.searched
                    shown = some.found[: search.MOST_FOUND - found]
                    rows = [search.search_row(here, one, names) for one in shown]
                    await response.write("".join(rows).encode())
                    found += len(shown)
                    if found >= search.MOST_FOUND:
                        break
        except PassbandError as error:
            damage = error
        await response.write(search.search_end(found, searched, damage).encode())

    async def _problems(self, request: web.Request) -> web.Response:
        start = _whole(request, "start")
        text = await self._ask(
            request,
            lambda reading, here, record: strip.problems_page(
                here, questions.rates(reading, record), start
            ),
        )
        return _page(text)

    async def _problem(self, request: web.Request) -> web.Response:
        number = _in_path(request, "problem")
        after = _whole(request, "after") if "after" in request.query else None

        def question(reading: Reading, here: Here, record: RunRecord) -> str:
            shown = questions.problem(reading, record, number)
            some = questions.problem_trials(reading, here, record, number, after)
            return trial.problem_page(here, number, shown, some)

        return _page(await self._ask(request, question))

    async def _trial(self, request: web.Request) -> web.Response:
        place, show = _place_of(request), request.query.get("show", "all")

        def question(reading: Reading, here: Here, record: RunRecord) -> str:
            return trial.trial_page(here, questions.trial(reading, record, place, show))

        return _page(await self._ask(request, question))

    async def _text(self, request: web.Request) -> web.Response:
        place, part = _place_of(request), _whole(request, "part")

        def question(reading: Reading, here: Here, record: RunRecord) -> str:
            shown = questions.trial(reading, record, place, "all").shown
            return trial.text_page(here, place, questions.readable(shown), part)

        return _page(await self._ask(request, question))

    async def _difference(self, request: web.Request) -> web.Response:
        number = _in_path(request, "problem")
        numbers = _in_path(request, "first"), _in_path(request, "second")

        def question(reading: Reading, here: Here, record: RunRecord) -> str:
            pair = questions.pair(reading, record, number, numbers)
            return trial.difference_page(here, number, *pair)

        return _page(await self._ask(request, question))


def _compared(readings: Sequence[Groups]) -> ComparisonSummary:
    options = ComparisonOptions(settle=True)
    return compare_models(compared_models(readings, options), options)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _page(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html")


def _run_of(request: web.Request) -> tuple[str, int]:
    return request.match_info["folder"], _in_path(request, "run")


def _place_of(request: web.Request) -> TrialPlace:
    return TrialPlace(_in_path(request, "problem"), _in_path(request, "trial"))


def _in_path(request: web.Request, key: str) -> int:
    return parse_number(request.match_info[key])


def _whole(request: web.Request, key: str) -> int:
    return parse_number(request.query.get(key, "0"))
