"""Batches of rows of the files of a data set, read ahead and prepared in other threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from passband.errors import InvalidInput
from passband.readers.dataset.address import DataFile
from passband.readers.dataset.arrow_arrays import usual

__all__ = ["Batch", "Part", "prepared"]

ROWS = 1 << 19  # of a batch: Arrow's hash tables are built once for each
_AHEAD = 2  # batches that are prepared while one is counted

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
    for part in parts:
        with part.file.opened(part.coded.intersection(columns)) as file:
            start = 0
            for batch in _rows(file, part, columns):
                arrays = dict(zip(batch.schema.names, map(usual, batch.columns), strict=True))
                yield Batch(part, start, arrays, batch.num_rows)
                start += batch.num_rows
        if start != part.rows:
            raise InvalidInput(
                f"{part.file}: has {start:,} rows where its footer said {part.rows:,}; was it "
                "written again meanwhile?"
            )


def _rows(file: Any, part: Part, columns: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa

    try:
        for batch in file.iter_batches(ROWS, columns=list(columns)):
            for array in batch.columns:
                if pa.types.is_dictionary(array.type):
                    array.validate(full=True)  # places beyond the end of a broken dictionary
            yield batch
    except (InvalidInput, GeneratorExit):
        raise
    except Exception as error:  # a broken page can raise anything
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InvalidInput(f"{part.file}: cannot be read: {reason}") from None
