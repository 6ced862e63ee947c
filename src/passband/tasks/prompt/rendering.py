"""Templates rendered for many rows: here if they are simple, else in a worker process.

No list of checks covers everything that a template can build, so an untrusted template that is not
simple is rendered by a process with limits on memory and time. It gets its rows in batches, which
costs little more than rendering them here.

>>> renderer = Renderer(Template("Q: {{ question }}"))
>>> rows = [{"question": "2+2?"}, {"question": "3+3?"}]
>>> renderer.expect(rows)
>>> [renderer.render(row) for row in rows]
['Q: 2+2?', 'Q: 3+3?']
"""

from __future__ import annotations

import base64
import pickle
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from jinja2 import UndefinedError

from passband.errors import InvalidInput
from passband.score import WorkerFailed, WorkerTimeout, pool
from passband.tasks.prompt.template import (
    LARGEST_LOOPED_ROW,
    LARGEST_ROW,
    Template,
    fits,
    undefined,
)

Row = Mapping[str, Any]
Rendered = tuple[str | None, str]  # what kind of failure, if any, and the text or the message

RENDER_SECONDS = 5.0  # for one row
BATCH_ROWS = 256
BATCH_SECONDS = 1.0  # after which a worker replies with what it has
BATCH_CHARACTERS = 4_000_000  # the same
MOST_FAILURES = 3  # of the process itself, before no more rows of a template are tried


class Renderer:
    """One template of a task, rendered row by row in any order."""

    def __init__(self, template: Template, *, trusted: bool = False) -> None:
        self._template = template
        self._is_here = trusted
        self._largest = LARGEST_LOOPED_ROW if template.has_loop else LARGEST_ROW
        self._expected: dict[int, Row] = {}  # by identity, which holds while they are kept
        self._rendered: dict[int, tuple[Row, Rendered]] = {}
        self._alone = 0  # rows to be sent one by one, because one of them ends its process
        self._failures: list[str] = []

    @property
    def is_here(self) -> bool:
        """Whether ordinary rows are rendered in this process."""
        return self._is_here or self._template.is_simple

    def expect(self, rows: Iterable[Row]) -> None:
        """Note the rows that will be rendered next, so that they can go to a worker together."""
        self._rendered = {}
        self._expected = {} if self._is_here else {id(row): row for row in rows}

    def render(self, row: Row) -> str:
        """Return the text for a row; raise `InvalidInput` if there is none."""
        if self._is_here or (
            self._template.is_simple and fits(row, self._template.read_by(row), self._largest)
        ):
            return self._template.render(row)
        if id(row) not in self._rendered:
            self._fetch(row)
        _, (failure, text) = self._rendered.pop(id(row))
        if failure is None:
            return text
        raise InvalidInput(undefined(text, row) if failure == "undefined" else text)

    def _fetch(self, row: Row) -> None:
        """Render a row, and those expected after it as far as they fit into one reply."""
        self._expected.pop(id(row), None)
        further = () if self._alone else islice(self._expected.values(), BATCH_ROWS - 1)
        batch = [row, *further]
        for sent, rendered in zip(batch, self._replies(batch), strict=False):
            self._expected.pop(id(sent), None)
            self._rendered[id(sent)] = (sent, rendered)

    def _replies(self, batch: list[Row]) -> list[Rendered]:
        """Return what became of the rows, of the first at least."""
        if len(self._failures) >= MOST_FAILURES:
            return [("failed", self._failures[-1])]
        try:
            replies = self._call(batch)
            self._alone = max(0, self._alone - 1)
            return replies
        except (WorkerTimeout, WorkerFailed) as error:
            if len(batch) > 1:
                self._alone = len(batch)
                return self._replies(batch[:1])
            is_timeout = isinstance(error, WorkerTimeout)
            reason = f"took longer than {RENDER_SECONDS:g} s" if is_timeout else f"failed: {error}"
            self._failures.append(f"the template {reason}.")
            return [("failed", self._failures[-1])]

    def _call(self, batch: list[Row]) -> list[Rendered]:
        rows = [
            {name: row[name] for name in self._template.read_by(row) if name in row}
            for row in batch
        ]
        try:
            data = base64.b64encode(pickle.dumps(rows)).decode()
        except Exception as error:
            raise InvalidInput(f"a value of the row is not plain data: {error}.") from None
        seconds = RENDER_SECONDS + (BATCH_SECONDS if len(batch) > 1 else 0)
        replies = pool.call("render", [self._template.source, data], seconds=seconds)
        return [(failure, text) for failure, text in replies]


# -- in the worker -------------------------------------------------------------------------


def render_here(source: str, data: str) -> list[Rendered]:
    """Render a template for the first rows, until time or space for one reply is used up."""
    replies: list[Rendered] = []
    length, began = 0, time.monotonic()
    for row in pickle.loads(base64.b64decode(data)):
        replies.append(_reply(source, row))
        length += len(replies[-1][1])
        if length > BATCH_CHARACTERS or time.monotonic() - began > BATCH_SECONDS:
            break
    return replies


def _reply(source: str, row: Row) -> Rendered:
    try:
        return None, _template(source).write(row)
    except UndefinedError as error:
        return "undefined", str(error.message)
    except InvalidInput as error:
        return "failed", str(error)


@lru_cache(maxsize=64)
def _template(source: str) -> Template:
    return Template(source, killable=True)


def warm_up() -> None:
    """Compile and render something, so that no template's time limit includes the imports."""
    for source in ("{% for a in b %}{{ a }}{% endfor %}", "{{ b | map('string') | join('-') }}"):
        _template(source).write({"b": [1, 2]})
