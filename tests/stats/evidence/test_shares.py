"""How far a share is from the one that chance would give."""

import math

import pytest

from passband.stats.evidence.correlation import standard_errors


def test_by_hand() -> None:
    arcs = 2 * (math.asin(0.6**0.5) - math.asin(0.5**0.5)) / 0.1
    assert standard_errors(0.6, 0.5, 0.01, 0.1) == pytest.approx(arcs)  # not 10
    assert standard_errors(0.6, 0.5, 0.2, 0.1) == pytest.approx(0.5)
    assert standard_errors(0.6, 0.5, 0.0, 0.1) == 0.0


def test_the_sign_is_that_of_the_difference() -> None:
    for share in (0.0, 0.1, 0.3, 1.0):
        there, back = standard_errors(share, 0.2, 0.1, 0.1), standard_errors(0.2, share, 0.1, 0.1)
        assert there == pytest.approx(-back)
        assert (there > 0) == (share > 0.2)
