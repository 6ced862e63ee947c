"""Detect a WAL that SQLite would silently truncate at a damaged frame.

SQLite reads `trials.sqlite-wal` up to the first frame whose checksum is wrong: that is where a
writer was stopped. A bit that flips there ends the log as well, and all later commits would be gone
without a word. But every commit is on the disk before the next one begins. So a wrong frame that a
whole later commit follows was right once, and that is damage.

The format is https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Words = npt.NDArray[np.uint32]


_HEADER, _FRAME = 32, 24  # bytes
_MAGIC = 0x377F0682  # the last bit says in which order the bytes of a checksum are read
_TOGETHER = 1_000  # frames
_LOOKS = 3  # a log that is being written may be read while it changes


def is_log_damaged(path: Path) -> bool:
    """Return whether commits are lost to damage in the log of this file."""
    log = path.with_name(f"{path.name}-wal")
    seen: set[tuple[bytes, int]] = set()
    for _ in range(_LOOKS):
        try:
            with log.open("rb") as file:
                header = file.read(_HEADER)
                end = _damaged_frame(header, file)
        except OSError:
            return False
        if end is None:
            return False
        if (header, end) in seen:
            return True
        seen.add((header, end))
    return False


def _damaged_frame(header: bytes, file: BinaryIO) -> int | None:
    """Return the number of the first wrong frame that commits follow, -1 for the header.

    A merge writes logs of a hundred megabytes, of which some frames at a time are in memory.
    """
    if len(header) < _HEADER:
        return None
    magic, _, page, _, *salts = struct.unpack_from(">6I", header)
    if not 512 <= page <= 65_536 or os.fstat(file.fileno()).st_size - _HEADER < _FRAME + page:
        page = 4096  # as all our files have
    order = ">" if magic & 1 else "<"
    sums = _checksum(header[:24], order)
    is_intact = magic & ~1 == _MAGIC and sums == struct.unpack_from(">2I", header, 24)
    number, wrong = 0, -1
    heads: list[tuple[int, ...]] = []  # of the first wrong frame and those after it
    for data in _blocks(file, _FRAME + page):
        block = list(_heads(data, _FRAME + page))
        if not is_intact:
            return -1 if _distance(tuple(salts), block[0][2:4]) <= 1 else None
        if not heads:
            right, sums = _frame_checksums(data, len(block), page, order, sums)
            ends = [not ok or head[2:4] != tuple(salts)
                    for ok, head in zip(right, block, strict=True)]  # fmt: skip
            if True not in ends:
                number += len(block)
                continue
            wrong = number + ends.index(True)
            block = block[ends.index(True) :]
        heads += block
    return wrong if heads and _is_followed(heads, tuple(salts)) else None


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield whole frames, many at a time."""
    while (data := file.read(_TOGETHER * size)) and (count := len(data) // size):
        yield data[: count * size]


def _heads(data: bytes, size: int) -> Iterator[tuple[int, ...]]:
    return (struct.unpack_from(">6I", data, start) for start in range(0, len(data), size))


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
) -> tuple[list[bool], tuple[int, int]]:
    """Return of each frame whether its checksum, which goes on from the one before, is right.

    The last checksum is returned too.
    """
    import numpy as np

    raw = np.frombuffer(data, np.uint8, count * (_FRAME + page))
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
    return right, sums


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
