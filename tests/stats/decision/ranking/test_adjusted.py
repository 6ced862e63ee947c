"""P-values adjusted for their number, by hand and by property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.decision.ranking.simultaneous import benjamini_hochberg, holm

chances = st.lists(st.floats(0, 1), min_size=1, max_size=9)


def test_holm_by_hand() -> None:
    # sorted .005 .01 .03 .04 times 4 3 2 1 is .02 .03 .06 .04, and the last may not fall
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1, 1]
    assert holm([]) == []


def test_benjamini_hochberg_by_hand() -> None:
    # sorted .005 .01 .03 .04 times 4 4/2 4/3 1 is .02 .02 .04 .04
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    # .04 * 3/2 = .06 may not exceed what the larger .045 gets
    assert benjamini_hochberg([0.045, 0.001, 0.04]) == pytest.approx([0.045, 0.003, 0.045])
    assert benjamini_hochberg([]) == []


@given(chances)
def test_adjusted_p_values_keep_the_order_and_only_grow(p: list[float]) -> None:
    for adjust in (holm, benjamini_hochberg):
        found = adjust(p)
        assert all(a >= b - 1e-15 for a, b in zip(found, p, strict=True))
        assert max(found) <= 1
        order = np.argsort(p, kind="stable")
        assert (np.diff(np.array(found)[order]) >= -1e-15).all()
    assert all(h >= b - 1e-15 for h, b in zip(holm(p), benjamini_hochberg(p), strict=True))
