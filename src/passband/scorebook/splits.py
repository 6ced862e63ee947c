"""Resolve the split of an adaptive data set by the list of its engine."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from passband.adaptive import FALLBACK, TrismikClient, parse_dataset, resolve_split
from passband.scorebook.client import BankClient
from passband.system import complete, is_inside_a_loop


class InfoClient(Protocol):
    """Anything that knows the splits of data sets, at once or when awaited."""

    def get_dataset_info(self, dataset_id: str) -> Any:
        """Return something that has `splits`."""
        ...


async def resolve_split_async(
    dataset: str,
    split: str | None,
    client: InfoClient,
    order: Sequence[str] = FALLBACK,
) -> str:
    """Return the split to use, asking a client which there are.

    A split that was named must exist; without one, the first of `order` that does is used.
    """
    name = parse_dataset(dataset)
    info = client.get_dataset_info(name.dataset)
    available = (await info if inspect.isawaitable(info) else info).splits
    return resolve_split(name.dataset, split or name.split, available, order)


def resolve_split_sync(
    dataset: str,
    split: str | None,
    client: InfoClient,
    order: Sequence[str] = FALLBACK,
) -> str:
    """Do the same without an event loop, or beside the one that runs."""
    asking = _resolved(dataset, split, client, order)
    if not is_inside_a_loop():
        return complete(asking)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(complete, asking).result()


async def _resolved(
    dataset: str, split: str | None, client: InfoClient, order: Sequence[str]
) -> str:
    """Resolve a split in an event loop that ends with it, and with it the client's connections."""
    try:
        return await resolve_split_async(dataset, split, client, order)
    finally:
        if isinstance(client, (BankClient, TrismikClient)):
            await client.close()
