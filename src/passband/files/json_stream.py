"""A JSON document read piece by piece: the items of a long list one after another.

    text = JsonStream(text_chunks(path))
    for name in text.names():
        if name == "samples":
            for sample in text.items(): ...
        else:
            header[name] = text.value()

Only one value is in memory at a time. What is asked of each name is one of `value`, `items` and
`skip`, before the next name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from passband.errors import InvalidInput

LARGEST_VALUE = 1 << 30  # characters of one value that is held in memory
_SPACE = re.compile(r"[ \t\n\r]*")
_BEHIND = tuple(",]} \t\n\r")  # what can be behind a number
_DECODER = json.JSONDecoder()
_PARTIAL = 12  # characters at the end that may be the beginning of a word or an escape


class JsonStream:
    """A JSON text in pieces."""

    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks = iter(chunks)
        self._text = ""
        self._place = 0  # how much of the text has been taken

    def names(self) -> Iterator[str]:
        """Yield the names of the fields of an object; take the value of each before the next."""
        self._take("{", "an object")
        if self._next() == "}":
            self._place += 1
            return
        while True:
            name = self.value() if self._next() == '"' else self._fail("the name of a field")
            self._take(":", "a colon")
            yield name
            if not self._goes_on("}"):
                return

    def items(self) -> Iterator[Any]:
        """Yield the items of a list."""
        self._take("[", "a list")
        if self._next() == "]":
            self._place += 1
            return
        while True:
            yield self.value()
            if not self._goes_on("]"):
                return

    def value(self) -> Any:
        """Return the next value whole."""
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if not self._is_cut(error):
                    raise InvalidInput(f"is not JSON: {error.msg}.") from None
                if not self._grow():
                    raise InvalidInput(f"is cut off or not JSON: {error.msg}.") from None
            except (ValueError, RecursionError) as error:
                reason = str(error).partition(";")[0]
                raise InvalidInput(f"JSON too large or too deeply nested: {reason}.") from None
            else:
                if self._is_whole(end) or not self._grow():
                    self._place = end
                    return value

    def skip(self) -> None:
        """Pass over the next value; of a list, item by item."""
        if self._next() == "[":
            for _ in self.items():
                pass
        else:
            self.value()

    def is_list(self) -> bool:
        """Return whether the next value is a list."""
        return self._next() == "["

    def end(self) -> None:
        """Raise `InvalidInput` if anything but space follows."""
        if self._next():
            raise InvalidInput("is not JSON: there is more behind its end.")

    # -- steps -----------------------------------------------------------------------------

    def _next(self) -> str:
        """Pass over space, and return the next character; an empty text at the end."""
        while True:
            match = _SPACE.match(self._text, self._place)
            self._place = match.end() if match else self._place
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._grow():
                return ""

    def _take(self, mark: str, noun: str) -> None:
        if self._next() != mark:
            self._fail(noun)
        self._place += 1

    def _goes_on(self, end: str) -> bool:
        """Take the mark behind a value, and return whether another one follows."""
        mark = self._next()
        if mark not in (",", end) or not mark:
            self._fail(f"a comma or {end}")
        self._place += 1
        return mark == ","

    def _fail(self, noun: str) -> Any:
        got = self._text[self._place : self._place + 20]
        if not got:
            raise InvalidInput(f"is cut off: {noun} must follow, and nothing does.")
        raise InvalidInput(f"is not JSON: {noun} must follow; got {got!r}.")

    def _is_whole(self, end: int) -> bool:
        """Return whether a value that ends here cannot go on: 1 may be the beginning of 1.5."""
        return self._text[end - 1] in '}]"' or self._text[end : end + 1] in _BEHIND

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Return whether more text could make a value of what is not one."""
        return error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _PARTIAL

    def _grow(self) -> bool:
        """Append as much again as is left; return whether there was any."""
        rest = self._text[self._place :]
        if len(rest) > LARGEST_VALUE:
            raise InvalidInput(f"holds a value of more than {LARGEST_VALUE:,} characters.")
        pieces, length = [rest], 0
        for chunk in self._chunks:
            pieces.append(chunk)
            length += len(chunk)
            if length >= len(rest) and length:
                break
        self._text, self._place = "".join(pieces), 0
        return length > 0
