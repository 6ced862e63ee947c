"""The variance of a mean over clusters of any sizes."""

from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.interval.default.clusters import (
    cluster_spread,
    kish_number,
    precision_weights,
)


def test_equal_clusters_have_the_variance_of_their_means() -> None:
    # both parts are then the textbook's: the spread of the means, between and within together
    rows = [[0.0, 0.2], [1.0, 0.8], [0.4, 0.6], [0.9, 0.3]]
    spread = cluster_spread(np.ravel(rows), np.repeat(np.arange(4), 2))
    assert spread.variance == pytest.approx(variance(map(mean, rows)) / 4)
    assert spread.effective == pytest.approx(4)
    assert spread.freedom == pytest.approx(3)


def test_clusters_of_one_are_problems() -> None:
    values = np.array([0.1, 0.7, 0.4, 0.9])
    spread = cluster_spread(values, np.arange(4))
    assert spread.variance == pytest.approx(values.var(ddof=1) / 4)
    assert (spread.clusters, spread.effective, spread.freedom) == (4, 4.0, 3.0)


def test_unequal_clusters_by_hand() -> None:
    # sizes 1 and 3; within-cluster variance 0, so that the weights are equal and tau^2 is simple
    values, codes = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0, 1, 1, 1])
    between = (0.5 * 0.25 + 0.5 * 0.25) / 0.5
    split = (1 / 16 + 9 / 16) * between
    jackknife = 0.5 * ((0.75 / 3) ** 2 + (-0.75 / 1) ** 2)
    spread = cluster_spread(values, codes)
    assert spread.variance == pytest.approx((split + jackknife) / 2)
    assert spread.effective == pytest.approx(16 / 10)
    assert spread.freedom == 1.0


def test_one_cluster_shows_no_spread() -> None:
    spread = cluster_spread(np.array([0.1, 0.9]), np.array([0, 0]))
    assert (spread.clusters, spread.variance, spread.freedom) == (1, 0.0, 1.0)


@given(
    data=st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 5)), min_size=2, max_size=30),
    scale=st.floats(0.1, 10),
    shift=st.floats(-3, 3),
)
def test_scale_and_origin_do_not_matter(
    data: list[tuple[float, int]], scale: float, shift: float
) -> None:
    values = np.array([value for value, _ in data])
    _, codes = np.unique([code for _, code in data], return_inverse=True)
    spread, moved = cluster_spread(values, codes), cluster_spread(scale * values + shift, codes)
    assert moved.variance == pytest.approx(scale**2 * spread.variance, rel=1e-6, abs=1e-12)
    assert 1.0 <= spread.effective <= spread.clusters + 1e-9
    assert 1.0 <= spread.freedom <= max(spread.clusters - 1.0, 1.0) + 1e-9
    assert precision_weights(values, codes).sum() == pytest.approx(1.0)


def test_the_variance_is_that_of_drawing_clusters_again() -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([12, 12, 4, 4, 4, 2, 2, 1, 1, 1] * 4)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    draws = rng.normal(size=(400, len(sizes)))[:, codes] + rng.normal(size=(400, len(codes)))
    estimates = [cluster_spread(values, codes).variance for values in draws]
    share = sizes / sizes.sum()
    assert np.mean(estimates) == pytest.approx(share**2 @ (1.0 + 1.0 / sizes), rel=0.06)
    assert kish_number(sizes.astype(float)) == pytest.approx(1 / (share @ share))
