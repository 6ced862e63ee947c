"""Losses: what the format of another tool cannot hold, counted as it is written."""

from __future__ import annotations

from collections import Counter


class Losses:
    """Counts trials and scores that are not written as they are."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, sentence: str, count: int = 1) -> None:
        """Count one more of what a sentence says; `{}` in it is the number."""
        self._counts[sentence] += count

    def lines(self) -> list[str]:
        """Return the sentences with their numbers.

        >>> losses = Losses()
        >>> losses.add("{} trials refused", 2)
        >>> losses.lines()
        ['2 trials refused']
        """
        return [sentence.format(count) for sentence, count in self._counts.items() if count]
