"""Which split of a data set is used: the one that is named, else the first of an order."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from passband.adaptive.dataset import ALL_SPLITS
from passband.errors import InvalidInput, ScoreBookError

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
