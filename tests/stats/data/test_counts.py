"""Row sums by packed bytes against numpy's own, and the histogram of (n, c) pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.data import counts
from passband.stats.data.counts import Histogram, binary_row_sums, binary_tally, byte_row_sums

WIDTHS = [1, 7, 8, 9, 16, 17, 127, 128, 129, 248, 255, 256, 257, 300, 2040, 2041, 5000]
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">i4", ">f8"]


def matrix(rows: int, width: int, dtype: str = "u1", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, rows, width])
    share = rng.random((rows, 1))
    share[:2] = [[0.0], [1.0]][:rows]
    return (rng.random((rows, width)) < share).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_row_sums_are_numpys(dtype: str) -> None:
    for width in WIDTHS:
        scores = matrix(13, width, dtype)
        wanted = scores.astype(np.int64).sum(axis=1)
        sums, tally = binary_row_sums(scores), binary_tally(scores)
        np.testing.assert_array_equal(sums, wanted, err_msg=f"{width=}")
        np.testing.assert_array_equal(tally, np.bincount(wanted, minlength=width + 1))
        assert sums is not None
        assert sums.dtype == np.int64


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "f8"])
def test_any_layout_in_memory(dtype: str) -> None:
    wide = matrix(24, 96, dtype)
    for scores in (
        np.asfortranarray(wide),
        wide[:, ::2],
        wide[::3],
        wide[::-1, ::-1],
        wide[:, 3:91],
        wide.T,
        np.broadcast_to(wide[:1], (5, 96)),
        np.frombuffer(b"\0" + wide.tobytes(), dtype, offset=1).reshape(wide.shape),
    ):
        np.testing.assert_array_equal(binary_row_sums(scores), scores.astype(int).sum(axis=1))


def test_more_rows_than_a_block() -> None:
    rows = 3 * counts._BLOCK_BYTES // 64 + 5
    scores = matrix(rows, 64)
    np.testing.assert_array_equal(binary_row_sums(scores), scores.sum(axis=1, dtype=int))
    tally = binary_tally(scores)
    assert tally is not None
    assert tally.sum() == rows


@pytest.mark.parametrize("width", [8, 2040, 2048, 16_384])
@pytest.mark.parametrize("dtype", ["?", "u1", "f8"])
def test_full_lanes_do_not_carry(width: int, dtype: str) -> None:
    assert binary_row_sums(np.ones((3, width), dtype)).tolist() == [width] * 3


@pytest.mark.parametrize("width", [1, 8, 9, 300])
@pytest.mark.parametrize(
    ("dtype", "stray"),
    [
        ("i1", -1), ("i1", 2), ("i1", -128), ("u1", 2), ("u1", 255), ("i2", 256), ("i2", -1),
        ("u2", 257), ("i4", 65_536), ("i4", -1), ("i8", 1 << 32), ("i8", -(1 << 63)), ("u8", 2),
        ("u8", (1 << 64) - 1), (">i4", 2), ("f2", 0.5), ("f4", np.nan), ("f4", np.inf),
        ("f8", np.nan), ("f8", 0.5), ("f8", -1.0), ("f8", 2.0), ("f8", -np.inf),
        ("f8", 1 + 2**-52), ("f8", 5e-324),
    ],
)  # fmt: skip
def test_anything_but_0_and_1_is_refused(width: int, dtype: str, stray: float) -> None:
    for column in {0, width // 2, width - 1}:
        scores = np.zeros((5, width), dtype)
        scores[3, column] = stray
        assert binary_row_sums(scores) is None
        assert binary_tally(scores) is None


def test_a_stray_value_in_the_last_block_is_found() -> None:
    scores = np.zeros((2 * counts._BLOCK_BYTES // 8, 8), np.uint8)
    scores[-1, -1] = 2
    assert binary_row_sums(scores) is None
    assert binary_tally(scores) is None


def test_negative_zero_is_zero() -> None:
    assert binary_row_sums(np.array([[-0.0, 1.0]])).tolist() == [1]


def test_boolean_rows() -> None:
    bits = matrix(9, 37, "?")
    np.testing.assert_array_equal(byte_row_sums(bits), bits.sum(axis=1))


@given(
    rows=st.integers(1, 6),
    width=st.integers(1, 400),
    seed=st.integers(0, 10_000),
    dtype=st.sampled_from(DTYPES),
)
def test_row_sums_of_any_shape(rows: int, width: int, seed: int, dtype: str) -> None:
    scores = matrix(rows, width, dtype, seed)
    np.testing.assert_array_equal(binary_row_sums(scores), scores.astype(int).sum(axis=1))


# -- pairs ------------------------------------------------------------------------------------


def listed(histogram: Histogram) -> list[tuple[int, int, int]]:
    columns = (histogram.trials, histogram.successes, histogram.problems)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_pairs_are_counted_once() -> None:
    histogram = Histogram.of_counts(np.array([4, 2, 4, 4]), np.array([1, 2, 1, 0]))
    assert listed(histogram) == [(2, 2, 1), (4, 0, 1), (4, 1, 2)]
    assert histogram.n_problems == 4
    assert histogram.n_trials == 14


def test_equal_trials_are_counted_by_successes() -> None:
    successes = np.array([3, 0, 3, 8])
    whole = Histogram.of_counts(np.full(4, 8), successes)
    assert listed(whole) == [(8, 0, 1), (8, 3, 2), (8, 8, 1)]
    assert listed(Histogram.of_tally(8, np.bincount(successes))) == listed(whole)


def test_problems_with_enough_trials() -> None:
    histogram = Histogram.of_counts(np.array([0, 1, 5]), np.array([0, 1, 2]))
    assert listed(histogram.at_least(0)) == listed(histogram)
    assert listed(histogram.at_least(1)) == [(1, 1, 1), (5, 2, 1)]
    assert listed(histogram.at_least(5)) == [(5, 2, 1)]
    assert histogram.at_least(6).n_problems == 0


@given(st.lists(st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))))
def test_pairs_of_any_problems(problems: list[tuple[int, int]]) -> None:
    trials, successes = np.array(problems, dtype=np.int64).reshape(-1, 2).T
    found = listed(Histogram.of_counts(trials, successes))
    assert found == sorted((n, c, problems.count((n, c))) for n, c in set(problems))


def test_mean_over_problems() -> None:
    histogram = Histogram(np.array([4, 4]), np.array([1, 2]), np.array([3, 1]))
    assert histogram.mean(np.array([0.5, 1.0])) == 0.625
