"""A correlation over problems, with the error that it has if there is none."""

import math

import numpy as np
import pytest

from passband.stats.evidence.correlation import correlation_of, standard_errors, variances_of


def test_without_variances_it_is_pearsons() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 5.0]), np.array([0.2, 0.1, 0.6, 0.9])
    one = correlation_of(x, y)
    assert one.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert one.z == pytest.approx(one.value * 3**0.5)


def test_weights_are_repeated_pairs() -> None:
    x, y, weights = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.1, 0.7]), np.array([3, 1, 2])
    repeated = correlation_of(np.repeat(x, weights), np.repeat(y, weights))
    assert correlation_of(x, y, weights).value == pytest.approx(repeated.value)
    assert correlation_of(x, y, weights).z == pytest.approx(repeated.z)


def test_equal_numbers_have_none() -> None:
    assert correlation_of(np.ones(4), np.arange(4.0)).z == 0.0
    assert not correlation_of(np.arange(4.0), np.ones(4)).is_clear


def test_noise_that_depends_on_x_makes_z_smaller_and_never_larger() -> None:
    x, y = np.array([0.0, 0.0, 1.0, 2.0]), np.array([0.5, 0.4, 0.7, 0.9])
    plain = correlation_of(x, y).z
    mean = float(((y - y.mean()) ** 2).mean())
    assert correlation_of(x, y, variances=np.full(4, mean)).z == pytest.approx(plain)
    assert correlation_of(x, y, variances=np.zeros(4)).z == pytest.approx(plain)
    assert correlation_of(x, y, variances=np.array([0, 0, 0, 9.0])).z < 0.5 * plain


def test_variances_are_those_of_shares_of_alike_problems() -> None:
    rng = np.random.default_rng(3)
    p, n = rng.beta(2, 3, 60_000), np.repeat([2, 10, 40], 20_000)
    c = rng.binomial(n, p)
    found = variances_of(c, n, np.ones(60_000, np.int64))
    for at in (0, 20_000, 40_000):
        assert found[at] == pytest.approx((c / n)[at : at + 20_000].var(), rel=0.05)


def test_single_trials_show_no_noise_of_their_own() -> None:
    c, n = np.array([1, 0, 1, 0]), np.ones(4, np.int64)
    assert variances_of(c, n, n).tolist() == [0.25] * 4


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
