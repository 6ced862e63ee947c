"""A list that spills to a temporary file beyond a few megabytes.

A hundred thousand problems with their rows take gigabytes as objects. They are asked one after
the other, in an order that is not theirs, and scored soon after: each is read by itself, and those
that were used last are enough.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, Generic, TypeVar, overload

_BLOCK = 64  # items that are written together
_FEW = 4 * _BLOCK  # items that are simply kept
_KEPT = 4_000_000  # bytes, as they are written, of the items that are kept as objects

T = TypeVar("T")


def _same(item: Any) -> Any:
    return item


def spooled(
    items: Iterable[T],
    plain: Callable[[T], Any] = _same,
    made: Callable[[Any], T] = _same,
) -> Sequence[T]:
    """Return items as a sequence: a list of a few, a `DiskList` of many.

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
    spool = DiskList(plain, made)
    spool.extend(first)
    spool.extend(source)
    return spool


class DiskList(Sequence[T], Generic[T]):
    """A sequence in a temporary file, which is gone when the sequence is."""

    def __init__(self, plain: Callable[[T], Any] = _same, made: Callable[[Any], T] = _same) -> None:
        self._plain, self._made = plain, made
        self._file = tempfile.TemporaryFile(prefix="passband-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = array("q", [0])  # of items in the file
        self._kept: OrderedDict[int, T] = OrderedDict()
        self._size = 0  # bytes of the items that are kept
        self._lock = threading.Lock()  # slow scorers read in threads

    def extend(self, items: Iterable[T]) -> None:
        """Add items at the end."""
        source = iter(items)
        while more := list(islice(source, _BLOCK)):
            self._write(more)

    def __len__(self) -> int:
        return len(self._ends) - 1

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
        with self._lock:
            if index in self._kept:
                self._kept.move_to_end(index)
                return self._kept[index]
            item = self._read(index)
            self._keep(index, item)
            return item

    def __iter__(self) -> Iterator[T]:
        return (self[index] for index in range(len(self)))

    def _write(self, items: list[T]) -> None:
        data = [pickle.dumps(self._plain(item), pickle.HIGHEST_PROTOCOL) for item in items]
        with self._lock:
            first, start = len(self), self._ends[-1]
            self._file.write(b"".join(data))
            self._file.flush()
            self._ends.extend(accumulate(map(len, data[1:]), initial=start + len(data[0])))
            for index, item in enumerate(items, first):
                self._keep(index, item)

    def _read(self, index: int) -> T:
        data = os.pread(self._file.fileno(), self._bytes(index), self._ends[index])
        return self._made(pickle.loads(data))

    def _keep(self, index: int, item: T) -> None:
        """Keep an item as an object, and drop those whose last use is longest ago."""
        self._kept[index] = item
        self._size += self._bytes(index)
        while self._size > _KEPT and len(self._kept) > 1:
            dropped, _ = self._kept.popitem(last=False)
            self._size -= self._bytes(dropped)

    def _bytes(self, index: int) -> int:
        return self._ends[index + 1] - self._ends[index]
