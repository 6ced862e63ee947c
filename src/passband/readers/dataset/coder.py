"""Values of a column as small numbers: each label gets one when it first appears.

Integers of a small range go through a table, everything else through Arrow's hash tables. Work on
a batch has two steps, so that the first can run in other threads: `look_up` finds numbers of labels
that are known, and `complete`, in the order of rows, gives numbers to new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from passband.readers.dataset.arrow_arrays import encoded, flags, numbers
from passband.stats.data.cells import label
from passband.types import Ints

__all__ = [
    "Coder",
    "IntegerCoder",
    "LabelCoder",
    "OutOfRange",
    "PlaceCoder",
    "coder_for",
    "problem_coder",
]

LARGEST_RANGE = 1 << 24  # integers that a table has room for
_PLACES = 1 << 22  # integers in whose range problems are numbered by place
_SEVERAL = 4  # known values per row of a batch, beyond which only distinct values are looked up

#: Is called with new labels and the first row of each, in the batch.
OnNew = Callable[[list[str], Ints], None]


class OutOfRange(Exception):
    """An integer that is not between the bounds of its column, which footers are wrong about."""


class Coder(Protocol):
    """Numbers the labels of a column."""

    def __len__(self) -> int: ...

    def labels(self) -> list[str]:
        """Return the labels by number."""

    def restore(self, labels: list[str]) -> None:
        """Number labels beforehand, in this order."""

    def look_up(self, array: Any) -> Any:
        """Return what `complete` needs of an Arrow array; may run in any thread."""

    def complete(self, array: Any, found: Any, on_new: OnNew | None = None) -> Ints:
        """Return the number of each value, new labels having been numbered in order of rows."""


def problem_coder(kind: str, bounds: tuple[int, int] | None, rows: int) -> Coder:
    """Return the coder for a column of problems."""
    most = min(_PLACES, max(rows, 1 << 16))
    if kind == "integer" and bounds is not None and bounds[1] - bounds[0] < most:
        return PlaceCoder(*bounds)
    return coder_for(kind, bounds)


def coder_for(kind: str, bounds: tuple[int, int] | None) -> Coder:
    """Return the coder for a column, by what it holds and the range of its integers."""
    if kind == "integer" and bounds is not None and bounds[1] - bounds[0] < LARGEST_RANGE:
        return IntegerCoder(*bounds)
    return LabelCoder()


class IntegerCoder:
    """Numbers integers between two bounds, by a table; null is a label of its own."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high
        self._null = high - low + 1
        self._codes = np.full(high - low + 2, -1, dtype=np.int64)
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def labels(self) -> list[str]:
        return self._labels_at(self._places)

    def _labels_at(self, places: Sequence[int]) -> list[str]:
        return [str(None if at == self._null else self._low + at) for at in places]

    def restore(self, labels: list[str]) -> None:
        for text in labels:
            place = self._null if text == str(None) else int(text) - self._low
            self._codes[place] = len(self._places)
            self._places.append(place)

    def look_up(self, array: Any) -> Ints:
        """Return where each value is in the table."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if not len(array) or pa.types.is_null(array.type):
            return np.full(len(array), self._null)
        ends = pc.min_max(array)
        if ends["min"].is_valid and not (
            self._low <= ends["min"].as_py() and ends["max"].as_py() <= self._high
        ):
            raise OutOfRange
        if array.null_count == len(array):
            return np.full(len(array), self._null)
        if not array.null_count:
            if ends["min"] == ends["max"]:
                return np.full(len(array), ends["min"].as_py() - self._low)
            return _less(numbers(array), self._low)
        values = _less(numbers(array.fill_null(ends["min"])), self._low).astype(np.int64)
        values[flags(array.is_null())] = self._null
        return values

    def complete(self, array: Any, found: Ints, on_new: OnNew | None = None) -> Ints:
        codes: Ints = self._codes[found]
        if len(codes) and int(codes.min()) < 0:
            rows = np.flatnonzero(codes < 0)
            places, first = np.unique(found[rows], return_index=True)
            order = np.argsort(first)
            places = places[order]
            self._codes[places] = np.arange(len(self), len(self) + len(places))
            self._places += places.tolist()
            if on_new is not None:
                on_new(self._labels_at(places.tolist()), rows[first[order]])
            codes = self._codes[found]
        return codes


class PlaceCoder(IntegerCoder):
    """Numbers integers by how far they are from the least, without a table.

    For problems, of which nearly all numbers in a small range occur.
    """

    def __len__(self) -> int:
        return self._null + 1

    def labels(self) -> list[str]:
        return [*map(str, range(self._low, self._high + 1)), str(None)]

    def restore(self, labels: list[str]) -> None:
        """Do nothing: numbers depend on the range alone."""

    def complete(self, array: Any, found: Ints, on_new: OnNew | None = None) -> Ints:
        return found


class LabelCoder:
    """Numbers values of any type by their labels: 3.0 and 3 have the same."""

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        # Values of each type and their numbers, as other threads read them while they are replaced.
        self._known: dict[Any, _Known] = {}

    def __len__(self) -> int:
        return len(self._number_of)

    def labels(self) -> list[str]:
        return list(self._number_of)

    def restore(self, labels: list[str]) -> None:
        self._number_of.update((text, number) for number, text in enumerate(labels))

    def look_up(self, array: Any) -> Any:
        """Return the numbers of values if all are known, and else the places of those that are.

        None where it is not worthwhile.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        is_coded = pa.types.is_dictionary(array.type)
        values = array.dictionary if is_coded else array
        known = self._known.get(values.type)
        if known is None or len(known.numbers) > _SEVERAL * len(array) or array.null_count:
            return None
        places = pc.index_in(values, value_set=known.values)
        if places.null_count:
            return (places.take(array.indices) if is_coded else places), known.numbers
        codes = known.numbers_at(numbers(places))
        return codes[numbers(array.indices)] if is_coded else codes

    def complete(self, array: Any, found: Any, on_new: OnNew | None = None) -> Ints:
        found = self.look_up(array) if found is None else found
        if isinstance(found, np.ndarray):
            return found
        if found is None or found[0].null_count:
            return self._by_distinct(array, found, on_new)
        return np.asarray(found[1][numbers(found[0])])

    def _by_distinct(self, array: Any, found: Any, on_new: OnNew | None) -> Ints:
        """Number the distinct values of the rows that were not found."""
        codes = np.empty(len(array), dtype=np.int64)
        rows = np.arange(len(array))
        if found is not None:
            missing = flags(found[0].is_null())
            codes[~missing] = found[1][numbers(found[0].drop_null())]
            rows = np.flatnonzero(missing)
            array = array.take(rows)
        codes[rows] = self._numbered(array, rows, on_new)
        return codes

    def _numbered(self, array: Any, rows: Ints, on_new: OnNew | None) -> Ints:

        values, own = encoded(array)
        texts = [*map(label, values.to_pylist()), str(None)]
        first = np.full(len(texts), len(own))
        first[own[::-1]] = np.arange(len(own))[::-1]
        codes = np.full(len(texts), -1, dtype=np.int64)
        new: list[tuple[str, int]] = []
        for place in np.argsort(first, kind="stable").tolist():
            if first[place] < len(own):
                text, count = texts[place], len(self._number_of)
                codes[place] = self._number_of.setdefault(text, count)
                if codes[place] == count:
                    new.append((text, int(rows[first[place]])))
        self._remember(values, codes[:-1])
        if new and on_new is not None:
            on_new([text for text, _ in new], np.array([row for _, row in new]))
        return np.asarray(codes[own])

    def _remember(self, values: Any, codes: Ints) -> None:
        """Keep new values for `look_up`; joined only when there are many, as that copies all."""
        import pyarrow as pa
        import pyarrow.compute as pc

        known = self._known.get(values.type, _Known(values.slice(0, 0), codes[:0]))
        try:
            fresh = pc.invert(pc.is_in(values, value_set=known.values))
        except pa.ArrowNotImplementedError:  # values of this type are numbered by label each time
            return
        chosen = np.flatnonzero(flags(fresh) & (codes >= 0))
        parts = [*known.waiting, (values.take(pa.array(chosen)), codes[chosen])]
        if 8 * sum(len(part) for _, part in parts) < len(known.numbers):
            self._known[values.type] = replace(known, waiting=parts)
            return
        arrays, joined = zip((known.values, known.numbers), *parts, strict=True)
        self._known[values.type] = _Known(pa.concat_arrays(arrays), np.concatenate(joined))


@dataclass(frozen=True)
class _Known:
    """Values of a type whose numbers are known."""

    values: Any
    numbers: Ints
    waiting: Sequence[tuple[Any, Ints]] = ()  #: further ones, which are not yet looked up

    @cached_property
    def _are_places(self) -> bool:
        """Whether each value has the number of its place, as where all came in one type."""
        return bool((self.numbers == np.arange(len(self.numbers))).all())

    def numbers_at(self, places: Ints) -> Ints:
        """Return the numbers of the values at some places."""
        return places if self._are_places else self.numbers[places]


def _less(values: Any, low: int) -> Ints:
    """Return values minus the least, without overflow; as int32, as which they take, or int64."""
    if low == 0 and values.dtype in (np.int32, np.int64):
        return np.asarray(values)
    if values.dtype == np.uint64 and low > 0:
        values, low = values - np.uint64(low), 0
    return np.asarray(values.astype(np.int64) - low)
