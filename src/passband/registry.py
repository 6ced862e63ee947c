"""A name-to-object table; a failed lookup lists the known names and the nearest match.

A registry may have homes: modules that register the built-in entries, imported at the first
lookup. What it still does not know it looks for in plug-ins (`passband.plugins`), which are
loaded once, at the first miss, so that commands that need none do not pay for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from passband import plugins
from passband.errors import InvalidInput, UnknownName, nearest

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Entries by name; a name is registered once.

    >>> shapes = Registry[int]("shape")
    >>> shapes.add("triangle", 3)
    >>> shapes.get("triangel")
    Traceback (most recent call last):
    ...
    passband.errors.UnknownName: no shape named 'triangel'. Did you mean 'triangle'?
    """

    def __init__(self, noun: str, homes: tuple[str, ...] = ()) -> None:
        self._noun = noun
        self._homes = homes
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Register an entry; raise `InvalidInput` if the name is taken."""
        self._load_homes()
        if name in self._entries:
            raise InvalidInput(f"a {self._noun} named {name!r} is already registered")
        self._entries[name] = entry

    def remove(self, name: str) -> None:
        """Remove an entry; raise `UnknownName` if there is none of that name."""
        self.get(name)
        del self._entries[name]

    def get(self, name: str) -> T:
        """Return the entry of that name; raise `UnknownName` if there is none."""
        if name in self:
            return self._entries[name]
        hint = nearest(name, self._entries) or f" Known: {', '.join(sorted(self._entries))}."
        raise UnknownName(f"no {self._noun} named {name!r}.{hint}{plugins.failures_hint()}")

    def snapshot(self) -> Mapping[str, T]:
        """Return a copy of the entries, for `restore`."""
        self._load_homes()
        return dict(self._entries)

    def restore(self, entries: Mapping[str, T]) -> None:
        """Replace all entries with those of a snapshot."""
        self._entries = dict(entries)

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            self._load_homes()
            if name not in self._entries:
                plugins.load()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self._load_homes()
        plugins.load()
        return iter(self._entries)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _load_homes(self) -> None:
        homes, self._homes = self._homes, ()  # emptied first: the homes register here
        for home in homes:
            importlib.import_module(home)
