"""The rows of a data set: JSON, JSON lines, CSV, TSV and Parquet files, or the Hugging Face hub.

Cells of CSV and TSV files stay the text that they are: "007" is not 7, and an empty cell is
empty text. Only as many rows are read as are asked for, where the format allows it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any

from passband.errors import InvalidInput, Place, nearest

__all__ = ["DataSource", "plain_rows", "read_rows"]

LONGEST_CELL = 10_000_000  # characters of one CSV cell
_FORMATS = ("json", "jsonl", "csv", "tsv", "parquet")
_OPTIONS = ("data_files", "data_dir", "field", "delimiter", "sep", "column_names", "names")
_HUB_ONLY = ("trust_remote_code", "revision", "cache_dir", "download_mode", "streaming", "token")


@dataclass(frozen=True)
class DataSource:
    """Where rows come from: dataset_path, dataset_name and dataset_kwargs of a task."""

    path: str
    place: Place  # of dataset_path, for errors
    folder: Path  # files are looked for relative to it
    name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def error(self, message: str) -> InvalidInput:
        return InvalidInput(message, place=self.place)


def read_rows(
    source: DataSource, split: str | None, limit: int | None = None
) -> list[dict[str, Any]]:
    """Read the first rows of a split, or all; without a split, of whatever there is to test on."""
    kind, files = _files(source)
    if kind is None or any("://" in str(name) for names in files.values() for name in names):
        return _hub_rows(source, split, limit)
    _check_options(source)
    read = _READERS[kind]
    rows: Iterator[dict[str, Any]] = (
        row for name in _of_split(source, files, split) for row in read(_path(source, name), source)
    )
    found = list(islice(rows, limit))
    if not found:
        raise source.error(f"the data set has no rows{f' in split {split!r}' if split else ''}.")
    return plain_rows(found)


def plain_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of plain values alone: text, numbers, true and false, null, lists, mappings."""
    return [
        {str(name): plain for name, value in row.items() if (plain := _plain(value)) is not _NONE}
        for row in rows
    ]


# -- which files ---------------------------------------------------------------------------

Files = Mapping[str | None, list[str]]  # by split; None stands for every split


def _files(source: DataSource) -> tuple[str | None, Files]:
    """Say how the data are written and in which files; no format means the hub."""
    if source.path in _FORMATS:
        given = source.options.get("data_files")
        if given is None:
            raise source.error(f"dataset_path {source.path} needs dataset_kwargs.data_files.")
        return source.path, _by_split(source, given)
    path = source.folder / source.path
    kind = _format_of(source.path)
    if kind is not None:
        return kind, {None: [source.path]}
    if path.is_dir():
        return _folder(source, path)
    if source.path.startswith((".", "/", "~")):
        raise source.error(f"there is no data file {path}.")
    return None, {}


def _format_of(name: str) -> str | None:
    kind = Path(name.removesuffix(".gz")).suffix.removeprefix(".").lower()
    return kind if kind in _FORMATS else "jsonl" if kind == "ndjson" else None


def _by_split(source: DataSource, given: Any) -> Files:
    if isinstance(given, Mapping):
        return {str(split): _names(source, names) for split, names in given.items()}
    return {None: _names(source, given)}


def _names(source: DataSource, given: Any) -> list[str]:
    names = given if isinstance(given, list) else [given]
    if not names or not all(isinstance(name, str) for name in names):
        raise source.error(
            f"data_files must be a file, a list of files, or files by split; got {given!r:.60}."
        )
    return names


def _folder(source: DataSource, path: Path) -> tuple[str | None, Files]:
    """Take a folder's files for its splits: test.jsonl, train.csv, ..."""
    found = {file.name.split(".")[0]: file for file in sorted(path.iterdir()) if file.is_file()}
    files = {name: file for name, file in found.items() if _format_of(file.name)}
    kinds = {_format_of(file.name) for file in files.values()}
    if len(kinds) != 1:
        raise source.error(f"{path} must hold files of one format, such as test.jsonl.")
    return kinds.pop(), {name: [str(Path(source.path) / f.name)] for name, f in files.items()}


def _of_split(source: DataSource, files: Files, split: str | None) -> list[str]:
    if None in files:
        return files[None]
    if split is None:
        split = next((name for name in ("test", "validation", "train") if name in files), None)
    if split not in files:
        known = [str(name) for name in files]
        told = f"split {split!r}" if split else "test_split, and no split named test"
        raise source.error(
            f"there is no {told} in the data.{nearest(split or '', known)} "
            f"Splits: {', '.join(known)}."
        )
    return files[split]


def _path(source: DataSource, name: str) -> Iterator[Path]:
    """Yield the file of a name, or the files of a pattern."""
    folder = source.folder / str(source.options.get("data_dir") or "")
    if "*" in name:
        paths = sorted(folder.glob(name))
        if not paths:
            raise source.error(f"no data file matches {folder / name}.")
        yield from paths
        return
    path = folder / Path(name).expanduser()
    if not path.is_file():
        raise source.error(f"there is no data file {path}; paths are relative to the task file.")
    yield path


def _check_options(source: DataSource) -> None:
    for name in source.options:
        if name not in _OPTIONS and name not in _HUB_ONLY:
            raise source.error(
                f"unknown key {name!r} in dataset_kwargs.{nearest(str(name), _OPTIONS)}"
            )


# -- formats -------------------------------------------------------------------------------

Reader = Callable[[Iterator[Path], DataSource], Iterator[dict[str, Any]]]


def _reader(read: Callable[[Path, DataSource], Iterator[Any]]) -> Reader:
    """Read several files one after another, and make sure that every row is an object."""

    def rows(paths: Iterator[Path], source: DataSource) -> Iterator[dict[str, Any]]:
        for path in paths:
            yield from _guarded(path, read(path, source))

    return rows


def _guarded(path: Path, rows: Iterator[Any]) -> Iterator[dict[str, Any]]:
    try:
        yield from rows
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is not UTF-8 text.") from None
    except (OSError, EOFError) as error:
        raise InvalidInput(f"{path}: cannot be read: {error}.") from None


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _json(path: Path, source: DataSource) -> Iterator[Any]:
    """Read a list of objects, objects in lines, or a list in a field of one object."""
    within = source.options.get("field")
    if within is None:
        with _open(path) as file:
            if _starts_with_lines(file):
                yield from _json_lines(file, path)
                return
    with _open(path) as file:
        value = _decode(file.read(), path, 1)
    rows = value if within is None else _within(value, str(within), path)
    if not isinstance(rows, list):
        raise InvalidInput(
            f"{path}: must be a list of objects or one object in each line; if the list is in a "
            f"field of an object, name it in dataset_kwargs.field.{_fields(rows)}"
        )
    for index, row in enumerate(rows):
        yield _object(row, f"{path}: item {index + 1}")


def _within(value: Any, within: str, path: Path) -> Any:
    if not isinstance(value, dict) or within not in value:
        hint = nearest(within, value) if isinstance(value, dict) else ""
        raise InvalidInput(f"{path}: there is no field {within!r}.{hint}")
    return value[within]


def _fields(value: Any) -> str:
    return f" Its fields are {', '.join(map(str, value))}." if isinstance(value, dict) else ""


def _starts_with_lines(file: IO[str]) -> bool:
    """Tell whether the first line that is not empty holds a whole object; rewinds the file."""
    first = next((line for line in file if line.strip()), "")
    file.seek(0)
    if first.lstrip().startswith("["):
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def _json_lines(file: IO[str], path: Path) -> Iterator[Any]:
    for number, line in enumerate(file, start=1):
        if line.strip():
            yield _object(_decode(line.strip(), path, number), f"{path}:{number}")


def _lines_of(path: Path, source: DataSource) -> Iterator[Any]:
    with _open(path) as file:
        yield from _json_lines(file, path)


def _decode(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        at = line + getattr(error, "lineno", 1) - 1
        what = getattr(error, "msg", None) or error
        raise InvalidInput(f"is not JSON: {what}.", place=Place(path, at)) from None


def _object(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InvalidInput(f"{where}: every row must be an object; got {row!r:.60}.")
    return row


def _csv(path: Path, source: DataSource, delimiter: str = ",") -> Iterator[Any]:
    options = source.options
    separator = options.get("delimiter") or options.get("sep") or delimiter
    if not isinstance(separator, str) or len(separator) != 1:
        raise source.error(f"delimiter must be one character; got {separator!r}.")
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with _open(path) as file:
        lines = csv.reader(file, delimiter=separator, strict=True)
        try:
            yield from _records(lines, options.get("column_names") or options.get("names"), path)
        except csv.Error as error:
            place = Place(path, lines.line_num)
            raise InvalidInput(f"is not CSV: {error}.", place=place) from None


def _records(lines: Any, header: list[str] | None, path: Path) -> Iterator[dict[str, str]]:
    if header is None:
        header = next(lines, [])
    if len(set(header)) != len(header):
        raise InvalidInput(f"{path}:1: two columns have the same name: {', '.join(header)}.")
    for cells in lines:
        if not cells:
            continue
        if len(cells) != len(header):
            raise InvalidInput(
                f"{path}:{lines.line_num}: has {len(cells)} cells; there are {len(header)} columns."
            )
        yield dict(zip(header, cells, strict=True))


def _tsv(path: Path, source: DataSource) -> Iterator[Any]:
    return _csv(path, source, "\t")


def _parquet(path: Path, source: DataSource) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise InvalidInput(
            f"{path}: Parquet files need pyarrow: pip install 'passband[parquet]'."
        ) from None
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                yield from batch.to_pylist()
    except ArrowException as error:
        raise InvalidInput(f"{path}: is not a Parquet file: {error}.") from None


_READERS: Mapping[str, Reader] = {
    "json": _reader(_json),
    "jsonl": _reader(_lines_of),
    "csv": _reader(_csv),
    "tsv": _reader(_tsv),
    "parquet": _reader(_parquet),
}


# -- the hub -------------------------------------------------------------------------------


def _hub_rows(source: DataSource, split: str | None, limit: int | None) -> list[dict[str, Any]]:
    try:
        import datasets
    except ImportError:
        raise source.error(
            f"{source.path!r} is not a file here; data sets from the Hugging Face hub need "
            "pip install 'passband[datasets]'."
        ) from None
    # A data set is data: whatever the task says, no script of a data set is run.
    options = {**source.options, "trust_remote_code": False}
    try:
        loaded = datasets.load_dataset(source.path, source.name, split=split or "test", **options)
        rows = loaded.select(range(min(limit, len(loaded)))) if limit is not None else loaded
        return plain_rows(dict(row) for row in rows)
    except Exception as error:
        # The library raises dozens of kinds: no network, no such name, no such split, a script.
        hint = nearest(source.path, _FORMATS)
        raise source.error(f"data set {source.path!r} cannot be loaded: {error}{hint}") from error


# -- plain values --------------------------------------------------------------------------

_NONE = object()  # of a value that cannot stand in a template, such as an image


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        pairs = ((str(key), _plain(inner)) for key, inner in value.items())
        return {key: inner for key, inner in pairs if inner is not _NONE}
    if isinstance(value, list | tuple):
        return [inner for inner in map(_plain, value) if inner is not _NONE]
    if isinstance(value, datetime | date | time | Decimal):
        return str(value)
    if hasattr(value, "tolist"):  # numpy
        return _plain(value.tolist())
    return _NONE
