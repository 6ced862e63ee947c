"""Route requests to pages, send changes to open pages, and map errors to responses."""

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
from passband.trials import CorruptStore, RunRecord, TrialId
from passband.view import page_frame
from passband.view.links import NO_PAGE, Links, parse_number, parse_place
from passband.view.page_context import RunPage
from passband.view.pages import comparison, run, runs, strip, trial, trials
from passband.view.reading import queries
from passband.view.reading.cards import Cards
from passband.view.reading.run_figures import page_figures, throttled_figures
from passband.view.reading.run_index import RunFolder, RunIndex, UnknownRun
from passband.view.reading.run_reader import RunReaders, RunSnapshot
from passband.view.reading.scans import Extremes, Scans
from passband.view.server.guard import HEADERS, RequestGuard, RequestRefused

Poll: TypeAlias = Callable[[], Awaitable[Mapping[str, str] | None]]
_logger = logging.getLogger("passband.view")
_QUIET = 15  # polls without a change before a comment keeps the connection alive


class Pulse:
    """The time between two polls, and the end of all of them."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self._stop = asyncio.Event()

    async def wait(self) -> bool:
        """Wait for the next poll; return whether there is one."""
        try:
            await asyncio.wait_for(self._stop.wait(), self._seconds)
        except asyncio.TimeoutError:
            return True
        return False

    def stop(self) -> None:
        """End polling."""
        self._stop.set()


async def send_changes(request: web.Request, poll: Poll, pulse: Pulse) -> web.StreamResponse:
    """Send texts by their elements, first all of them, then the changed ones.

    None from `poll` ends the stream: the page is gone.
    """
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    with sending(request):
        await _send_changes(response, poll, pulse)
    return response


async def _send_changes(response: web.StreamResponse, poll: Poll, pulse: Pulse) -> None:
    sent: dict[str, str] = {}
    quiet = 0
    while True:
        texts = await poll()
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
Question = Callable[[RunSnapshot, RunPage, RunRecord], T]


class View:
    """Everything that answers requests: names, connections, scans and pages."""

    def __init__(
        self, index: RunIndex, token: str, roots: Sequence[str] = (), *, pulse: float = 1.0
    ) -> None:
        self.guard = RequestGuard(token)
        self._links, self._index, self._roots = Links(token), index, roots
        self._readers, self._scans = RunReaders(), Scans()
        self._cards = Cards(self._readers)
        self._pulse = Pulse(pulse)

    @property
    def home(self) -> str:
        """The path of the first page."""
        return self._links.home

    def application(self) -> web.Application:
        """Return the application, which closes its connections when it ends."""
        app = web.Application(middlewares=[self._middleware])
        app.on_response_prepare.append(_add_headers)
        app.on_shutdown.append(self._stop)
        app.on_cleanup.append(self._close)
        run = "/{token}/runs/{folder}/{run}"
        routes: Mapping[str, Handler] = {
            "/{token}/": self._runs,
            "/{token}/events": self._runs_events,
            "/{token}/compare": self._comparison,
            run: self._run,
            f"{run}/events": self._run_events,
            f"{run}/trials": self._trials,
            f"{run}/search": self._search,
            f"{run}/problems": self._problems,
            f"{run}/problem/{{problem}}": self._problem,
            f"{run}/problem/{{problem}}/trial/{{trial}}": self._trial,
            f"{run}/problem/{{problem}}/trial/{{trial}}/text": self._text,
            f"{run}/problem/{{problem}}/diff/{{first}}/{{second}}": self._difference,
        }
        for path, handler in routes.items():
            app.router.add_get(path, handler)
        return app

    async def _stop(self, app: web.Application) -> None:
        self._pulse.stop()

    async def _close(self, app: web.Application) -> None:
        self._readers.close()
        self._scans.close()

    # -- errors ----------------------------------------------------------------------------

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check and answer a request; a failure becomes a page."""
        try:
            self.guard.check(request)
            return await handler(request)
        except Exception as error:
            return self._explained(error)

    def _explained(self, error: Exception) -> web.Response:
        """Return the page for an error."""
        if isinstance(error, RequestRefused):
            return _page(page_frame.plain_page("Not here", error.reason), error.status)
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
        _logger.error("a page failed: %s", describe(error), exc_info=error)
        return self._failure("The viewer failed", "The terminal says why.", 500)

    def _failure(self, title: str, error: object, status: int) -> web.Response:
        return _page(page_frame.failure_page(self._links, title, error), status)

    # -- readings --------------------------------------------------------------------------

    async def _ask(self, request: web.Request, question: Question[T]) -> T:
        """Answer a question on the run that an address names."""
        return await self._ask_of(*_run_of(request), question)

    async def _ask_of(self, name: str, number: int, question: Question[T]) -> T:
        folder = self._index.folder(name)

        def answer(reading: RunSnapshot) -> T:
            record = queries.record(reading, number)
            return question(reading, RunPage.of(self._links, folder, record), record)

        return await self._readers.of(folder).ask(answer)

    # -- runs ------------------------------------------------------------------------------

    def _some_folders(self, request: web.Request) -> tuple[list[RunFolder], int, int]:
        folders = self._index.folders()
        start = min(_whole(request, "start"), max(0, len(folders) - 1))
        return folders[start : start + runs.RUNS_A_PAGE], start, len(folders)

    async def _runs(self, request: web.Request) -> web.Response:
        folders, start, total = self._some_folders(request)
        cards = await self._cards.of(folders)
        return _page(runs.runs_page(cards, self._links, self._roots, start, total))

    async def _runs_events(self, request: web.Request) -> web.StreamResponse:
        async def poll() -> Mapping[str, str]:
            cards = await self._cards.of(self._some_folders(request)[0])
            texts = {key: text for card in cards for key, text in runs.card_texts(card).items()}
            return {**texts, "runs": runs.runs_key(cards)}

        return await send_changes(request, poll, self._pulse)

    async def _run(self, request: web.Request) -> web.Response:
        def question(
            reading: RunSnapshot, here: RunPage, record: RunRecord
        ) -> tuple[str, RunPage, int]:
            text = run.run_page(
                here,
                page_figures(reading, record),
                queries.rates(reading, record),
                queries.some_trials(reading, here, record, "all"),
                queries.filter_counts(reading, record),
            )
            return text, here, reading.trials.commits

        text, here, commits = await self._ask(request, question)
        for column in queries.COLUMNS.values():  # read before anyone asks for them
            self._scans.prepare(here.folder, here.number, column, commits)
        return _page(text)

    async def _run_events(self, request: web.Request) -> web.StreamResponse:
        async def poll() -> Mapping[str, str] | None:
            try:
                return await self._ask(
                    request,
                    lambda reading, _, record: run.run_texts(throttled_figures(reading, record)),
                )
            except (UnknownRun, PassbandError):
                return None

        return await send_changes(request, poll, self._pulse)

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
                    queries.groups_for(
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
        extremes = await self._extremes(request, show) if show in queries.COLUMNS else None

        def question(reading: RunSnapshot, here: RunPage, record: RunRecord) -> str:
            counts = queries.filter_counts(reading, record)
            if show in queries.COLUMNS:
                start = _whole(request, "start")
                some = queries.ranked_trials(reading, here, record, show, extremes, start)
            else:
                some = queries.some_trials(reading, here, record, show, after, before)
            return trials.trials_page(here, some, counts)

        return _page(await self._ask(request, question))

    async def _extremes(self, request: web.Request, show: str) -> Extremes | None:
        name, number = _run_of(request)
        commits = await self._ask(request, lambda reading, *_: reading.trials.commits)
        column = queries.COLUMNS[show]
        return await self._scans.extremes(self._index.folder(name), number, column, commits)

    async def _search(self, request: web.Request) -> web.StreamResponse:
        text = request.query.get("q", "").strip()
        here, keys = await self._ask(
            request,
            lambda reading, here, record: (here, reading.trials.numbers(record.number)),
        )
        if not text:
            return _page(trials.search_start(here, text) + trials.search_end(0, 0))
        names = {number: key for key, number in keys.items()}
        response = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8"})
        await response.prepare(request)
        with sending(request):
            await response.write(trials.search_start(here, text).encode())
            await self._send_found(response, here, names, text)
        return response

    async def _send_found(
        self, response: web.StreamResponse, here: RunPage, names: Mapping[int, str], text: str
    ) -> None:
        """Send the matches of a search as they come."""
        matches = searched = 0
        damage: PassbandError | None = None
        try:
            async with aclosing(self._scans.search(here.folder, here.number, text)) as hits:
                async for batch in hits:
                    searched += batch.searched
                    shown = batch.found[: trials.MOST_FOUND - matches]
                    rows = [trials.search_row(here, match, names) for match in shown]
                    await response.write("".join(rows).encode())
                    matches += len(shown)
                    if matches >= trials.MOST_FOUND:
                        break
        except PassbandError as error:
            damage = error
        await response.write(trials.search_end(matches, searched, damage).encode())

    async def _problems(self, request: web.Request) -> web.Response:
        start = _whole(request, "start")
        text = await self._ask(
            request,
            lambda reading, here, record: strip.problems_page(
                here, queries.rates(reading, record), start
            ),
        )
        return _page(text)

    async def _problem(self, request: web.Request) -> web.Response:
        number = _in_path(request, "problem")
        after = _whole(request, "after") if "after" in request.query else None

        def question(reading: RunSnapshot, here: RunPage, record: RunRecord) -> str:
            shown = queries.problem(reading, record, number)
            some = queries.problem_trials(reading, here, record, number, after)
            return trial.problem_page(here, number, shown, some)

        return _page(await self._ask(request, question))

    async def _trial(self, request: web.Request) -> web.Response:
        place, show = _place_of(request), request.query.get("show", "all")

        def question(reading: RunSnapshot, here: RunPage, record: RunRecord) -> str:
            return trial.trial_page(here, queries.trial(reading, record, place, show))

        return _page(await self._ask(request, question))

    async def _text(self, request: web.Request) -> web.Response:
        place, part = _place_of(request), _whole(request, "part")

        def question(reading: RunSnapshot, here: RunPage, record: RunRecord) -> str:
            return trial.text_page(here, place, queries.trial_text(reading, record, place), part)

        return _page(await self._ask(request, question))

    async def _difference(self, request: web.Request) -> web.Response:
        number = _in_path(request, "problem")
        numbers = _in_path(request, "first"), _in_path(request, "second")

        def question(reading: RunSnapshot, here: RunPage, record: RunRecord) -> str:
            pair = queries.pair(reading, record, number, numbers)
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


def _place_of(request: web.Request) -> TrialId:
    return TrialId(_in_path(request, "problem"), _in_path(request, "trial"))


def _in_path(request: web.Request, key: str) -> int:
    return parse_number(request.match_info[key])


def _whole(request: web.Request, key: str) -> int:
    return parse_number(request.query.get(key, "0"))
