"""Counts per cell: those of a dictionary, in a grid or sorted, in one piece or in several."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.readers.dataset import cells
from passband.readers.dataset.cells import CellCounts, CellGrid, pack, problem_of_key


@st.composite
def rows(draw):
    """Draw rows: group, problem, state and hash of each."""
    wide = draw(st.sampled_from([3, 40, 10**6]))
    row = st.tuples(st.integers(0, 4), st.integers(0, wide), st.integers(0, 2))
    return draw(st.lists(row, min_size=1, max_size=60))


def counted(drawn, size, first=0):
    counter = CellGrid(16, prints=True, rows=len(drawn))
    for start in range(0, len(drawn), size):
        group, problem, state = (
            np.array(c) for c in zip(*drawn[start : start + size], strict=True)
        )
        hashes = (problem * 7 + 1).astype(np.uint64)
        groups = int(group[0]) if len(set(group.tolist())) == 1 else group
        counter.add(groups, problem, state.astype(np.uint8), hashes, first + start)
    return counter.counts()


@given(rows(), st.integers(1, 20), st.sampled_from([16, 100, 10**7]), st.sampled_from([1, 10**6]))
def test_counts_of_a_dictionary(drawn, size, largest, pending):
    expected: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, -1, 0])
    for at, (group, problem, state) in enumerate(drawn):
        own = expected[int(pack(group, problem))]
        own[0] += 1
        own[1] += state != 2
        own[2] += state == 1
        own[3] = at if own[3] < 0 else own[3]
        own[4] += problem * 7 + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "LARGEST_GRID", largest)
        patch.setattr(cells, "_PENDING", pending)
        whole = counted(drawn, size)
        half = len(drawn) // 2
        parts = [counted(drawn[:half], size)] if half else []
        merged = CellCounts.merged([*parts, counted(drawn[half:], size, half)])
    for counts in (whole, merged):
        columns = (counts.rows, counts.trials, counts.successes, counts.first, counts.prints)
        assert counts.keys.tolist() == sorted(expected)
        table = zip(*(column.tolist() for column in columns), strict=True)
        assert [list(each) for each in table] == [expected[key] for key in sorted(expected)]


def test_large_data_sets_are_counted_in_64_bits():
    assert CellGrid(16, prints=False, rows=2**31 - 1)._kind is np.int32
    assert CellGrid(16, prints=False, rows=2**31)._kind is np.int64


def test_keys_hold_large_numbers():
    key = pack(99_999, 2**32 - 1)
    assert (int(key >> 32), int(problem_of_key(key))) == (99_999, 2**32 - 1)
