"""Seeds from names: the same name gives the same numbers in every process."""

from __future__ import annotations

import hashlib
import operator

import numpy as np

from passband.errors import WrongType
from passband.types import Floats, Ints


def seed_of(seed: int | str | None) -> int | None:
    """Return a seed for a number or a name; a name goes through SHA-256.

    The first four bytes, modulo 2**31, which is what EVA does with the name of a run.

    >>> seed_of("run-1"), seed_of(7), seed_of(None)
    (1315296251, 7, None)
    """
    if seed is None:
        return None
    if isinstance(seed, str):
        name = seed.encode("utf-8", "surrogatepass")  # a shell may pass any bytes
        return int.from_bytes(hashlib.sha256(name).digest()[:4], "big") % 2**31
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, bool) or number < 0:
        raise WrongType(f"seed must be a whole number of at least 0 or a name; got {seed!r}.")
    return number


def seed_of_data(name: str, *arrays: Floats | Ints) -> int:
    """Return a seed that depends on a name and on the data alone.

    Numbers are rounded to nine decimals first, so that the last bit of a sum does not matter.
    """
    digest = hashlib.sha256()
    with np.errstate(over="ignore"):  # of scores that are near the largest number
        for array in arrays:
            digest.update((np.round(array.astype("<f8"), 9) + 0.0).tobytes())
    seed = seed_of(f"{name} {digest.hexdigest()}")
    assert seed is not None
    return seed


def generator(seed: int) -> np.random.Generator:
    """Return a new random generator for a seed."""
    return np.random.default_rng(seed)
