"""Seeds of the calls of one trial: a task that asks twice must not get the same answer twice."""

from __future__ import annotations

import hashlib


def call_seed(seed: int | None, call: int) -> int | None:
    """Return the seed of a trial's call; the first has the trial's own.

    >>> call_seed(7, 0), call_seed(7, 1), call_seed(None, 1)
    (7, 1607246014, None)
    """
    if seed is None or call == 0:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed}\0{call}".encode()).digest()[:4], "big") >> 1
