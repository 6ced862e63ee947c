"""Gaps between trial numbers, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from passband.readers.dataset.spans import TrialSpans

pa = pytest.importorskip("pyarrow")


def test_trials_between_the_first_of_the_group_and_the_last_of_the_cell():
    spans = TrialSpans(np.array([0, 0, 1]), 2)
    cells = np.array([0, 0, 1, 1, -1, 2])
    groups = np.array([0, 0, 0, 0, 0, 1])
    spans.add(cells, groups, pa.array([4, 6, 3, None, 2, 9]))
    # The first of group 0 is 2: 2, 3, 5 are missing of the first cell, 2 of the second.
    assert spans.missing().tolist() == [3, 1, 0]
    assert spans.last(0) == 6


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_numbers_that_are_no_numbering_have_no_gaps(kind):
    spans = TrialSpans(np.array([0]), 1)
    spans.add(np.array([0, 0]), np.array([0, 0]), pa.array([2**62, 1], kind))
    assert spans.missing().tolist() == [0]
