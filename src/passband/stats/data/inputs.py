"""Read arrays of scores, and names of problems and clusters, into `Outcomes`.

Scores become a matrix with a mask of present entries; names of any type are kept as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passband.errors import InvalidInput, WrongType
from passband.stats.data.cells import is_absent
from passband.stats.data.counts import byte_row_sums
from passband.types import Bools, Ints


def score_matrix(scores: Any) -> tuple[NDArray[np.generic], Bools | None, Ints | None]:
    """Return a 2-D numeric array, a mask of present entries, and the lengths of the rows.

    The mask is None if all entries are present, the lengths if every row fills the array.
    """
    if isinstance(scores, np.ma.MaskedArray):
        unmasked = ~np.ma.getmaskarray(scores)
        values, present, lengths = score_matrix(scores.filled(0))
        return values, unmasked if present is None else unmasked & present, lengths
    if not isinstance(scores, np.ndarray) and hasattr(scores, "__array__"):
        scores = np.asarray(scores)  # a data frame, a tensor
    if isinstance(scores, np.ndarray) and scores.dtype.kind in "biuf":
        return *_finite(_shaped(scores)), None
    if isinstance(scores, np.ndarray) and scores.dtype.kind != "O":
        raise WrongType(f"scores must be numbers; got an array of {scores.dtype}.")
    rows = _rows(scores)
    return *_finite(_padded(rows)), np.array([len(row) for row in rows])


def _shaped(values: NDArray[np.generic]) -> NDArray[np.generic]:
    if values.ndim != 2:
        raise InvalidInput(
            f"scores must have two dimensions, problems by trials; got {values.ndim}. "
            "For one trial per problem use scores[:, None]."
        )
    if values.shape[0] == 0:
        raise InvalidInput("there must be at least one problem; got none.")
    if values.shape[1] == 0:
        raise InvalidInput("there must be at least one trial; got none.")
    return values


def _finite(values: NDArray[np.generic]) -> tuple[NDArray[np.generic], Bools | None]:
    if values.dtype.kind != "f":
        return values, None
    missing = np.isnan(values)
    if np.isinf(values).any():
        raise InvalidInput("scores must be finite or missing; got an infinite one.")
    return values, ~missing if missing.any() else None


def _rows(scores: Any) -> list[list[Any]]:
    try:
        rows = list(scores)
    except TypeError:
        raise WrongType(
            "scores must be a matrix or a list of lists, one list per problem; "
            f"got {type(scores).__name__}."
        ) from None
    for index, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise WrongType(f"problem {index} must be a list of scores; got {row!r}.")
    return [list(row) for row in rows]


def _padded(rows: list[list[Any]]) -> NDArray[np.generic]:
    """Lay out rows of different lengths, with NaN for missing entries."""
    values = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for index, row in enumerate(rows):
        try:
            values[index, : len(row)] = [_number(score) for score in row]
        except (TypeError, ValueError, OverflowError):
            wrong = next(score for score in row if not _is_number(score))
            raise WrongType(
                f"scores must be numbers or None; problem {index} has {wrong!r}."
            ) from None
    return _shaped(values)


def _number(score: Any) -> float:
    if score is None or score is np.ma.masked or type(score).__name__ == "NAType":
        return np.nan
    if isinstance(score, (str, bytes)):
        raise TypeError  # "1" would pass for a number
    return float(score)


def _is_number(score: Any) -> bool:
    try:
        _number(score)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def masked_sums(values: NDArray[np.generic], present: Bools) -> Ints | None:
    """Add up each row of the present 0s and 1s; None if any of them is something else."""
    ones = (values == 1) & present
    binary = (ones | (values == 0) | ~present).all()
    return byte_row_sums(ones) if binary else None


class Numbered(Sequence[str]):
    """The names "0", "1", ..., made when needed.

    >>> Numbered(3)[1], Numbered(3) == ("0", "1", "2")
    ('1', True)
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        chosen = range(self._count)[index]
        return str(chosen) if isinstance(chosen, int) else tuple(map(str, chosen))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return self._count == other._count
        return isinstance(other, (list, tuple)) and self[:] == tuple(other)

    def __hash__(self) -> int:
        return hash(self[:])


def problem_labels(labels: Sequence[object] | None, count: int) -> Sequence[str]:
    """Return the names of problems as text, or numbers if there are none."""
    return Numbered(count) if labels is None else as_labels(labels) or ()


def as_labels(labels: Iterable[object] | None) -> tuple[str, ...] | None:
    """Return labels as text; None stays None, and a label that is missing is refused."""
    if labels is None:
        return None
    names = list(labels)
    for index, label in enumerate(names):
        if not isinstance(label, str) and is_absent(label):
            raise InvalidInput(
                f"every problem must have a label; that of problem {index} is {label}."
            )
    return tuple(map(str, names))


def check_labels(name: str, labels: Sequence[str], count: int, *, distinct: bool) -> None:
    """Refuse labels that do not name every problem, or that name two alike."""
    if len(labels) != count:
        raise InvalidInput(f"{name} must name all {count} problems; got {len(labels)} names.")
    if distinct and not isinstance(labels, Numbered) and len(set(labels)) < count:
        twice = next(label for label, times in Counter(labels).items() if times > 1)
        raise InvalidInput(f"{name} must be distinct; {twice!r} is duplicated.")
