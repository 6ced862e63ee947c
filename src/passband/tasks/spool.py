"""Long sequences in little memory: items in blocks, in a temporary file beyond a few megabytes.

A hundred thousand problems with their rows take gigabytes as objects. They are asked one after
the other and scored soon after, so that the blocks which were used last are enough.
"""

from __future__ import annotations

import pickle
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar, overload

__all__ = ["Spool", "spooled"]

_BLOCK = 64  # items that are written and read together
_FEW = 4 * _BLOCK  # items that are simply kept
_KEPT = 4_000_000  # bytes, as they are written, of the blocks that are kept as objects

T = TypeVar("T")


def _same(item: Any) -> Any:
    return item


def spooled(
    items: Iterable[T],
    plain: Callable[[T], Any] = _same,
    made: Callable[[Any], T] = _same,
) -> Sequence[T]:
    """Return items as a sequence: a list of a few, a `Spool` of many.

    `plain` turns an item into built-in values, which are written faster, and `made` turns those
    into the item again. The sequence must not be changed, nor its items.

    >>> numbers = spooled(range(1000))
    >>> len(numbers), numbers[-1], list(numbers[10:13])
    (1000, 999, [10, 11, 12])
    """
    source = iter(items)
    first = list(islice(source, _FEW + 1))
    if len(first) <= _FEW:
        return first
    spool = Spool(plain, made)
    spool.extend(first)
    spool.extend(source)
    return spool


class Spool(Sequence[T], Generic[T]):
    """A sequence in a temporary file, which is gone when the sequence is."""

    def __init__(self, plain: Callable[[T], Any] = _same, made: Callable[[Any], T] = _same) -> None:
        self._plain, self._made = plain, made
        self._file = tempfile.TemporaryFile(prefix="passband-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = [0]  # of blocks in the file
        self._last: list[T] = []  # the block that is not full
        self._kept: OrderedDict[int, list[T]] = OrderedDict()
        self._size = 0  # bytes of the blocks that are kept
        self._lock = threading.Lock()  # slow scorers read in threads

    def extend(self, items: Iterable[T]) -> None:
        """Add items at the end."""
        source = iter(items)
        while more := list(islice(source, _BLOCK - len(self._last))):
            self._last += more
            if len(self._last) == _BLOCK:
                self._write(self._last)
                self._last = []

    def __len__(self) -> int:
        return (len(self._ends) - 1) * _BLOCK + len(self._last)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            chosen = range(*index.indices(len(self)))
            return self if chosen == range(len(self)) else [self[each] for each in chosen]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} items, and none at {index}")
        number, place = divmod(index, _BLOCK)
        return self._block(number)[place]

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._ends) - 1):
            yield from self._block(number)
        yield from self._last

    def _write(self, block: list[T]) -> None:
        data = pickle.dumps([self._plain(item) for item in block], pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self._file.seek(self._ends[-1])
            self._file.write(data)
            self._ends.append(self._ends[-1] + len(data))
            self._keep(len(self._ends) - 2, block)

    def _block(self, number: int) -> list[T]:
        if number == len(self._ends) - 1:
            return self._last
        with self._lock:
            block = self._kept.get(number)
            if block is not None:
                self._kept.move_to_end(number)
                return block
            self._file.seek(self._ends[number])
            block = [self._made(item) for item in pickle.load(self._file)]
            self._keep(number, block)
            return block

    def _keep(self, number: int, block: list[T]) -> None:
        """Keep a block as objects, and drop those whose last use is longest ago."""
        self._kept[number] = block
        self._size += self._bytes(number)
        while self._size > _KEPT and len(self._kept) > 1:
            dropped, _ = self._kept.popitem(last=False)
            self._size -= self._bytes(dropped)

    def _bytes(self, number: int) -> int:
        return self._ends[number + 1] - self._ends[number]
