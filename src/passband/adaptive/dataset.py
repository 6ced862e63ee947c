"""Names of data sets: `ID`, or `ID:adaptive[:SPLIT]` for an adaptive test."""

from __future__ import annotations

from typing import NamedTuple

from passband.errors import ScoreBookError, WrongType

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
