"""Files of banks: a header and one row per item, as JSON lines or as Parquet.

What the header and the rows mean is `passband.adaptive.bank`'s business.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput, Place
from passband.files import read_parquet, require_file, text_lines
from passband.generate import JsonMapping, JsonObject

ENDINGS = (".jsonl", ".parquet")
MARK = "passband_bank"  # the header's first key; its value is the version of the format
_AS_JSON = ("messages", "doc", "quality")  # columns of Parquet that hold JSON


class BankRows(NamedTuple):
    """The header of a bank and its rows, each with its line in the file."""

    path: Path
    header: JsonMapping
    rows: Sequence[tuple[int, JsonMapping]]

    def place(self, line: int) -> Place:
        return Place(self.path, line)


def read_rows(path: Path) -> BankRows:
    """Read a file of JSON lines or Parquet; raise `InvalidInput` with the line of a mistake."""
    _check_ending(path)
    require_file(path)
    return _read_parquet(path) if path.suffix == ".parquet" else _read_lines(path)


def write_rows(path: Path, header: JsonMapping, rows: Iterable[JsonMapping]) -> None:
    """Write a file as a whole: another process sees the old one or the new one."""
    _check_ending(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        if path.suffix == ".parquet":
            _write_parquet(partial, header, list(rows))
        else:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{_json(row)}\n" for row in (header, *rows))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _check_ending(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise InvalidInput(f"{path}: a bank is a file that ends in .jsonl or .parquet.")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


# -- JSON lines ----------------------------------------------------------------------------


def _read_lines(path: Path) -> BankRows:
    rows = [(place.line, _object(text, place)) for place, text in text_lines(path)]
    if not rows or MARK not in rows[0][1]:
        raise InvalidInput(
            f'the first line of a bank is its header, {{"{MARK}": 1, "model": "2pl", ...}}; '
            f"got {_start(rows)}.",
            place=Place(path, 1),
        )
    return BankRows(path, rows[0][1], rows[1:])


def _start(rows: Sequence[tuple[int, JsonMapping]]) -> str:
    return f"{_json(rows[0][1])[:60]}" if rows else "nothing"


def _object(text: str, place: Place) -> JsonMapping:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}.", place=place) from None
    if not isinstance(value, dict):
        raise InvalidInput(f"every line must be an object; got {value!r:.60}.", place=place)
    return value


# -- Parquet -------------------------------------------------------------------------------


def _read_parquet(path: Path) -> BankRows:
    table = read_parquet(path)
    text = (table.schema.metadata or {}).get(MARK.encode())
    if text is None:
        raise InvalidInput(f"{path}: not a bank: the metadata of the file has no {MARK!r}.")
    header = _object(text.decode("utf-8", "replace"), Place(path, 0))
    rows = [(n, _without_nulls(row, Place(path, n))) for n, row in enumerate(table.to_pylist(), 1)]
    return BankRows(path, header, rows)


def _without_nulls(row: JsonMapping, place: Place) -> JsonObject:
    present = {name: value for name, value in row.items() if value is not None}
    return {n: _loaded(n, v, place) if n in _AS_JSON else v for n, v in present.items()}


def _loaded(name: str, text: Any, place: Place) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            f"{name} must be JSON, as text; got {text!r:.60}.", place=place
        ) from None


def _write_parquet(path: Path, header: JsonMapping, rows: Sequence[JsonMapping]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InvalidInput("Parquet needs pyarrow: pip install 'passband[parquet]'") from None
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [_cell(name, row.get(name)) for row in rows] for name in names}
    table = pa.table(columns).replace_schema_metadata({MARK: _json(header)})
    pq.write_table(table, path)


def _cell(name: str, value: Any) -> Any:
    return _json(value) if name in _AS_JSON and value is not None else value
