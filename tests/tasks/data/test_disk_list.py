"""Long sequences in a file: whatever a list gives, in any order of reading."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from passband.tasks.data import disk_list as module
from passband.tasks.data.disk_list import DiskList, spooled


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep few items."""
    monkeypatch.setattr(module, "_KEPT", 2_000)


def items(count: int) -> list[dict[str, Any]]:
    return [{"id": at, "text": f"half \ud800 {at}", "list": [None, at / 3]} for at in range(count)]


@pytest.mark.parametrize("count", [0, 1, 256, 257, 320, 1_000])
def test_a_spool_is_read_as_a_list_is(tight: None, count: int) -> None:
    expected, got = items(count), spooled(iter(items(count)))
    assert isinstance(got, DiskList) == (count > 256)
    assert list(got) == expected
    assert len(got) == count
    chance = random.Random(count)
    for _ in range(200 if count else 0):
        at = chance.randrange(-count, count)
        assert got[at] == expected[at]
    assert got[3:500:7] == expected[3:500:7]
    assert list(got[:]) == expected
    for beyond in (count, -count - 1):
        with pytest.raises(IndexError):
            got[beyond]


def test_only_some_items_are_kept(tight: None) -> None:
    spool = spooled(iter(items(1_000)))
    assert isinstance(spool, DiskList)
    list(spool)
    assert 2 <= len(spool._kept) <= 60


def test_threads_may_read_at_once(tight: None) -> None:
    spool = spooled(iter(items(1_000)))
    places = [at * 37 % 1_000 for at in range(1_000)]
    with ThreadPoolExecutor(4) as threads:
        assert [item["id"] for item in threads.map(spool.__getitem__, places)] == places


def test_items_may_be_written_as_other_values(tight: None) -> None:
    spool = spooled(map(complex, range(500)), lambda number: number.real, complex)
    assert spool[0] == 0j
    assert list(spool) == [complex(at) for at in range(500)]
