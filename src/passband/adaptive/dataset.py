"""Names of data sets, `ID` or `ID:adaptive[:SPLIT]`, and the split that a test uses."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from passband.errors import InvalidInput, ScoreBookError, WrongType

ADAPTIVE = "adaptive"
ALL_SPLITS = "*"


class DatasetName(NamedTuple):
    """A data set by its id; an adaptive one may have a split, or `*` for all of them."""

    id: str
    is_adaptive: bool = False
    split: str | None = None

    @property
    def dataset(self) -> str:
        """The name without the split: what servers and messages call an adaptive test.

        >>> parse_dataset("mmlu:adaptive:test").dataset
        'mmlu:adaptive'
        """
        return f"{self.id}:{ADAPTIVE}" if self.is_adaptive else self.id

    def __str__(self) -> str:
        return self.dataset if self.split is None else f"{self.dataset}:{self.split}"


def is_adaptive_name(name: object) -> bool:
    """Return whether a task is an adaptive test, `BANK:adaptive[:SPLIT]`; raise if it is badly so.

    >>> is_adaptive_name("arithmetic:adaptive"), is_adaptive_name("arithmetic")
    (True, False)
    """
    return isinstance(name, str) and parse_dataset(name).is_adaptive


def parse_dataset(text: str) -> DatasetName:
    """Read the name of a data set; one without the marker `:adaptive` is a classic one.

    >>> parse_dataset("mmlu:adaptive:test")
    DatasetName(id='mmlu', is_adaptive=True, split='test')
    >>> parse_dataset("mmlu")
    DatasetName(id='mmlu', is_adaptive=False, split=None)
    >>> parse_dataset("mmlu:validation:adaptive")
    Traceback (most recent call last):
    ...
    passband.errors.ScoreBookError: Invalid adaptive dataset format: 'mmlu:validation:adaptive'. \
Expected 'test_id:adaptive' or 'test_id:adaptive:split_name'
    """
    if not isinstance(text, str):
        raise WrongType(f"a data set is named by a string; got {text!r:.60}.")
    head, *marks = text.split(":")
    if ADAPTIVE not in marks:
        return DatasetName(text)
    parts = (head, *marks)
    if (
        marks[0] != ADAPTIVE
        or len(marks) > 2
        or any(part != part.strip() or not part for part in parts)
    ):
        raise ScoreBookError(
            f"Invalid adaptive dataset format: {text!r}. Expected 'test_id:adaptive' or "
            "'test_id:adaptive:split_name'"
        )
    return DatasetName(head, True, marks[1] if len(marks) == 2 else None)


FALLBACK = ("validation", "test")  # test is for the last evaluation, so it is not the first
_log = logging.getLogger(__name__)


def resolve_split(
    dataset: str,
    split: str | None,
    available: Sequence[str],
    order: Sequence[str] = FALLBACK,
) -> str:
    """Return the split to use; raise `ScoreBookError` if it does not exist, or none of `order`.

    `dataset` is named in messages, as "mmlu:adaptive". Which split a fallback has chosen is
    logged.

    >>> resolve_split("mmlu:adaptive", None, ["train", "test"])
    'test'
    >>> resolve_split("mmlu:adaptive", "dev", ["validation", "test"])
    Traceback (most recent call last):
    ...
    passband.errors.ScoreBookError: Specified split 'dev' not found for dataset 'mmlu:adaptive'. \
Available splits: ['validation', 'test']
    """
    if isinstance(order, str) or not order:
        raise InvalidInput(f"the order of splits must be a list of names; got {order!r}.")
    names = list(available)
    if split is not None:
        if split not in names:
            raise ScoreBookError(
                f"Specified split {split!r} not found for dataset {dataset!r}. "
                f"Available splits: {names}"
            )
        return split
    for candidate in order:
        if candidate in names:
            _log.info("Using %r split for %s", candidate, dataset)
            return candidate
    raise ScoreBookError(
        f"No suitable split found for dataset {dataset!r}. "
        f"Expected {_either(order)} split. Available splits: {names}"
    )


def resolve_splits(
    dataset: str,
    split: str | None,
    available: Sequence[str],
    order: Sequence[str] = FALLBACK,
) -> tuple[str, ...]:
    """Return the splits to use: all for `*`, else the one of `resolve_split`.

    >>> resolve_splits("mmlu:adaptive", "*", ["train", "test"])
    ('train', 'test')
    """
    if split == ALL_SPLITS and available:
        return tuple(available)
    return (resolve_split(dataset, None if split == ALL_SPLITS else split, available, order),)


def _either(names: Sequence[str]) -> str:
    """Return names as a choice: 'a', 'b' or 'c'."""
    quoted = [repr(name) for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
