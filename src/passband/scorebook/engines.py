"""Choose the engine of a data set: a local bank of its name, or else a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from passband.adaptive import (
    ENDINGS,
    KEY,
    URL,
    Bank,
    TrismikClient,
    find_bank,
    list_banks,
    parse_dataset,
)
from passband.errors import UnknownName, nearest
from passband.scorebook.options import EvaluationSettings
from passband.scorebook.remote import RemoteEngine


class Engines:
    """Finds banks, and makes the client of the server when the first name is not a bank's."""

    def __init__(self, options: EvaluationSettings, seed: int | None) -> None:
        self._options, self._seed = options, seed
        self._banks: dict[str, Bank | None] = {}
        self._client: TrismikClient | None = None

    async def __aenter__(self) -> Engines:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()

    def bank(self, dataset: str) -> Bank | None:
        """Return the local bank of a data set, if there is one."""
        name = parse_dataset(dataset).id
        if name not in self._banks:
            self._banks[name] = None if _is_only_remote(name) else find_bank(name)
        return self._banks[name]

    def client(self) -> TrismikClient:
        """Return the client of the server that the environment names."""
        self._client = self._client or TrismikClient()
        return self._client

    def remote(self, dataset: str) -> RemoteEngine:
        """Return the engine of a data set that is no bank here; raise if no server is named."""
        if not os.environ.get(KEY, "").strip():
            raise _unknown(parse_dataset(dataset).id)
        return RemoteEngine(self.client(), self._options, self._seed)

    async def splits(self, dataset: str) -> Sequence[str]:
        """Return the splits that a data set has."""
        bank = self.bank(dataset)
        return bank.splits if bank is not None else await self.remote(dataset).splits(dataset)


def _is_only_remote(name: str) -> bool:
    """Return whether a name with slashes is none of a file, such as org/data."""
    path = Path(name)
    return len(path.parts) > 1 and path.suffix not in ENDINGS and not path.exists()


def _unknown(name: str) -> UnknownName:
    known = sorted({entry.name for entry in list_banks()})
    hint = nearest(name, known) or f" Banks here: {', '.join(known[:20]) or 'none'}."
    return UnknownName(
        f"there is no bank named {name!r}.{hint} For a test on a server, set {KEY} (and {URL})."
    )
