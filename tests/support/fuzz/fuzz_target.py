"""A parser to be fuzzed, what it may raise, and the valid inputs that others are made of."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from passband.errors import PassbandError
from support.fuzz.mutations import mutated

__all__ = ["Target", "file_target", "text"]

COPIES = 16  # files that are written in turn: readers remember the beginning of a few


@dataclass(frozen=True)
class Target:
    """A function of bytes that returns or raises one of its documented errors."""

    name: str
    read: Callable[[bytes], object]
    seeds: Sequence[bytes]  #: valid, or nearly so
    shape: str = "bytes"  #: which of `mutations.CHANGES` keeps an input plausible
    errors: tuple[type[Exception], ...] = (PassbandError,)

    def inputs(self, rng: random.Random) -> Iterator[bytes]:
        """Yield the seeds, and then changed ones for ever."""
        yield from self.seeds
        while True:
            yield mutated(rng.choice(self.seeds), self.shape, rng, self.seeds)

    def attempt(self, data: bytes) -> bool:
        """Return whether the input was read; False where it was refused as documented."""
        try:
            self.read(data)
        except self.errors:
            return False
        return True


def file_target(
    name: str,
    folder: Path,
    file_name: str,
    read: Callable[[Path], object],
    seeds: Sequence[bytes],
    shape: str,
) -> Target:
    """Return the target of a function that reads a file of that name."""
    paths = []
    for number in range(COPIES):
        place = folder / name.replace(" ", "-") / str(number)
        place.mkdir(parents=True, exist_ok=True)
        paths.append(place / file_name)
    turns = itertools.cycle(paths)

    def read_bytes(data: bytes) -> object:
        path = next(turns)
        path.write_bytes(data)
        return read(path)

    return Target(name, read_bytes, seeds, shape)


def text(data: bytes) -> str:
    """Return bytes as text; what is not UTF-8 becomes half a surrogate pair, as JSON may hold."""
    return data.decode("utf-8", "surrogateescape")
