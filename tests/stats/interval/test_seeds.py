"""Seeds from numbers and names."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import WrongType
from passband.stats.interval.seeds import generator, seed_of


def test_numbers_stand_for_themselves() -> None:
    assert seed_of(None) is None
    assert seed_of(0) == 0
    assert seed_of(2**70) == 2**70
    found = seed_of(np.int64(7))  # type: ignore[arg-type]
    assert (found, type(found)) == (7, int)


def test_a_name_goes_through_sha_256() -> None:
    assert seed_of("abc") == 0xBA7816BF % 2**31  # SHA-256 of "abc" begins ba7816bf 8f01cfea
    assert seed_of("7") != 7
    assert seed_of("") == int(hashlib.sha256(b"").hexdigest()[:8], 16) % 2**31


@given(st.text())
def test_any_name(name: str) -> None:
    found = seed_of(name)
    assert found is not None
    assert 0 <= found < 2**31
    assert seed_of(name) == found


def test_bytes_that_are_not_text() -> None:
    assert seed_of("\udcff") != seed_of("\udcfe")  # what a shell hands over for a stray byte


@pytest.mark.parametrize("given", [-1, 1.5, 7.0, float("nan"), float("inf"), True, [1], b"x"])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(WrongType, match="seed must be a whole number of at least 0 or a name"):
        seed_of(given)  # type: ignore[arg-type]


def test_generators_of_one_seed_agree() -> None:
    assert generator(5).random(3).tolist() == generator(5).random(3).tolist()
    assert generator(5).random() != generator(6).random()
