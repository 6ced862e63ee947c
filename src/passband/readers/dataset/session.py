"""Data sets read in one command: each once, and on a cluster if one is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from passband.errors import InvalidInput
from passband.readers.groups import Groups
from passband.readers.options import Options

Map = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


@dataclass
class DatasetSession:
    """What one command has read of data sets, and how it counts their files."""

    map: Map | None = None  # None counts in this process
    files: int = 0  # counted by `map`
    read: list[tuple[str, Options, Groups]] = field(default_factory=list)

    def known(self, address: str, options: Options) -> Groups | None:
        """Return the groups of a data set that was read before with the same options."""
        for one, how, groups in self.read:
            if (one, how) == (address, options):
                return groups
        return None

    def require_counted(self) -> None:
        """Refuse a cluster that nothing was counted on."""
        if self.map is not None and not self.files:
            raise InvalidInput(
                "--on counts the Parquet files of data sets on a cluster, and none was counted "
                "here: other sources, and small exports, are read whole."
            )


_SESSION: ContextVar[DatasetSession | None] = ContextVar("passband_datasets", default=None)


def current_session() -> DatasetSession | None:
    """Return the session that is open, if one is."""
    return _SESSION.get()


@contextmanager
def reading_datasets(on: str | None = None) -> Iterator[DatasetSession]:
    """Open a session, in which a data set that is read again is not counted again.

    With `on`, each file is counted by a task of that cluster.
    """
    session = DatasetSession()
    token = _SESSION.set(session)
    try:
        if on is None:
            yield session
            return
        from passband.cluster import connect, map_tasks, parse_address

        def map_files(count: Callable[[Any], Any], parts: Sequence[Any]) -> Iterable[Any]:
            session.files += len(parts)
            return map_tasks(count, parts)

        session.map = map_files
        with connect(parse_address(on)):
            yield session
    finally:
        _SESSION.reset(token)
