"""The models that a server says it serves: `GET /models` of the OpenAI protocol.

Many servers do not have the list, and some list every model of a gateway, so that a list says
which models there are and never that there is no other.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from passband.errors import InvalidInput
from passband.generate.provider import ProviderFault
from passband.generate.servers.http import endpoint_of, read_body
from passband.system import complete_anywhere

if TYPE_CHECKING:
    import aiohttp


_SECONDS = 5.0  # for the whole list


class ServedModel(NamedTuple):
    """A model in a server's list."""

    name: str
    root: str | None = None  # what it was loaded from, where the server says so


def served_models(url: str, *, seconds: float = _SECONDS) -> tuple[str, ...] | None:
    """Return the names of the models at a base URL; None if the server gives no list.

    A server that does not answer, refuses or has no such list gives None: what it serves is
    unknown. An address that is none raises `InvalidInput`.
    """
    served = complete_anywhere(_list_alone(url, seconds))
    return None if served is None else tuple(model.name for model in served)


async def _list_alone(url: str, seconds: float) -> tuple[ServedModel, ...] | None:
    import aiohttp

    key = os.environ.get("OPENAI_API_KEY", "").strip()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with aiohttp.ClientSession(headers=headers) as session:
        return await list_served(session, url, seconds=seconds)


async def list_served(
    session: aiohttp.ClientSession, url: str, *, seconds: float = _SECONDS
) -> tuple[ServedModel, ...] | None:
    """Return the models at a base URL; None if the server gives no list."""
    import aiohttp

    address = endpoint_of(url, "models")
    timeout = aiohttp.ClientTimeout(total=seconds)
    try:
        async with session.get(address, allow_redirects=False, timeout=timeout) as reply:
            return _models(await read_body(reply)) if reply.status == 200 else None
    except aiohttp.InvalidURL:
        raise InvalidInput(f"{address} is not an address.") from None
    except (aiohttp.ClientError, OSError, ValueError, asyncio.TimeoutError, ProviderFault):
        return None


def _models(body: bytes) -> tuple[ServedModel, ...] | None:
    """Return the models of a reply; None if it is not such a list.

    >>> _models(b'{"data": [{"id": "policy", "root": "/checkpoints/100"}, {"id": 7}]}')
    (ServedModel(name='policy', root='/checkpoints/100'),)
    >>> _models(b'{"data": []}') is None and _models(b'[1]') is None
    True
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return None
    entries: Any = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(entries, list):
        return None
    listed = [entry for entry in entries if isinstance(entry, dict)]
    models = [
        ServedModel(entry["id"], root if isinstance(root := entry.get("root"), str) else None)
        for entry in listed
        if isinstance(entry.get("id"), str)
    ]
    return tuple(models) or None
