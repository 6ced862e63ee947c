"""Stretches of rows: together they are all rows, each with its group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.readers.dataset import stretches
from passband.readers.dataset.stretches import RowGroups, common_starts

pa = pytest.importorskip("pyarrow")

KINDS = [pa.string(), pa.int16(), pa.dictionary(pa.int8(), pa.string())]


@given(st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 1)), min_size=1))
def test_nothing_changes_within_a_stretch(rows):
    columns = [
        [None if v is None else str(v) for v in column] for column in zip(*rows, strict=True)
    ]
    arrays = [pa.array(columns[0]).dictionary_encode(), pa.array(columns[1])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "_SHORTEST", 1)
        starts = common_starts(arrays, len(rows))
    changes = [at for at in range(1, len(rows)) if rows[at] != rows[at - 1]]
    assert starts is not None
    assert starts.tolist() == [0, *changes]


def test_short_stretches_and_rare_types_are_not_looked_for():
    assert common_starts([pa.array([1, 2] * 3000)], 6000) is None
    assert common_starts([pa.array(["a"], pa.string_view())], 1) is None


def test_pieces_are_all_rows():
    groups = RowGroups(np.array([4, 7]), 5, np.array([0, 3]))
    assert list(groups.pieces()) == [(4, slice(0, 3)), (7, slice(3, 5))]
    each = RowGroups(np.array([1, 0, 1]), 3)
    ((numbers, rows),) = each.pieces()
    assert numbers.tolist() == each.of_rows().tolist() == [1, 0, 1]
    assert rows == slice(0, 3)
