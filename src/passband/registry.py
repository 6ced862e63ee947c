"""A name-to-object table; a failed lookup lists the known names and the nearest match.

A registry may have homes: modules that register the built-in entries. A mapping from names to
homes imports one when its entry is looked up; homes without names are imported at the first lookup.
A name that is still unknown makes it load the plug-ins (`passband.plugins`), once per process, so
that commands that need none do not pay for them. Built-in entries are registered before any
plug-in's, and a name is registered once: no plug-in replaces a built-in entry.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from passband import plugins
from passband.errors import InvalidInput, UnknownName, nearest

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

    def __init__(self, noun: str, homes: Sequence[str] | Mapping[str, str] = ()) -> None:
        self._noun = noun
        by_name = homes if isinstance(homes, Mapping) else {}
        self._names = tuple(by_name)  # built-in ones, in the order in which they are listed
        self._homes_by_name = dict(by_name)
        self._homes = () if by_name else tuple(homes)
        self._entries: dict[str, T] = {}
        self._plugins: dict[str, str] = {}  # which plug-in registered a name; built-in: none

    def add(self, name: str, entry: T) -> None:
        """Register an entry; raise `InvalidInput` if the name is taken."""
        self._load_home(name)
        if name in self._entries:
            by = f" by plug-in {self._plugins[name]!r}" if name in self._plugins else ""
            raise InvalidInput(
                f"the {self._noun} {name!r} is already registered{by}; use another name."
            )
        self._entries[name] = entry
        if (plugin := _registrant()) is not None:
            self._plugins[name] = plugin

    def remove(self, name: str) -> None:
        """Remove an entry; raise `UnknownName` if there is none of that name."""
        self.get(name)
        del self._entries[name]
        self._plugins.pop(name, None)

    def get(self, name: str) -> T:
        """Return the entry of that name; raise `UnknownName` if there is none."""
        if name in self:
            return self._entries[name]
        raise self.unknown(name, self)

    def unknown(self, name: str, known: Iterable[str]) -> UnknownName:
        """Return the error for a name that is not among `known`."""
        known = sorted(known)
        hint = nearest(name, known) or f" Known: {', '.join(known)}."
        return UnknownName(f"no {self._noun} named {name!r}.{hint}{plugins.failures_hint()}")

    def registered(self, name: str) -> T | None:
        """Return the entry registered so far, or None; loads no plug-ins."""
        self._load_home(name)
        return self._entries.get(name)

    def plugin_of(self, name: str) -> str | None:
        """Return the plug-in that registered a name, or None for a built-in or Python entry."""
        return self._plugins.get(name)

    def snapshot(self) -> Mapping[str, T]:
        """Return a copy of the entries, for `restore`."""
        for name in self._names:
            self._load_home(name)
        return dict(self._entries)

    def restore(self, entries: Mapping[str, T]) -> None:
        """Replace all entries with those of a snapshot."""
        self._entries = dict(entries)
        self._plugins = {name: by for name, by in self._plugins.items() if name in entries}

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            self._load_home(name)
            if name not in self._entries:
                plugins.load()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """Yield the built-in names, then further ones as registered; plug-ins are loaded last."""
        self._load_homes()
        listed = [name for name in self._names if name in {*self._entries, *self._homes_by_name}]
        registered = [*listed, *(name for name in self._entries if name not in listed)]
        yield from registered
        plugins.load()
        yield from [name for name in self._entries if name not in registered]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _load_home(self, name: object) -> None:
        self._load_homes()
        home = self._homes_by_name.pop(name, None) if isinstance(name, str) else None
        if home is not None:  # taken out first: the home registers here
            importlib.import_module(home)

    def _load_homes(self) -> None:
        homes, self._homes = self._homes, ()
        for home in homes:
            importlib.import_module(home)


def _registrant() -> str | None:
    """Return the plug-in that registers something, or None if it is passband or no plug-in.

    A plug-in may be the first to import a module of passband, which then registers its own.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("passband."):
        frame = frame.f_back
    is_import = frame.f_globals.get("__name__", "").startswith("importlib.")
    return None if is_import else plugins.source()
