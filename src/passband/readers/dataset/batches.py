"""Batches of rows of the files of a data set, read ahead and prepared in other threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from passband.cpus import available_cpus
from passband.errors import InvalidInput
from passband.readers.dataset.address import DataFile
from passband.readers.dataset.arrow_arrays import usual

__all__ = ["Batch", "Part", "prepared"]

ROWS = 1 << 20  # of a batch: Arrow's hash tables are built once for each
_AHEAD = 1  # batches that are prepared while one is counted; hash tables share the cache
_MOST_READERS = 4  # threads that decode; one thread counts what they give
_LARGEST_PIECE = 2 * ROWS  # rows that a thread decodes ahead

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """A file, and the number of its first row in the data set."""

    file: DataFile
    first_row: int
    rows: int
    coded: frozenset[str] = frozenset()  #: columns that the file has as dictionaries


@dataclass(frozen=True)
class Batch:
    """Some rows of a file."""

    part: Part
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
    parts: Sequence[Part], columns: Sequence[str], prepare: Callable[[Batch], T]
) -> Iterator[tuple[Batch, T]]:
    """Yield batches in the order of rows, each with what `prepare` makes of it.

    Reading, `prepare` and the caller run at the same time; `prepare` must not change anything.
    """
    source = _batches(parts, columns)
    waiting: deque[tuple[Batch, Future[T]]] = deque()
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(_AHEAD) as workers:
        coming = reader.submit(next, source, None)
        try:
            while True:
                batch = coming.result()
                if batch is not None:
                    coming = reader.submit(next, source, None)
                    waiting.append((batch, workers.submit(prepare, batch)))
                if not waiting:
                    return
                if batch is None or len(waiting) > _AHEAD:
                    ready, result = waiting.popleft()
                    yield ready, result.result()
        finally:
            coming.cancel()
            for _, future in waiting:
                future.cancel()


def _batches(parts: Sequence[Part], columns: Sequence[str]) -> Iterator[Batch]:
    """Yield batches in the order of rows; some pieces of files are decoded ahead, in threads."""
    most = min(_MOST_READERS, available_cpus())
    waiting: deque[tuple[_Piece, Future[list[Any]] | None]] = deque()
    with ThreadPoolExecutor(most) as readers:
        try:
            for piece in _pieces(parts, columns):
                decoded = readers.submit(piece.decoded) if piece.is_small else None
                waiting.append((piece, decoded))
                if len(waiting) > most:
                    yield from _batches_of(*waiting.popleft())
            while waiting:
                yield from _batches_of(*waiting.popleft())
        finally:
            for _, decoded in waiting:
                if decoded is not None:
                    decoded.cancel()


def _batches_of(piece: _Piece, decoded: Future[list[Any]] | None) -> Iterator[Batch]:
    start = piece.start
    for batch in piece.batches() if decoded is None else decoded.result():
        arrays = dict(zip(batch.schema.names, map(usual, batch.columns), strict=True))
        yield Batch(piece.part, start, arrays, batch.num_rows)
        start += batch.num_rows
    if start != piece.start + piece.rows:
        raise InvalidInput(
            f"{piece.part.file}: has {start - piece.start:,} rows in row groups where its footer "
            f"said {piece.rows:,}."
        )


@dataclass(frozen=True)
class _Piece:
    """Some row groups of a file, next to each other."""

    part: Part
    metadata: Any
    columns: Sequence[str]
    groups: Sequence[int]
    start: int  # the number of the first row in the file
    rows: int

    @property
    def is_small(self) -> bool:
        """Whether it may be decoded as a whole; a single row group may be as long as the file."""
        return self.rows <= _LARGEST_PIECE

    def decoded(self) -> list[Any]:
        """Return all batches of the piece."""
        return list(self.batches())

    def batches(self) -> Iterator[Any]:
        """Yield the batches of the piece, as Arrow has them.

        The file is opened for this piece alone: a reader of pyarrow is for one thread at a time.
        """
        import pyarrow as pa

        file = self.part.file
        with file.opened(self.part.coded.intersection(self.columns), self.metadata) as source:
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


def _pieces(parts: Sequence[Part], columns: Sequence[str]) -> Iterator[_Piece]:
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
