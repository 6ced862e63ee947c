"""Records in files: CSV, TSV, JSON, JSON lines and Parquet; text may be compressed with gzip.

This is the only module that opens data files. Tasks take one record after another from
`read_records`; readers of trials take whole columns and documents. Every error names the file,
and the line where there is one. Cells of CSV files stay text: "007" is not 7.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from passband.errors import InvalidInput, Place, nearest

if TYPE_CHECKING:
    from _csv import Reader as CsvReader


Form = Literal["csv", "tsv", "json", "jsonl", "parquet"]
Record = dict[str, Any]
Bad = Callable[[InvalidInput], object]  # is given the error of a line that is to be left out

ENDINGS: Mapping[str, Form] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tsv": "tsv",
}
LONGEST_CELL = 1 << 30  # characters of one CSV cell; completions may be long
LONGEST_LINE = 1 << 27  # characters: a small gzip file may hold a line of gigabytes
_NO_OBJECT = "every row must be an object; got {!r:.60}."
_CHUNK = 1 << 20  # characters that are read at a time
LARGEST_DOCUMENT = 1 << 31  # characters of one JSON document; what unpacks to more is refused


def form_of(name: str) -> Form | None:
    """Return the form of a file by the ending of its name, or None.

    >>> form_of("trials.JSONL.gz"), form_of("trials.xlsx")
    ('jsonl', None)
    """
    lowered = name.lower()
    form = ENDINGS.get(Path(lowered.removesuffix(".gz")).suffix)
    return None if form == "parquet" and lowered.endswith(".gz") else form


def require_file(path: Path) -> None:
    """Raise `InvalidInput` unless there is a file at `path` with something in it."""
    with reading(path):
        if not path.exists():
            beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            hint = " It is a link to nothing." if path.is_symlink() else nearest(path.name, beside)
            raise InvalidInput(f"{path}: no such file.{hint}")
        if path.is_dir():
            raise InvalidInput(f"{path}: a folder, not a file.")
        if path.stat().st_size == 0:
            raise InvalidInput(f"{path}: the file is empty.")


def read_records(
    path: Path,
    form: Form | None = None,
    *,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    field: str | None = None,
    bad: Bad | None = None,
) -> Iterator[Record]:
    """Yield the records of a file one by one, reading no further than is asked for.

    `columns` names the columns of a CSV file without a header; `field` is the field of a JSON
    object that holds the list of records. Lines of JSON that hold no record are an error; with
    `bad`, they are left out, and it is called with the error.
    """
    form = form or form_of(path.name)
    if form in ("csv", "tsv"):
        yield from _csv_records(path, "\t" if form == "tsv" else delimiter, columns)
    elif form == "parquet":
        yield from _parquet_records(path)
    elif form == "json":
        yield from _json_records(path, field, bad)
    else:
        yield from _line_records(path, bad)


def column_names(path: Path) -> list[str]:
    """Return the names of the columns, or of the first record's fields; none if that fails.

    Only the beginning of the file is read, so a reader can tell its own files by it. A JSON file
    that is one document has no beginning in this sense, and no names.
    """
    form = form_of(path.name)
    try:
        if form == "parquet":
            return [str(name) for name in _parquet_module(path).read_schema(path).names]
        if form in ("csv", "tsv"):
            with open_delimited(path, "\t" if form == "tsv" else None) as lines:
                return [name.strip() for name in next(filter(None, lines), [])]
        if form == "jsonl" or (form == "json" and _holds_lines(path)):
            _, first = next(_json_lines(path), (None, None))
            return [str(name) for name in first] if isinstance(first, dict) else []
    except Exception:  # the reader that takes the file says what is wrong with it
        return []
    return []


# -- text ----------------------------------------------------------------------------------


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what can go wrong with the bytes of a file into `InvalidInput`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: is not UTF-8 text ({error.reason}).") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path}: cannot be read: {reason}.") from None


def _open(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def text_lines(path: Path) -> Iterator[tuple[Place, str]]:
    """Yield the lines of a file that are not blank, each with its place."""
    with reading(path), _open(path) as file:
        for number, line in enumerate(_lines(file, path), start=1):
            if text := line.strip():
                yield Place(path, number), text


def _lines(file: IO[str], path: Path) -> Iterator[str]:
    """Yield the lines of a file; refuse one that would fill the memory."""
    for line in iter(partial(file.readline, LONGEST_LINE), ""):
        if len(line) == LONGEST_LINE:
            raise InvalidInput(f"{path}: has a line of more than {LONGEST_LINE:,} characters.")
        yield line


def text_chunks(path: Path) -> Iterator[str]:
    """Yield the text of a file piece by piece."""
    with reading(path), _open(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def read_text(path: Path, most: int) -> str:
    """Return the beginning of a file, at most so many characters."""
    with reading(path), _open(path) as file:
        return file.read(most)


# -- CSV and TSV ---------------------------------------------------------------------------


@contextmanager
def open_delimited(
    path: Path, delimiter: str | None = None, *, strip: bool = False
) -> Iterator[CsvReader]:
    """Open a CSV file as rows of cells; without a delimiter, the first line decides.

    With `strip`, spaces after a delimiter are no part of a cell, if the first line has them too.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with reading(path), _open(path) as file:
        first = next(filter(str.strip, _lines(file, path)), "")
        file.seek(0)
        # Spreadsheets write semicolons where the comma is the decimal sign.
        mark = delimiter or next((mark for mark in ",;\t" if mark in first), ",")
        skip = strip and f"{mark} " in first
        lines = csv.reader(_lines(file, path), delimiter=mark, skipinitialspace=skip, strict=True)
        try:
            yield lines
        except csv.Error as error:
            place = Place(path, lines.line_num)
            raise InvalidInput(f"is not CSV: {error}.", place=place) from None


def check_header(path: Path, line: int, header: Sequence[str]) -> None:
    """Raise `InvalidInput` if two columns have the same name; several may have none."""
    names = [name for name in header if name]
    if len(set(names)) < len(names):
        shown = ", ".join(header)
        raise InvalidInput(f"column names must be distinct; got {shown}.", place=Place(path, line))


def joined_cells(path: Path, lines: CsvReader, width: int) -> list[str]:
    """Return the cells of all further rows, one row after another; each must have `width`."""
    cells: list[str] = []
    for row in lines:
        if len(row) == width:
            cells += row
        elif row:
            raise _ragged(path, lines.line_num, len(row), width)
    return cells


def _csv_records(
    path: Path, delimiter: str | None, columns: Sequence[str] | None
) -> Iterator[Record]:
    with open_delimited(path, delimiter) as lines:
        header = list(next(filter(None, lines), []) if columns is None else columns)
        check_header(path, max(lines.line_num, 1), header)
        for row in lines:
            if len(row) == len(header):
                yield dict(zip(header, row, strict=True))
            elif row:
                raise _ragged(path, lines.line_num, len(row), len(header))


def _ragged(path: Path, line: int, cells: int, columns: int) -> InvalidInput:
    count = "1 cell" if cells == 1 else f"{cells} cells"
    return InvalidInput(f"has {count}, but there are {columns} columns.", place=Place(path, line))


# -- JSON ----------------------------------------------------------------------------------


def read_json(path: Path, form: Form | None = None, *, bad: Bad | None = None) -> Any:
    """Return what a JSON file holds; for a file with a value in each line, the list of them.

    A line that is not JSON is an error; with `bad`, it is left out, and `bad` gets the error.
    """
    if (form or form_of(path.name)) == "jsonl" or _holds_lines(path):
        return [value for _, value in _json_lines(path, bad)]
    return _document(path)


def _document(path: Path) -> Any:
    with reading(path), _open(path) as file:
        text = file.read(LARGEST_DOCUMENT + 1)
    if len(text) > LARGEST_DOCUMENT:
        raise InvalidInput(
            f"{path}: the JSON document is larger than {LARGEST_DOCUMENT:,} characters; "
            "write one record per line (.jsonl)."
        )
    return parse_json(text, Place(path, 1))


def _json_lines(path: Path, bad: Bad | None = None) -> Iterator[tuple[Place, Any]]:
    for place, line in text_lines(path):
        try:
            value = parse_json(line, place)
        except InvalidInput as error:
            if bad is None:
                raise
            bad(error)
        else:
            yield place, value


def _line_records(path: Path, bad: Bad | None) -> Iterator[Record]:
    for place, value in _json_lines(path, bad):
        if bad is None or isinstance(value, dict):
            yield _record(value, place)
        else:
            bad(InvalidInput(_NO_OBJECT.format(value), place=place))


def _holds_lines(path: Path) -> bool:
    """Return whether the first line holds a whole JSON value, and is not the only line."""
    with reading(path), _open(path) as file:
        lines = filter(str.strip, _lines(file, path))
        first, second = next(lines, ""), next(lines, "")
    if not second:
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _json_records(path: Path, field: str | None, bad: Bad | None) -> Iterator[Record]:
    if field is None and _holds_lines(path):
        yield from _line_records(path, bad)
        return
    rows = _document(path)
    if field is not None:
        rows = _field(rows, field, path)
    elif _is_one_record(path, rows):
        rows = [rows]
    if not isinstance(rows, list):
        fields = f" Its fields are {', '.join(map(str, rows))}." if isinstance(rows, dict) else ""
        raise InvalidInput(
            f"{path}: must be a list of objects or one object in each line; if the list is in a "
            f"field of an object, name it (in a task, dataset_kwargs.field).{fields}"
        )
    for index, row in enumerate(rows):
        yield _record(row, f"{path}: item {index + 1}")


def _is_one_record(path: Path, value: Any) -> bool:
    """Tell a record on the only line of a file from an object that spreads over lines."""
    if not isinstance(value, dict):
        return not isinstance(value, list)
    with reading(path), _open(path) as file:
        return sum(1 for line in _lines(file, path) if line.strip()) == 1


def _field(value: Any, field: str, path: Path) -> Any:
    if not isinstance(value, dict) or field not in value:
        hint = nearest(field, value) if isinstance(value, dict) else ""
        raise InvalidInput(f"{path}: there is no field {field!r}.{hint}")
    return value[field]


def parse_json(text: str, place: Place) -> Any:
    """Return the value of a JSON text that begins at `place`."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except InvalidInput as error:
        raise InvalidInput(error.message, place=place) from None
    except json.JSONDecodeError as error:
        line = Place(place.file, place.line + error.lineno - 1)
        raise InvalidInput(f"is not JSON: {error.msg}.", place=line) from None
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]
        raise InvalidInput(f"JSON too large or too deeply nested: {reason}.", place=place) from None


def _distinct(pairs: list[tuple[str, Any]]) -> Record:
    """Return an object; of two values under one key, Python would keep the last."""
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"has the key {twice!r:.60} twice.")
    return record


def _record(value: Any, where: Place | str) -> Record:
    if not isinstance(value, dict):
        message = _NO_OBJECT.format(value)
        if isinstance(where, Place):
            raise InvalidInput(message, place=where)
        raise InvalidInput(f"{where}: {message}")
    return value


# -- Parquet -------------------------------------------------------------------------------


def read_parquet(path: Path) -> Any:
    """Return a Parquet file as a pyarrow table."""
    module = _parquet_module(path)
    with _parquet_errors(path):
        return module.read_table(path)


def _parquet_records(path: Path) -> Iterable[Record]:
    module = _parquet_module(path)
    with _parquet_errors(path), module.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1024):
            yield from batch.to_pylist()


def _parquet_module(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(f"{path}: Parquet files need pyarrow: pip install pyarrow.") from None
    return pyarrow.parquet


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (InvalidInput, GeneratorExit):
        raise
    except Exception as error:  # a broken file can raise anything
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InvalidInput(f"{path}: is not a Parquet file: {reason}") from None
