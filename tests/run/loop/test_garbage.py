"""Thresholds of the garbage collector are those of the program again after a run."""

import gc
from collections.abc import Iterator

import pytest

from passband.run.loop.recorder import fewer_collections


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("own", "inside"), [((700, 10, 10), 50_000), ((90_000, 5, 5), 90_000), ((0, 10, 10), 0)]
)
def test_thresholds_are_restored(own: tuple[int, int, int], inside: int) -> None:
    gc.set_threshold(*own)
    with fewer_collections():
        assert gc.get_threshold() == (inside, *own[1:])
    assert gc.get_threshold() == own
