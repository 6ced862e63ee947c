"""Large plain CSV files as columns of codes, read by numpy.

Only files in which a cell is what is between two delimiters: ASCII, without quotes, blank lines,
spaces before cells or carriage returns. All others, and small ones, are left to Python's csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from passband.readers.tables.matrix import is_number_or_nothing
from passband.stats.data import CodedColumn
from passband.types import Ints

_WORTHWHILE = 1 << 20  # bytes; smaller files are read in no time
_LARGEST = 1 << 30
_WIDEST = 64  # characters of a cell
_WORD = 8  # characters that are compared together
_KEPT = np.array([(1 << 8 * count) - 1 for count in range(_WORD + 1)], dtype=np.uint64)
_NEWLINE, _SPACE = 10, 32


def coded_columns(
    path: Path, delimiter: str | None, *, least: int = _WORTHWHILE
) -> dict[str, CodedColumn] | None:
    """Return the columns of a file by name; None where it is not as plain as it must be."""
    if path.suffix.lower() == ".gz" or not least <= path.stat().st_size <= _LARGEST:
        return None
    raw = path.read_bytes()
    raw += b"" if raw.endswith(b"\n") else b"\n"
    if not raw.isascii() or any(character in raw for character in (b"\0", b"\r", b'"')):
        return None
    first = raw[: raw.index(b"\n")].decode("ascii")
    mark = delimiter or next((mark for mark in ",;\t" if mark in first), ",")
    header = [name.strip() for name in first.split(mark)]
    data = np.frombuffer(raw + bytes(_WORD), np.uint8)  # so that a word begins at every character
    cells = _cells(data[:-_WORD], ord(mark), len(header))
    if cells is None or not _are_names(header):
        return None
    starts, ends = cells
    return {
        name: _column(data, starts[1:, place], ends[1:, place]) for place, name in enumerate(header)
    }


def _are_names(header: Sequence[str]) -> bool:
    """Return whether a header names columns; one that csv would have to judge does not."""
    return len(set(header)) == len(header) and not any(map(is_number_or_nothing, header))


def _cells(data: NDArray[np.uint8], mark: int, width: int) -> tuple[Ints, Ints] | None:
    """Return where each cell begins and ends, by row and column; None where rows differ."""
    ends = np.flatnonzero((data == mark) | (data == _NEWLINE))
    if len(ends) % width or len(ends) < 2 * width:
        return None
    is_last = (data[ends] == _NEWLINE).reshape(-1, width)
    if not is_last[:, -1].all() or is_last[:, :-1].any():
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (data[np.minimum(starts, len(data) - 1)] == _SPACE).any():
        return None
    if (ends - starts).max() > _WIDEST or (width == 1 and (ends == starts).any()):
        return None
    return starts.reshape(-1, width), ends.reshape(-1, width)


def _column(data: NDArray[np.uint8], starts: Ints, ends: Ints) -> CodedColumn:
    """Number the distinct cells of a column, eight characters at a time."""
    lengths = ends - starts
    words = -(-int(lengths.max()) // _WORD)
    codes: Ints = np.zeros(len(starts), dtype=np.int64)
    texts = [b""]
    for word in range(words):
        distinct, numbers = _numbered(_words(data, starts + _WORD * word, lengths - _WORD * word))
        together = codes * len(distinct) + numbers
        pairs, codes = _numbered(together)
        parts = [part.tobytes() for part in distinct.astype("<u8")]
        texts = [texts[pair // len(parts)] + parts[pair % len(parts)] for pair in pairs.tolist()]
    return CodedColumn.of_codes([text.rstrip(b"\0").decode("ascii") for text in texts], codes)


def _words(data: NDArray[np.uint8], starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """Return up to eight characters from each start on as a number; zeros follow the last."""
    words = np.ndarray(len(data) - _WORD + 1, "<u8", data, strides=(1,))
    last = len(words) - 1
    kept = _KEPT[np.clip(lengths, 0, _WORD)]
    return np.asarray(words[np.minimum(starts, last)] & kept)


def _numbered(values: NDArray[np.uint64 | np.int64]) -> tuple[Ints, Ints]:
    """Return the distinct values, and the number of each row's among them."""
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    if 4 * len(changes) < len(values):  # long runs of one value
        heads = np.concatenate([[0], changes])
        distinct, numbers = _numbered_all(values[heads])
        return distinct, np.repeat(numbers, np.diff(np.append(heads, len(values))))
    return _numbered_all(values)


def _numbered_all(values: NDArray[np.uint64 | np.int64]) -> tuple[Ints, Ints]:
    distinct = np.unique(values)  # sorting alone is several times as fast as with the inverse
    return distinct, np.searchsorted(distinct, values)
