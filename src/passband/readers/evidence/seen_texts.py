"""The answers of a log, as they are read: a number for each, and a few of them in full."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_KEPT = 40  # in full, at least half of them from all over the log
_LONGEST = 20_000  # characters of one that is kept


class SeenTexts:
    """Numbers the answers of trials, in the order in which they were added.

    >>> seen = SeenTexts()
    >>> for text in ("4", None, "4"):
    ...     seen.add(text)
    >>> seen.numbers[0] == seen.numbers[2], seen.has_text.tolist(), seen.in_full
    (True, [1, 0, 1], {0: '4', 2: '4'})
    """

    def __init__(self) -> None:
        self.numbers = array("q")  #: equal for equal texts
        self.has_text = array("b")  #: 0 for trials without one
        self.characters = 0
        self.in_full: dict[int, str] = {}  #: by the index of the trial
        self._every = 1

    @property
    def mean_length(self) -> float:
        """The mean number of characters of an answer."""
        return self.characters / max(sum(self.has_text), 1)

    def where(self, kept: Sequence[int]) -> SeenTexts:
        """Return what was seen of some trials, by their indices."""
        some = SeenTexts()
        some.numbers = array("q", (self.numbers[index] for index in kept))
        some.has_text = array("b", (self.has_text[index] for index in kept))
        some.characters = round(self.mean_length * sum(some.has_text))
        places = {index: place for place, index in enumerate(kept)}
        full = self.in_full.items()
        some.in_full = {places[index]: text for index, text in full if index in places}
        return some

    def add(self, text: object) -> None:
        """Take the answer of the next trial; anything but text is none."""
        if not isinstance(text, str):
            self.numbers.append(0)
            self.has_text.append(0)
            return
        index = len(self.numbers)
        self.numbers.append(hash(text))
        self.has_text.append(1)
        self.characters += len(text)
        if index % self._every == 0 and len(text) <= _LONGEST:
            self.in_full[index] = text
            if len(self.in_full) > 2 * _KEPT:
                self._every *= 2
                self.in_full = {i: t for i, t in self.in_full.items() if i % self._every == 0}
