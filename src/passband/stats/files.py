"""Files of trials: tables (CSV, TSV, JSON, JSONL, Parquet) and matrices (CSV, .npy, .npz)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.stats.outcomes import Outcomes
from passband.stats.tables import Table

__all__ = ["read"]


def read(path: Path) -> Table | Outcomes:
    """Read a file: a table with named columns, or outcomes where it holds a bare matrix."""
    kind = path.suffix.lower()
    if kind not in _READERS:
        known = ", ".join(sorted(_READERS))
        raise UnknownName(
            f"{path}: cannot tell the file type from {kind or 'a name without an ending'!r}; "
            f"known: {known}.{nearest(kind, _READERS)}"
        )
    if not path.exists():
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidInput(f"{path}: no such file.{nearest(path.name, beside)}")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder, not a file.")
    if path.stat().st_size == 0:
        raise InvalidInput(f"{path}: the file is empty.")
    try:
        return _READERS[kind](path)
    except InvalidInput as error:
        raise type(error)(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not UTF-8 text ({error.reason}).") from None


def _read_delimited(path: Path, delimiter: str) -> Table | Outcomes:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
        except csv.Error as error:
            raise InvalidInput(f"not a table: {error}.") from None
    if not rows:
        raise InvalidInput("the file is empty.")
    header = [name.strip() for name in rows[0]]
    if all(_is_number_or_nothing(cell) for cell in header):
        return _matrix_of_text(rows)
    if len(set(header)) < len(header):
        raise InvalidInput(f"column names must be distinct; got {', '.join(header)}.")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InvalidInput(
                f"line {line} has {len(row)} cells, but there are {len(header)} columns."
            )
    if len(rows) == 1:
        raise InvalidInput(f"there are columns ({', '.join(header)}) but no rows.")
    return Table(dict(zip(header, map(list, zip(*rows[1:], strict=True)), strict=True)))


def _matrix_of_text(rows: list[list[str]]) -> Outcomes:
    values: list[list[float | None]] = []
    for line, row in enumerate(rows, start=1):
        for cell in row:
            if not _is_number_or_nothing(cell):
                raise InvalidInput(f"line {line}: {cell!r} in a matrix of numbers.")
        values.append([float(cell) if cell.strip() else None for cell in row])
    return Outcomes.from_array(values)


def _is_number_or_nothing(cell: str) -> bool:
    if not cell.strip():
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_csv(path: Path) -> Table | Outcomes:
    return _read_delimited(path, ",")


def _read_tsv(path: Path) -> Table | Outcomes:
    return _read_delimited(path, "\t")


def _read_jsonl(path: Path) -> Table | Outcomes:
    records = []
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise InvalidInput(f"line {number} is not JSON: {error.msg}.") from None
    return _of_json(records)


def _read_json(path: Path) -> Table | Outcomes:
    try:
        return _of_json(json.loads(path.read_text(encoding="utf-8-sig")))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"line {error.lineno} is not JSON: {error.msg}.") from None


def _of_json(found: Any) -> Table | Outcomes:
    if isinstance(found, list) and found and isinstance(found[0], list):
        return Outcomes.from_array(found)
    if isinstance(found, (list, dict)) and found:
        return Table.of(found)
    raise InvalidInput(f"need records, columns or rows of scores; got {json.dumps(found)[:60]}.")


def _read_parquet(path: Path) -> Table | Outcomes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(
            "reading Parquet needs the extra 'parquet': pip install 'passband[parquet]'."
        ) from None
    try:
        return Table.of(pyarrow.parquet.read_table(path))
    except pyarrow.ArrowInvalid as error:
        raise InvalidInput(f"not a Parquet file: {str(error).splitlines()[0]}") from None


def _read_npy(path: Path) -> Table | Outcomes:
    return Outcomes.from_array(_loaded(path))


def _read_npz(path: Path) -> Table | Outcomes:
    arrays = _loaded(path)
    names = list(arrays)
    if len(names) == 1:
        return Outcomes.from_array(arrays[names[0]])
    if {"successes", "trials"} <= set(names):
        extra = {name: arrays[name] for name in ("problems", "clusters") if name in names}
        return Outcomes.from_counts(arrays["successes"], arrays["trials"], **extra)
    return Table.of({name: arrays[name].tolist() for name in names})


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InvalidInput(f"not a numpy file: {error}.") from None


_READERS: dict[str, Callable[[Path], Table | Outcomes]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".json": _read_json,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
}
