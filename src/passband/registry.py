"""A table of named things that says what it has when asked for what it has not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from passband.errors import InvalidInput, UnknownName, nearest

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Names and what they stand for; a name is taken once.

    >>> shapes = Registry[int]("shape")
    >>> shapes.add("triangle", 3)
    >>> shapes.get("triangel")
    Traceback (most recent call last):
    ...
    passband.errors.UnknownName: no shape named 'triangel'. Did you mean 'triangle'?
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        if name in self._entries:
            raise InvalidInput(f"a {self._noun} named {name!r} is registered already")
        self._entries[name] = entry

    def remove(self, name: str) -> None:
        self.get(name)
        del self._entries[name]

    def get(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            hint = nearest(name, self._entries) or f" Known: {', '.join(sorted(self._entries))}."
            raise UnknownName(f"no {self._noun} named {name!r}.{hint}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
