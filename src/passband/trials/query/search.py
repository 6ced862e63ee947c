"""Search for a text in the completions of a run, some rows at a time.

The slowest and the longest trials of a run, found by reading its narrow rows once.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from passband.trials.encoding import decoded
from passband.trials.file.checked_rows import CheckedRows

_TOGETHER = 1_000  # completions
_BODIES = (
    "SELECT id, run, problem, trial, codec, text, reasoning, transcript FROM body "
    "WHERE id>? ORDER BY id LIMIT ?"
)
_OWNER = "SELECT 1 FROM trial WHERE run=? AND problem=? AND trial=? AND body=?"
_AROUND = 60  # characters before and after what is found


class SearchHit(NamedTuple):
    """A trial whose completion has the text, and the text around it."""

    problem: int
    trial: int
    before: str
    text: str
    after: str


@dataclass(frozen=True)
class Stretch:
    """Some rows that have been searched."""

    last: int  #: the number of the last row; the next stretch begins after it
    searched: int  #: completions of this run among them
    found: tuple[SearchHit, ...]


class Search:
    """Finds a text, whatever its case, in what a model wrote: answers, reasoning, transcripts.

    Texts come in the order in which they were stored. What is damaged is left out here; reading
    the trial says so.
    """

    def __init__(self, rows: CheckedRows, run: int, text: str) -> None:
        self._rows, self._run = rows, run
        self._text = text.casefold()

    def stretch(self, after: int = 0, most: int = _TOGETHER) -> Stretch | None:
        """Search the rows after a number; None where there are no more."""
        rows = list(self._rows.each(_BODIES, after, most))
        if not rows:
            return None
        searched = [row for row in rows if row[1] == self._run]
        return Stretch(rows[-1][0], len(searched), tuple(self._found(searched)))

    def _found(self, rows: list[tuple[Any, ...]]) -> Iterator[SearchHit]:
        for number, run, problem, trial, codec, *texts in rows:
            for data in texts:
                found = None if data is None else self._excerpt(codec, data)
                place = run, problem, trial, number
                if found is not None and any(True for _ in self._rows.each(_OWNER, *place)):
                    yield SearchHit(problem, trial, *found)
                    break

    def _excerpt(self, codec: int, data: bytes) -> tuple[str, str, str] | None:
        try:
            text = decoded(codec, data) or ""
        except (ValueError, zlib.error):
            return None
        start = _position(text, self._text)
        if start < 0:
            return None
        end = start + len(self._text)
        return text[max(0, start - _AROUND) : start], text[start:end], text[end : end + _AROUND]


def _position(text: str, wanted: str) -> int:
    """Return where a text has what is wanted, -1 where it does not.

    >>> _position("The ANSWER is 4", "answer"), _position("Straße 7", "7"), _position("a", "b")
    (4, 7, -1)
    """
    folded = text.casefold()
    start = folded.find(wanted)
    if start < 0 or len(folded) == len(text):
        return start
    lengths = accumulate(len(character.casefold()) for character in text)
    return next(place for place, end in enumerate(lengths) if end > start)


Column = Literal["latency_ms", "completion_tokens"]


class Extreme(NamedTuple):
    """A trial, and how large it is."""

    problem: int
    trial: int
    size: int


def largest(rows: CheckedRows, run: int, column: Column, most: int) -> list[Extreme]:
    """Return the trials with the largest value of a column, the largest first.

    SQLite keeps no more than these while it reads: no index is made, and nothing is written.
    """
    query = (
        f"SELECT problem, trial, {column} FROM trial WHERE run=? AND {column} IS NOT NULL "
        f"ORDER BY {column} DESC, problem, trial LIMIT ?"
    )
    return [Extreme(*row) for row in rows.each(query, run, most)]
