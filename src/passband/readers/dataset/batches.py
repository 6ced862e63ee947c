"""Batches of rows of the files of a data set, read ahead and prepared in other threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.address import DataFile
from passband.stats.data import label
from passband.system import available_cpus
from passband.types import Ints

ROWS = 1 << 20  # of a batch: Arrow's hash tables are built once for each
_MOST_READERS = 4  # threads that decode; one thread counts what they give
_LARGEST_PIECE = 2 * ROWS  # rows that a thread decodes ahead

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}

T = TypeVar("T")


@dataclass(frozen=True)
class DataPart:
    """A file, and the number of its first row in the data set."""

    file: DataFile
    first_row: int
    rows: int
    coded: frozenset[str] = frozenset()  #: columns that the file has as dictionaries


@dataclass(frozen=True)
class RowBatch:
    """Some rows of a file."""

    part: DataPart
    start: int  #: the number of the first of them in the file
    columns: dict[str, Any]
    rows: int

    @property
    def first_row(self) -> int:
        return self.part.first_row + self.start

    def place(self, row: int) -> str:
        """Name the file and the row, counted from 1, of a row of the batch."""
        return f"{self.part.file}: row {self.start + row + 1}"


def prepared(
    parts: Sequence[DataPart], columns: Sequence[str], prepare: Callable[[RowBatch], T]
) -> Iterator[tuple[RowBatch, T]]:
    """Yield batches in the order of rows, each with what `prepare` makes of it.

    Some pieces of files are decoded and prepared ahead, in threads; `prepare` must not change
    anything.
    """
    most = min(_MOST_READERS, available_cpus())
    waiting: deque[tuple[_Piece, Future[list[tuple[RowBatch, T]]] | None]] = deque()
    with ThreadPoolExecutor(most) as readers:
        try:
            for piece in _pieces(parts, columns):
                ahead = readers.submit(piece.prepared, prepare) if piece.is_small else None
                waiting.append((piece, ahead))
                if len(waiting) > most:
                    yield from _next(waiting, prepare)
            while waiting:
                yield from _next(waiting, prepare)
        finally:
            for _, ahead in waiting:
                if ahead is not None:
                    ahead.cancel()


def _next(
    waiting: deque[tuple[_Piece, Future[list[tuple[RowBatch, T]]] | None]],
    prepare: Callable[[RowBatch], T],
) -> Iterator[tuple[RowBatch, T]]:
    piece, ahead = waiting.popleft()
    if ahead is not None:
        yield from ahead.result()
    else:
        yield from ((batch, prepare(batch)) for batch in piece.batches())


@dataclass(frozen=True)
class _Piece:
    """Some row groups of a file, next to each other."""

    part: DataPart
    metadata: Any
    columns: Sequence[str]
    groups: Sequence[int]
    start: int  # the number of the first row in the file
    rows: int

    @property
    def is_small(self) -> bool:
        """Whether it may be decoded as a whole; a single row group may be as long as the file."""
        return self.rows <= _LARGEST_PIECE

    def prepared(self, prepare: Callable[[RowBatch], T]) -> list[tuple[RowBatch, T]]:
        """Return all batches of the piece, each with what `prepare` makes of it."""
        return [(batch, prepare(batch)) for batch in self.batches()]

    def batches(self) -> Iterator[RowBatch]:
        """Yield the batches of the piece."""
        start = self.start
        for batch in self._decoded():
            arrays = dict(zip(batch.schema.names, map(usual, batch.columns), strict=True))
            if batch.num_rows:
                yield RowBatch(self.part, start, arrays, batch.num_rows)
            start += batch.num_rows
        if start != self.start + self.rows:
            raise InvalidInput(
                f"{self.part.file}: has {start - self.start:,} rows in row groups where its footer "
                f"said {self.rows:,}."
            )

    def _decoded(self) -> Iterator[Any]:
        import pyarrow as pa

        file, coded = self.part.file, self.part.coded.intersection(self.columns)
        # Opened for this piece alone: a reader of pyarrow is for one thread at a time.
        with file.opened(coded, self.metadata) as source:
            try:
                for batch in source.iter_batches(
                    ROWS, self.groups, list(self.columns), use_threads=False
                ):
                    for array in batch.columns:
                        if pa.types.is_dictionary(array.type):
                            array.validate(full=True)  # places beyond the end of a broken one
                    yield batch
            except GeneratorExit:
                raise
            except Exception as error:  # a broken page can raise anything
                reason = (str(error) or type(error).__name__).splitlines()[0]
                raise InvalidInput(f"{file}: cannot be read: {reason}") from None


def _pieces(parts: Sequence[DataPart], columns: Sequence[str]) -> Iterator[_Piece]:
    for part in parts:
        with part.file.opened() as source:
            metadata = source.metadata
        if metadata.num_rows != part.rows:
            raise InvalidInput(
                f"{part.file}: has {metadata.num_rows:,} rows where its footer said "
                f"{part.rows:,}; was it written again meanwhile?"
            )
        for groups, start, rows in _of_file(metadata):
            yield _Piece(part, metadata, columns, groups, start, rows)


def _of_file(metadata: Any) -> Iterator[tuple[list[int], int, int]]:
    """Yield row groups with the number of their first row and their rows, short ones together."""
    groups: list[int] = []
    start = rows = 0
    for number in range(metadata.num_row_groups):
        groups.append(number)
        rows += metadata.row_group(number).num_rows
        if rows >= ROWS or number == metadata.num_row_groups - 1:
            yield groups, start, rows
            groups, start, rows = [], start + rows, 0


# -- arrays of Arrow as arrays of numpy ----------------------------------------------------


def usual(array: Any) -> Any:
    """Return an array in a type for which Arrow has functions: no views of text, no small floats.

    >>> import pyarrow as pa
    >>> usual(pa.array([1.5], pa.float16())).type
    DataType(float)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        values = usual(array.dictionary)
        if values is array.dictionary:
            return array
        return pa.DictionaryArray.from_arrays(array.indices, values)
    name = {"string_view": "large_string", "binary_view": "large_binary", "halffloat": "float"}.get(
        str(array.type)
    )
    return array if name is None else array.cast(name)


def numbers(array: Any) -> Any:
    """Return integers or floats without nulls, in general without a copy.

    >>> import pyarrow as pa
    >>> numbers(pa.array([1, 2, 3], pa.int16()).slice(1))
    array([2, 3], dtype=int16)
    """
    name = str(array.type)
    kind = np.dtype(_FLOATS.get(name, name))
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype=kind)
    return np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)


def flags(array: Any) -> Any:
    """Return booleans without nulls.

    >>> import pyarrow as pa
    >>> flags(pa.array([True, False]))
    array([ True, False])
    """
    import pyarrow as pa

    return numbers(array.cast(pa.uint8())).view(np.bool_)


def encoded(array: Any) -> tuple[Any, Ints]:
    """Return values that occur, perhaps with others, and the place of each row's among them.

    The place of null is behind the last.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:  # a type that is rare
            distinct = dict.fromkeys(array.to_pylist())
            distinct.pop(None, None)
            place_of = {value: place for place, value in enumerate(distinct)}
            places = [place_of.get(value, len(place_of)) for value in array.to_pylist()]
            return pa.array(list(distinct), array.type), np.array(places, dtype=np.int64)
    values, places = array.dictionary, array.indices
    if array.null_count:
        places = places.cast(pa.int64()).fill_null(len(values))
    return values, numbers(places)


def labelled(array: Any) -> tuple[list[str], Ints]:
    """Return the labels of values that occur, perhaps with others, and the place of each row's.

    >>> import pyarrow as pa
    >>> labelled(pa.array([3.0, None, 3.0]))
    (['3', 'None'], array([0, 1, 0]))
    """
    values, places = encoded(array)
    labels = [*map(label, values.to_pylist())]
    return labels + [str(None)] * (array.null_count > 0), places
