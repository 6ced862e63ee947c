"""Choose the parts of a long text to show: beginning, end, and around its answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True)
class Amount:
    """How much of a text to show: characters and lines at its head and at its tail."""

    head: int
    tail: int
    head_lines: int
    tail_lines: int


ALL = Amount(1 << 62, 0, 1 << 62, 0)
_AROUND = 150  # characters shown on either side of an answer
_WORTHWHILE = 80  # fewer characters are not left out: the mark of the gap takes as many


def excerpt(text: str, amount: Amount, mark: Span | None = None) -> list[Span]:
    """Return the parts of a text to show, in order.

    >>> excerpt("x" * 500, Amount(100, 100, 9, 9))
    [(0, 100), (400, 500)]
    >>> excerpt("a short one", Amount(100, 100, 9, 9))
    [(0, 11)]
    """
    head = _head(text, amount.head, amount.head_lines)
    parts = [(0, head), (max(head, _tail(text, amount.tail, amount.tail_lines)), len(text))]
    if mark is not None:
        around = max(0, mark[0] - _AROUND), min(len(text), mark[1] + _AROUND)
        parts = sorted([*parts, around])
    return list(_joined(parts))


def _head(text: str, most: int, lines: int) -> int:
    end = -1
    for _ in range(min(lines, most)):
        end = text.find("\n", end + 1, most)
        if end < 0:
            return min(most, len(text))
    return max(end, 0)


def _tail(text: str, most: int, lines: int) -> int:
    start = len(text)
    least = max(0, len(text) - most)
    for _ in range(min(lines, most)):
        start = text.rfind("\n", least, start)
        if start < 0:
            return least
    return min(start + 1, len(text))


def _joined(parts: list[Span]) -> Iterator[Span]:
    """Yield parts that are apart by enough to leave something out between them."""
    start, end = parts[0]
    for low, high in parts[1:]:
        if low - end > _WORTHWHILE:
            yield start, end
            start, end = low, high
        else:
            end = max(end, high)
    yield start, end
