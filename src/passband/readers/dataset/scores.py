"""Scores of a batch as states: failed, succeeded, without a score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.batches import RowBatch, encoded, numbers
from passband.readers.dataset.cells import SCORELESS
from passband.readers.dataset.schema import CountPlan, NotCounted
from passband.stats.data import is_failure, is_unclear_failure, parse_scores
from passband.types import Floats


@dataclass(frozen=True)
class RowStates:
    """0, 1 or `SCORELESS` for each row."""

    states: Any  #: uint8
    has_missing: bool
    graded: Any = None  #: where scores are neither 0 nor 1, if any are


def states_of(batch: RowBatch, plan: CountPlan) -> RowStates:
    """Return what the scores of a batch count as.

    Scores other than 0 and 1 are counted by the threshold; without one, `NotCounted` is raised.
    """
    import pyarrow as pa

    array = batch.columns[plan.roles.score]
    if pa.types.is_boolean(array.type):
        states = array.cast(pa.uint8())
        states = states.fill_null(SCORELESS) if array.null_count else states
        result = RowStates(numbers(states), bool(array.null_count))
    else:
        result = _of_numbers(_numbers(array, batch, plan), batch, plan)
    failed = _failed(result.states, batch, plan)
    if not failed.any():
        return result
    return replace(result, states=np.where(failed, SCORELESS, result.states), has_missing=True)


def _failed(states: Any, batch: RowBatch, plan: CountPlan) -> Any:
    """Return which rows have a score, and a status that says that they failed."""
    if plan.roles.status is None:
        return np.zeros(1, dtype=bool)
    values, own = encoded(batch.columns[plan.roles.status])
    is_failed = np.array([is_failure(word) for word in [*values.to_pylist(), None]])
    is_unclear = np.array([is_unclear_failure(word) for word in [*values.to_pylist(), None]])
    has_score = states != SCORELESS
    if is_unclear.any() and (is_unclear[own] & has_score).any():
        raise NotCounted(f"column {plan.roles.status} says of rows with a score that they failed")
    return is_failed[own] & has_score


def _of_numbers(scores: Floats, batch: RowBatch, plan: CountPlan) -> RowStates:
    missing = np.isnan(scores)
    has_missing = bool(missing.any())
    ones = scores == 1
    graded = ~(ones | (scores == 0) | missing)
    if not graded.any():
        graded = None
    elif np.isinf(scores).any():
        row = int(np.flatnonzero(np.isinf(scores))[0])
        raise InvalidInput(
            f"column {plan.roles.score} must hold finite numbers; {batch.place(row)} has "
            f"{scores[row]}."
        )
    elif plan.threshold is None:
        raise NotCounted(f"column {plan.roles.score} has scores other than 0 and 1")
    else:
        ones = scores >= plan.threshold
    states = ones.astype(np.uint8)
    if has_missing:
        states[missing] = SCORELESS
    return RowStates(states, has_missing, graded)


def _numbers(array: Any, batch: RowBatch, plan: CountPlan) -> Floats:
    """Return scores as floats; NaN for none."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        scores = array.cast(pa.float64(), safe=False)
        scores = scores.fill_null(np.nan) if array.null_count else scores
        return np.asarray(numbers(scores))
    values, own = encoded(array)
    texts = [*values.to_pylist(), None]
    scores = [_parsed(text, place, own, batch, plan) for place, text in enumerate(texts)]
    return np.asarray(np.array(scores)[own])


def _parsed(value: Any, place: int, own: Any, batch: RowBatch, plan: CountPlan) -> float:
    name = plan.roles.score
    if isinstance(value, str) and value.strip().startswith("["):
        raise NotCounted(f"column {name} has lists of scores in its cells")
    if not (own == place).any():
        return np.nan  # of a dictionary that is larger than what is used
    try:
        return float(parse_scores(name, [value])[0])
    except InvalidInput as error:
        row = int(np.flatnonzero(own == place)[0])
        text = str(error).replace("row 1 has", f"{batch.place(row)} has")
        raise InvalidInput(text) from None
