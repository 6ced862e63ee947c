"""Records of a log: one after another, each with its place, bad ones refused or counted.

    lines = Lines(path, options)
    for place, record in lines:
        with lines.checking(place):
            builder.add(record["id"], scores=...)
    return [builder.log(remarks=lines.remarks())]

`Lines` are those of a file in JSON lines, `Items` those of a list within a JSON document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import matching, parse_json, text_lines
from passband.readers.groups import Remark
from passband.readers.log_builder import Clash
from passband.readers.options import Options
from passband.stats.data import ROLES, SPLIT_BY

_NAMED = 5  # bad records that are named in a remark

Record = dict[str, Any]


class LeftOut:
    """Records that cannot be read: an error, or left out and counted."""

    noun = "line"

    def __init__(self, path: Path, options: Options) -> None:
        self._path = path
        self._skip_bad = options.skip_bad
        self._bad: dict[int, None] = {}  # numbers in order; a file may be read twice

    @contextmanager
    def checking(self, place: Place) -> Iterator[None]:
        """Refuse, or count, the record at a place if it raises `InvalidInput` in the block.

        A `Clash` is refused in any case: to leave out one of two records would be a choice.
        """
        try:
            yield
        except InvalidInput as error:
            if not self._skip_bad or isinstance(error, Clash):
                raise self._placed(error, place) from None
            self._bad[place.line] = None

    def is_bad(self, place: Place) -> bool:
        """Return whether the record at a place has been left out."""
        return place.line in self._bad

    def remarks(self) -> list[Remark]:
        """Return the remark on records that were left out, if any were."""
        if not self._bad:
            return []
        count, named = len(self._bad), [str(number) for number in islice(self._bad, _NAMED)]
        if count > _NAMED:
            named[-1:] = [f"{named[-1]}, ..."]
        elif count > 1:
            named[-2:] = [f"{named[-2]} and {named[-1]}"]
        noun = self.noun if count == 1 else f"{self.noun}s"
        text = f"left out {count} {noun} that cannot be read ({noun} {', '.join(named)})"
        return [Remark(text, important=True)]

    def _placed(self, error: InvalidInput, place: Place) -> InvalidInput:
        return InvalidInput(error.message, place=error.place or place)


class Lines(LeftOut):
    """The records of a file with one in each line, read as they are asked for."""

    def __iter__(self) -> Iterator[tuple[Place, Record]]:
        for place, line in text_lines(self._path):
            if place.line in self._bad:
                continue
            with self.checking(place):
                record = parse_json(line, place)
                if not isinstance(record, dict):
                    raise InvalidInput(f"every line must be a JSON object; got {line:.60}")
            if place.line not in self._bad:
                yield place, record


class Items(LeftOut):
    """The records of a list within a JSON document; the `line` of their place is their number."""

    noun = "item"

    def __init__(self, path: Path, options: Options, values: Sequence[Any]) -> None:
        super().__init__(path, options)
        self._values = values

    def __iter__(self) -> Iterator[tuple[Place, Record]]:
        for number, value in enumerate(self._values, start=1):
            place = Place(self._path, number)
            with self.checking(place):
                if not isinstance(value, dict):
                    raise InvalidInput(f"every item must be a JSON object; got {value!r:.60}.")
            if number not in self._bad:
                yield place, value

    def _placed(self, error: InvalidInput, place: Place) -> InvalidInput:
        return InvalidInput(f"{self._path}: item {place.line}: {error.message}")


def is_joined(record: Mapping[str, Any], *own: str) -> bool:
    """Return whether a line has columns that tell models, runs or trials apart.

    The tool itself writes none, apart from its `own`: such a file is read as a table, which splits
    by them.

    >>> is_joined({"task_id": "a", "passed": True}), is_joined({"task_id": "a", "model": "M"})
    (False, True)
    """
    return any(name not in own for name in matching(record, (*SPLIT_BY, *ROLES["trial"])))
