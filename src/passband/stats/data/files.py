"""Files of trials: tables (CSV, TSV, JSON, JSONL, Parquet) and matrices (CSV, .npy, .npz)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.tables import ROLES, Table

if TYPE_CHECKING:
    from _csv import Reader

__all__ = ["read"]

_LONGEST_CELL = 1 << 30  # completions may be long


def read(path: Path, *, columns: Sequence[str] = ()) -> Table | Outcomes:
    """Read a file: a table with named columns, or outcomes where it holds a bare matrix.

    `columns` are names that the caller is going to use, which a matrix does not have.
    """
    try:
        found = _reader(path)(path)
        if columns and isinstance(found, Outcomes):
            raise InvalidInput(f"a matrix without column names; there is no {columns[0]!r}.")
        return found
    except InvalidInput as error:
        raise type(error)(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not UTF-8 text ({error.reason}).") from None
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}.") from None


def _reader(path: Path) -> Callable[[Path], Table | Outcomes]:
    if not path.exists():
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidInput(f"no such file.{nearest(path.name, beside)}")
    if path.is_dir():
        raise InvalidInput("a folder, not a file.")
    kind = path.suffix.lower()
    if kind not in _READERS:
        ending = repr(kind) if kind else "a name without an ending"
        raise UnknownName(
            f"cannot tell the file type from {ending}; "
            f"known: {', '.join(sorted(_READERS))}.{nearest(kind, _READERS)}"
        )
    if path.stat().st_size == 0:
        raise InvalidInput("the file is empty.")
    return _READERS[kind]


def _read_delimited(path: Path, delimiter: str) -> Table | Outcomes:
    limit = csv.field_size_limit(_LONGEST_CELL)
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            return _of_lines(lines)
        except csv.Error as error:
            raise InvalidInput(f"line {lines.line_num}: not a table: {error}.") from None
        finally:
            csv.field_size_limit(limit)


def _of_lines(lines: Reader) -> Table | Outcomes:
    header = [name.strip() for name in next(filter(None, lines), [])]
    if not header:
        raise InvalidInput("the file is empty.")
    if not all(_is_number_or_nothing(name) for name in header):
        return _table_of_text(header, lines)
    rows = [header, *_numbers_of_text(lines)]
    if _is_written_frame(rows):
        return _table(header, [cell for row in rows[1:] for cell in row])
    return Outcomes.from_array([[float(cell) if cell else None for cell in row] for row in rows])


def _table_of_text(header: list[str], lines: Reader) -> Table:
    cells: list[str] = []
    for row in lines:
        if len(row) == len(header):
            cells += row
        elif row:
            raise InvalidInput(
                f"line {lines.line_num} has {len(row)} cells, but there are {len(header)} columns."
            )
    return _table(header, cells)


def _table(header: list[str], cells: list[str]) -> Table:
    """Take the cells of all rows, one row after the other."""
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        raise InvalidInput(f"column names must be distinct; got {', '.join(header)}.")
    if not cells:
        raise InvalidInput(f"there are columns ({', '.join(header)}) but no rows.")
    return Table({name: cells[at :: len(header)] for at, name in enumerate(header)})


def _numbers_of_text(lines: Reader) -> Iterator[list[str]]:
    for row in filter(None, lines):
        for cell in row:
            if not _is_number_or_nothing(cell):
                raise InvalidInput(f"line {lines.line_num}: {cell!r} in a matrix of numbers.")
        yield [cell.strip() for cell in row]


def _is_written_frame(rows: list[list[str]]) -> bool:
    """Recognize numbers above the columns and beside the rows, as data frames are written."""
    header, *rest = rows
    return (
        len(header) > 2
        and header == ["", *map(str, range(len(header) - 1))]
        and [row[0] for row in rest] == [str(number) for number in range(len(rest))]
        and all(len(row) == len(header) for row in rest)
    )


def _is_number_or_nothing(cell: str) -> bool:
    if not cell.strip():
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_csv(path: Path) -> Table | Outcomes:
    with path.open(encoding="utf-8-sig") as file:
        first = next((line for line in file if line.strip()), "")
    # Spreadsheets write semicolons where the comma is the decimal sign.
    return _read_delimited(path, next((mark for mark in ",;\t" if mark in first), ","))


def _read_tsv(path: Path) -> Table | Outcomes:
    return _read_delimited(path, "\t")


def _read_jsonl(path: Path) -> Table | Outcomes:
    with path.open(encoding="utf-8-sig") as file:
        lines = enumerate(file, start=1)
        return _of_json([_parsed(line, number) for number, line in lines if line.strip()])


def _read_json(path: Path) -> Table | Outcomes:
    try:
        found = _parsed(path.read_text(encoding="utf-8-sig"))
    except InvalidInput as error:
        if "Extra data" in str(error):  # a record per line goes by this name too
            return _read_jsonl(path)
        raise
    return _of_json(found)


def _parsed(text: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"line {line or error.lineno} is not JSON: {error.msg}.") from None
    except (ValueError, RecursionError) as error:  # numbers too long, brackets too deep
        where = f"line {line}: " if line else ""
        raise InvalidInput(f"{where}JSON beyond all bounds: {error}.") from None


def _of_json(found: Any) -> Table | Outcomes:
    if isinstance(found, list) and found and isinstance(found[0], list):
        return Outcomes.from_array(found)
    if isinstance(found, dict) and found and _is_scores_by_problem(found):
        return Outcomes.from_array(list(found.values()), problems=list(found))
    if isinstance(found, (list, dict)) and found:
        return Table.of(found)
    raise InvalidInput(f"need records, columns or rows of scores; got {json.dumps(found)[:60]}.")


def _is_scores_by_problem(found: dict[str, Any]) -> bool:
    """Tell {"problem 1": [1, 0], "problem 2": [1]} from columns by name."""
    roles = [name for role in ROLES.values() for name in role]
    return not Table(found).matching(roles) and all(
        isinstance(row, list) and all(isinstance(score, int | float | None) for score in row)
        for row in found.values()
    )


def _read_parquet(path: Path) -> Table | Outcomes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(
            "reading Parquet needs the extra 'parquet': pip install 'passband[parquet]'."
        ) from None
    try:
        found = pyarrow.parquet.read_table(path)
    except Exception as error:  # a broken file can set off anything
        raise InvalidInput(f"not a Parquet file: {_first_line(error)}") from None
    return Table.of(found)


def _read_numpy(path: Path) -> Table | Outcomes:
    arrays = _arrays(path)
    if len(arrays) == 1:
        return Outcomes.from_array(next(iter(arrays.values())))
    if {"successes", "trials"} <= set(arrays):
        extra = {name: arrays[name] for name in ("problems", "clusters") if name in arrays}
        return Outcomes.from_counts(arrays["successes"], arrays["trials"], **extra)
    return Table.of(arrays)


def _arrays(path: Path) -> dict[str, Any]:
    """Load the arrays of a file by name, and nothing that would have to be unpickled."""
    try:
        with path.open("rb") as file:
            found = np.load(file, allow_pickle=False)
            return {"": found} if isinstance(found, np.ndarray) else dict(found)
    except Exception as error:  # a broken file can set off anything
        if "pickle" in str(error):
            raise InvalidInput(
                "not a numpy array of numbers; pickled objects are not loaded."
            ) from None
        raise InvalidInput(f"not a numpy file: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


_READERS: dict[str, Callable[[Path], Table | Outcomes]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".json": _read_json,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
    ".npy": _read_numpy,
    ".npz": _read_numpy,
}
