"""Damage to the log of a store, which SQLite takes for its end.

SQLite reads `trials.sqlite-wal` up to the first frame whose checksum is wrong: that is where a
writer was stopped. A bit that flips there ends the log as well, and all later commits would be gone
without a word. But every commit is on the disk before the next one begins. So a wrong frame that a
whole later commit follows was right once, and that is damage.

The format is https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Words = npt.NDArray[np.uint32]

__all__ = ["is_log_damaged"]

_HEADER, _FRAME = 32, 24  # bytes
_MAGIC = 0x377F0682  # the last bit says in which order the bytes of a checksum are read
_LOOKS = 3  # a log that is being written may be read while it changes


def is_log_damaged(path: Path) -> bool:
    """Return whether commits are lost to damage in the log of this file."""
    log = path.with_name(f"{path.name}-wal")
    seen: set[tuple[bytes, int]] = set()
    for _ in range(_LOOKS):
        try:
            data = log.read_bytes()
        except OSError:
            return False
        end = _damaged_frame(data)
        if end is None:
            return False
        if (data[:_HEADER], end) in seen:
            return True
        seen.add((data[:_HEADER], end))
    return False


def _damaged_frame(data: bytes) -> int | None:
    """Return the number of the first wrong frame that commits follow, -1 for the header."""
    if len(data) <= _HEADER:
        return None
    magic, _, page, _, *salts = struct.unpack_from(">6I", data)
    if not 512 <= page <= 65_536 or (len(data) - _HEADER) < _FRAME + page:
        page = 4096  # as all our files have
    count = (len(data) - _HEADER) // (_FRAME + page)
    heads = [
        struct.unpack_from(">6I", data, _HEADER + number * (_FRAME + page))
        for number in range(count)
    ]
    if not heads:
        return None
    order = ">" if magic & 1 else "<"
    sums = _checksum(data[:24], order)
    if magic & ~1 != _MAGIC or sums != struct.unpack_from(">2I", data, 24):
        return -1 if _distance(tuple(salts), heads[0][2:4]) <= 1 else None
    for number, right in enumerate(_frame_checksums(data, count, page, order, sums)):
        if not right or heads[number][2:4] != tuple(salts):
            return number if _is_followed(heads[number:], tuple(salts)) else None
    return None


def _is_followed(heads: list[tuple[int, ...]], salts: tuple[int, ...]) -> bool:
    """Return whether a commit is complete and another has begun, from the wrong frame on."""
    current = [head for head in heads[1:] if head[2:4] == salts]
    ends = [number for number, head in enumerate(current) if head[1]]
    if heads[0][1] and current:  # the wrong frame itself is the end of a commit
        return True
    return bool(ends) and ends[0] + 1 < len(current)


def _distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return how many bits differ."""
    return sum((a ^ b).bit_count() for a, b in zip(one, other, strict=True))


def _frame_checksums(
    data: bytes, count: int, page: int, order: str, sums: tuple[int, int]
) -> list[bool]:
    """Return of each frame whether its checksum, which goes on from the one before, is right."""
    import numpy as np

    raw = np.frombuffer(data, np.uint8, count * (_FRAME + page), _HEADER)
    frames = raw.reshape(count, _FRAME + page)
    body = np.concatenate([frames[:, :8], frames[:, _FRAME:]], axis=1)
    parts, step = _sums(body.copy().view(f"{order}u4").astype(np.uint32))
    stored = frames[:, 16:24].copy().view(">u4").astype(np.uint32)
    right = []
    for part, given in zip(parts.tolist(), stored.tolist(), strict=True):
        first, second = sums
        sums = (
            (step[0] * first + step[1] * second + part[0]) & 0xFFFFFFFF,
            (step[1] * first + step[2] * second + part[1]) & 0xFFFFFFFF,
        )
        right.append(list(sums) == given)
    return right


def _checksum(data: bytes, order: str) -> tuple[int, int]:
    """Return SQLite's checksum of some bytes."""
    first = second = 0
    for one, other in struct.iter_unpack(f"{order}2I", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def _sums(words: Words) -> tuple[Words, tuple[int, int, int]]:
    """Return the checksum of each row from zero, and the matrix by which an earlier one goes in.

    A pair (a, b) takes the sums (s, t) to (s + t + a, s + 2t + a + b): each step is the matrix
    ((1, 1), (1, 2)), whose powers have Fibonacci numbers in them.
    """
    import numpy as np

    powers = _powers(words.shape[1] // 2)
    table = np.array(powers[-2::-1], dtype=np.uint32)
    one, other = words[:, 0::2], words[:, 0::2] + words[:, 1::2]
    first = (one * table[:, 0] + other * table[:, 1]).sum(axis=1, dtype=np.uint32)
    second = (one * table[:, 1] + other * table[:, 2]).sum(axis=1, dtype=np.uint32)
    return np.stack([first, second], axis=1), powers[-1]


@lru_cache
def _powers(most: int) -> list[tuple[int, int, int]]:
    """Return the powers of the matrix: upper left, upper right, lower right; it is symmetric."""
    powers = [(1, 0, 1)]
    for _ in range(most):
        a, b, c = powers[-1]
        powers.append(((a + b) & 0xFFFFFFFF, (b + c) & 0xFFFFFFFF, (b + 2 * c) & 0xFFFFFFFF))
    return powers
