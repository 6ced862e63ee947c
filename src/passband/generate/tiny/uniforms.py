"""Random numbers that belong to a seed and a prompt, and to nothing else.

A generator that is shared by a batch would tie each completion to its neighbours. Here every
completion has a stream of its own, and one number of it for every token.
"""

from __future__ import annotations

import hashlib

import numpy as np

from passband.types import Floats


def uniforms(seed: int, prompt: str, count: int) -> Floats:
    """Return the first numbers of a stream in [0, 1): 53 bits from every 8 bytes of SHAKE-256.

    >>> uniforms(0, "2*3=", 2).tolist() == uniforms(0, "2*3=", 9)[:2].tolist()
    True
    """
    stream = hashlib.shake_256(f"{seed}|{prompt}".encode()).digest(8 * count)
    integers = np.frombuffer(stream, dtype=">u8") >> np.uint64(11)
    return integers.astype(np.float64) * 2.0**-53
