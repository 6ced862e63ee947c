"""Scores as they come, in arrays and lists of any kind, to a matrix and what of it is there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from passband.errors import InvalidInput, WrongType
from passband.stats.counts import byte_row_sums
from passband.types import Bools, Ints

__all__ = ["absent_trials", "masked_sums", "score_matrix"]


def score_matrix(scores: Any) -> tuple[NDArray[np.generic], Bools | None]:
    """Return a 2-D numeric array and which entries are present (None: all of them)."""
    if isinstance(scores, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(scores)
        values, inner = score_matrix(scores.filled(0))
        return _shaped(values), present if inner is None else present & inner
    if isinstance(scores, np.ndarray) and scores.dtype.kind in "biuf":
        return _finite(_shaped(scores))
    if isinstance(scores, np.ndarray) and scores.dtype.kind != "O":
        raise WrongType(f"scores must be numbers; got an array of {scores.dtype}.")
    return _finite(_from_rows(scores))


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


def _from_rows(rows: Any) -> NDArray[np.generic]:
    """Lay out rows of different lengths, with NaN for what is not there."""
    try:
        listed = [list(row) for row in rows]
    except TypeError:
        raise WrongType(
            "scores must be a matrix or a list of lists, one list per problem; "
            f"got {type(rows).__name__}."
        ) from None
    width = max(map(len, listed), default=0)
    values = np.full((len(listed), width), np.nan)
    for at, row in enumerate(listed):
        try:
            values[at, : len(row)] = [np.nan if score is None else float(score) for score in row]
        except (TypeError, ValueError):
            wrong = next(score for score in row if not _is_number(score))
            raise WrongType(
                f"scores must be numbers or None; problem {at} has {wrong!r}."
            ) from None
    return _shaped(values)


def _is_number(score: object) -> bool:
    if score is None:
        return True
    try:
        float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def absent_trials(scores: Any, trials: Ints) -> Ints:
    """Return how many trials of each problem were there but had no score."""
    if isinstance(scores, np.ndarray):
        return np.asarray(scores.shape[1] - trials)
    return np.array([len(row) for row in scores]) - trials


def masked_sums(values: NDArray[np.generic], present: Bools) -> Ints | None:
    ones = (values == 1) & present
    binary = (ones | (values == 0) | ~present).all()
    return byte_row_sums(ones) if binary else None
