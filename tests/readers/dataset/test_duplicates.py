"""Pairs of a cell and a trial: their numbers differ, and sums of hashes tell sets apart."""

from __future__ import annotations

import numpy as np
import pytest

from passband.readers.dataset.duplicates import _codes
from passband.readers.dataset.trial_hash import NumberHash, TableHash, mixed

pa = pytest.importorskip("pyarrow")


def test_pairs_of_small_numbers_have_codes_of_their_own():
    keys, trials = (each.ravel() for each in np.meshgrid(np.arange(500), np.arange(500)))
    assert len(np.unique(_codes(keys, mixed(trials)))) == 250_000


@pytest.mark.parametrize("low", [-(2**63), -5, 0, 2**63 - 9, 2**64 - 10])
def test_a_table_of_hashes_has_those_of_the_numbers(low):
    kind = pa.uint64() if low > 0 else pa.int64()
    array = pa.array([low + 3, low + 9, None, low], kind)
    expected = NumberHash().hashes(array)
    table = TableHash(low, low + 9)
    assert table.hashes(array).tolist() == expected.tolist()
    every = NumberHash().hashes(pa.array(range(low, low + 10), kind))
    assert int(table.sums[10]) == int(every.sum())
