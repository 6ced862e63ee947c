"""Second readings: pairs of a cell and a trial, fingerprints, and gaps counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from passband.readers.dataset.checks import TrialSpans, _integers, _Pairs
from passband.readers.dataset.codes import PlaceCodes
from passband.readers.dataset.counting import mixed

pa = pytest.importorskip("pyarrow")


def test_pairs_of_small_numbers_have_hashes_of_their_own():
    keys, trials = (each.ravel() for each in np.meshgrid(np.arange(500), np.arange(500)))
    assert len(np.unique(_Pairs(keys, trials).hashes())) == 250_000


@pytest.mark.parametrize("low", [-(2**63), -5, 0, 2**63 - 9, 2**64 - 10])
def test_codes_and_integers_are_the_same_trials(low):
    kind = pa.uint64() if low > 0 else pa.int64()
    array = pa.array([low + 3, low + 9, None, low], kind)
    codes = PlaceCodes(low, low + 9).look_up(array)
    assert codes.tolist() == [3, 9, 10, 0]
    values = _integers(array)
    assert [int(value) for value in values[[0, 1, 3]]] == [(low + n) % 2**64 for n in (3, 9, 0)]
    assert len(np.unique(mixed(values))) == 4


def test_trials_between_the_first_of_the_group_and_the_last_of_the_cell():
    spans = TrialSpans(3)
    spans.add(np.array([0, 0, 1]), np.array([4, 6, 3], dtype=np.uint64))
    spans.add(np.array([2]), np.array([9], dtype=np.uint64))
    # The first of the group of cells 0 and 1 is 2: 2, 3, 5 are missing of cell 0, 2 of cell 1.
    assert spans.missing(np.array([2, 2, 9])).tolist() == [3, 1, 0]
    assert spans.first.tolist() == [4, 3, 9]
    assert spans.last.tolist() == [6, 3, 9]


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_numbers_that_are_no_numbering_have_no_gaps(kind):
    spans = TrialSpans(1)
    spans.add(np.array([0, 0]), _integers(pa.array([2**62, 1], kind)))
    assert spans.missing(spans.first).tolist() == [0]
