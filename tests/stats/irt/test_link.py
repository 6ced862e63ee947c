"""Linking: the line is found again, with and without noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput, NotEnoughData, UnknownName
from passband.stats.irt.calibration import Link, link_items
from passband.stats.irt.items import Items
from support.samples.irt_banks import bank, banks


@given(banks, st.floats(0.5, 2.0), st.floats(-1.0, 1.0))
def test_a_line_is_found_again(items: Items, slope: float, intercept: float) -> None:
    if len(items) < 3:
        return
    moved = Link(1 / slope, -intercept / slope).of_items(items)
    for method in ("mean-sigma", "stocking-lord"):
        link = link_items(moved, items, method=method)
        assert (link.slope, link.intercept) == pytest.approx((slope, intercept), abs=1e-5)


@given(banks, st.floats(0.5, 2.0), st.floats(-1.0, 1.0))
def test_linked_items_expect_the_same(items: Items, slope: float, intercept: float) -> None:
    link = Link(slope, intercept)
    theta = np.linspace(-2, 2, 5)
    there = link.of_items(items).expected(link.of_theta(theta))
    assert there == pytest.approx(items.expected(theta))


def test_stocking_and_lord_are_steadier() -> None:
    """Badly known difficulties of flat items move mean and sigma, and not the expected scores."""
    items = bank("2pl", 12, 3)
    off = np.zeros(12)
    off[items.a.argmin()] = 3.0
    noisy = Items("2pl", items.a, items.b + off)
    rough, steady = (
        link_items(noisy, items, method=method) for method in ("mean-sigma", "stocking-lord")
    )
    assert abs(steady.intercept) < abs(rough.intercept)


def test_what_is_refused() -> None:
    items = bank("2pl", 5)
    with pytest.raises(InvalidInput, match="the same items twice; got 5 '2pl' and 4 '2pl'"):
        link_items(items, items.take(slice(0, 4)))
    with pytest.raises(NotEnoughData, match="at least two"):
        link_items(items.take([0]), items.take([0]))
    with pytest.raises(UnknownName, match="Did you mean 'stocking-lord'"):
        link_items(items, items, method="stocking")  # type: ignore[arg-type]
