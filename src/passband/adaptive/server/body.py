"""Read the JSON body of a request, strictly and up to a limit; refuse what is not understood."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NoReturn

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from passband.generate import JsonMapping, JsonObject


class Refusal(Exception):
    """An answer other than 2xx: a status, its title, and a detail that says what to do."""

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def title(self) -> str:
        """The name of the status, which clients show before the detail."""
        return HTTPStatus(self.status).phrase

    def to_json(self) -> dict[str, object]:
        """Return the body that the protocol has for errors.

        >>> Refusal(404, "There is no run 'x'.").to_json()
        {'title': 'Not Found', 'detail': "There is no run 'x'.", 'status': 404}
        """
        return {"title": self.title, "detail": self.detail, "status": self.status}


def unknown(detail: str) -> Refusal:
    """Refuse a name that nothing is stored under."""
    return Refusal(404, detail)


def conflict(detail: str) -> Refusal:
    """Refuse what was right once, or will be, but is not now."""
    return Refusal(409, detail)


def invalid(detail: str) -> Refusal:
    """Refuse a request that can be read, and asks for what cannot be."""
    return Refusal(422, detail)


MOST_METADATA = 10_240  # bytes; the limit of the protocol
_SECONDS = 30.0  # for a body to arrive
_LONGEST = 10_000  # characters in a name or an id


async def read_fields(request: web.Request, most: int) -> Fields:
    """Read the body of a request, up to a limit in bytes."""
    reading = _read(request, most)
    try:
        if request.content.is_eof():  # all of it is here, so that nothing has to be waited for
            raw = await reading
        else:
            raw = await asyncio.wait_for(reading, _SECONDS)
    except asyncio.TimeoutError:
        raise Refusal(408, f"The body did not arrive within {_SECONDS:g} s.") from None
    except (web.RequestPayloadError, HttpProcessingError):
        raise Refusal(400, "The body is not encoded as its headers say.") from None
    value = parse(raw)
    if not isinstance(value, dict):
        raise Refusal(400, f"The body must be a JSON object, not {_kind(value)}.")
    return Fields(value)


async def _read(request: web.Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.content.iter_chunked(1 << 16):
        size += len(part)
        if size > most:
            raise Refusal(413, f"The body must be {most:,} bytes or less.")
        parts.append(part)
    return b"".join(parts)


def parse(raw: bytes) -> Any:
    """Parse JSON, refusing what JSON does not have: NaN, infinities, half of a surrogate pair."""
    try:
        text = raw.decode("utf-8")
        value = _DECODER.decode(text)
        if "\\u" in text:  # an escape may be half of a pair, which no text can hold
            to_json(value).encode("utf-8")
    except UnicodeError:
        raise Refusal(400, "The body is not UTF-8 text.") from None
    except RecursionError:
        raise Refusal(400, "The body is nested too deeply.") from None
    except ValueError as error:  # also an integer of thousands of digits
        raise Refusal(400, f"The body is not JSON: {str(error)[:200]}") from None
    return value


def to_json(value: Any) -> str:
    """Write JSON as the server keeps and sends it."""
    return _ENCODER.encode(value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Fields:
    """The fields of a request's body, or of an object in it; a wrong one is refused by name."""

    def __init__(self, values: JsonMapping, place: str = "") -> None:
        self._values = values
        self._place = place

    def text(self, name: str, most: int = _LONGEST) -> str:
        """Return a text that must be there and not be empty."""
        value = self.optional_text(name, most)
        if not value:
            raise invalid(f"{self._place}{name} is required, a text that is not empty.")
        return value

    def optional_text(self, name: str, most: int = _LONGEST) -> str | None:
        """Return a text, or None where there is none or null."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._wrong(name, "a text", value)
        if len(value) > most:
            raise invalid(f"{self._place}{name} must be {most:,} characters or less.")
        return value

    def optional_integer(self, name: str) -> int | None:
        """Return an integer, or None where there is none or null."""
        value = self._values.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._wrong(name, "an integer", value)
        return value

    def mapping(self, name: str) -> JsonObject:
        """Return an object, empty where there is none or null."""
        value = self._values.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return value

    def metadata(self) -> JsonObject:
        """Return the metadata of a run, which the protocol limits in size."""
        value = self.mapping("metadata")
        if len(to_json(value).encode("utf-8")) >= MOST_METADATA:
            raise Refusal(413, f"metadata size must be less than 10KB ({MOST_METADATA} bytes).")
        return value

    def objects(self, name: str) -> Sequence[Fields]:
        """Return a list of objects that must be there."""
        value = self._values.get(name)
        if not isinstance(value, list):
            raise self._wrong(name, "a list", value)
        for index, entry in enumerate(value):
            if not isinstance(entry, dict):
                raise self._wrong(f"{name}[{index}]", "an object", entry)
        return [
            Fields(entry, f"{self._place}{name}[{index}].") for index, entry in enumerate(value)
        ]

    def value(self, name: str) -> Any:
        """Return a field as it came; None where there is none."""
        return self._values.get(name)

    def _wrong(self, name: str, wanted: str, value: object) -> Refusal:
        return invalid(f"{self._place}{name} must be {wanted}, not {_kind(value)}.")


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    if value is None:
        return "null"
    return names.get(type(value)) or ("a list" if isinstance(value, list) else "an object")
