"""Intervals for problems that come in clusters."""

from fractions import Fraction
from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from passband import Outcomes, estimate
from passband.notes import joined
from passband.stats.checks import Over
from passband.stats.interval.default.clusters import (
    are_few,
    carriers,
    cluster_spread,
    cluster_values,
    clusters_of,
    kish_number,
    over_clusters,
    precision_weights,
    size_effect,
)
from passband.stats.interval.default.wilson import over_problems
from passband.stats.interval.request import mixture_of


def values(outcomes: Outcomes, k: int = 1) -> np.ndarray:
    lattice = mixture_of(outcomes, k).grid
    return lattice.successes / lattice.trials


def test_values_and_clusters_of_problems_with_enough_trials() -> None:
    outcomes = Outcomes.from_counts([1, 4, 2, 0, 1], [4, 4, 4, 2, 1], clusters=list("babac"))
    grouped = cluster_values(outcomes, mixture_of(outcomes, 2), values(outcomes, 2), 2)
    assert grouped.values.tolist() == [0.25, 1.0, 0.5, 0.0]
    assert grouped.codes.tolist() == [1, 0, 1, 0]  # the last problem has too few trials


def test_one_cluster_leaves_nearly_everything_possible() -> None:
    for rows in ([[0, 1], [1, 1], [0, 0]], [[0.5, 1.0], [0.25, 0.5], [0.0, 0.75]]):
        found = estimate(Outcomes.from_array(rows, clusters=["a"] * 3), "avg", level=0.9)
        assert (found.low, found.high) == pytest.approx((0.5 * 0.05, 0.5 + 0.5 * 0.95))
        assert "one-cluster" in {note.code for note in found.notes}


def test_a_large_cluster_outweighs_many_small_ones() -> None:
    rng = np.random.default_rng(4)
    sizes = [50] + [3] * 19
    codes = np.repeat(np.arange(20), sizes)
    rates = (rng.random(20) > 0.5)[codes] * 0.8 + 0.1
    successes = rng.binomial(8, rates)
    grouped = estimate(Outcomes.from_counts(successes, 8, clusters=codes), "pass@1")
    assert grouped.low is not None
    assert grouped.high is not None
    assert grouped.high - grouped.low > 0.3  # 107 problems, worth 4 clusters
    assert "worth 4 equal ones" in joined(grouped.notes)


def test_the_error_of_large_clusters_by_hand() -> None:
    # 40 clusters of five like problems, half at 0 and half at 1: each cluster is one observation
    rates = np.repeat([0, 4] * 20, 5)
    outcomes = Outcomes.from_counts(rates, 4, clusters=np.repeat(range(40), 5))
    mixture = mixture_of(outcomes, 1)
    found = over_clusters(outcomes, mixture, values(outcomes), 1, 0.95)
    assert found.se == pytest.approx(0.5 / np.sqrt(40), rel=0.03)
    plain = over_problems(mixture, values(outcomes), 0.95)
    assert (found.high - found.low) / (plain.high - plain.low) == pytest.approx(5**0.5, rel=0.05)


def test_clusters_that_cancel_are_no_better_than_none() -> None:
    rates = [0, 4] * 40
    outcomes = Outcomes.from_counts(rates, 4, clusters=np.repeat(range(40), 2))
    mixture = mixture_of(outcomes, 1)
    found = over_clusters(outcomes, mixture, values(outcomes), 1, 0.95)
    plain = over_problems(mixture, values(outcomes), 0.95)
    assert found.se == pytest.approx(plain.se, rel=0.05)


@given(
    counts=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=2, max_size=20),
    level=st.floats(0.5, 0.999),
)
def test_ends_hold_for_any_clusters(counts: list[tuple[int, int]], level: float) -> None:
    successes, clusters = zip(*counts, strict=True)
    outcomes = Outcomes.from_counts(successes, 5, clusters=clusters)
    mixture = mixture_of(outcomes, 1)
    found = over_clusters(outcomes, mixture, values(outcomes), 1, level)
    mean = sum(successes) / 5 / len(successes)
    assert 0 <= found.low <= mean + 1e-12
    assert mean - 1e-12 <= found.high <= 1
    assert found.low < found.high
    wide = over_clusters(outcomes, mixture, values(outcomes), 1, level, reach=4.0)
    assert wide.low <= found.low + 1e-12
    assert wide.high >= found.high - 1e-12


def exact(values: list[int]) -> Fraction:
    """Return M m_2^2 / m_4, with the central moments of the values."""
    mean = Fraction(sum(values), len(values))
    second = sum((value - mean) ** 2 for value in values)
    return second**2 / sum((value - mean) ** 4 for value in values)  # type: ignore[return-value]


def of(values: list[int]) -> float:
    return carriers(
        np.array(values, dtype=float), np.full(len(values), 1 / len(values)), len(values)
    )


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30).filter(lambda v: len(set(v)) > 1))
def test_it_is_the_number_of_problems_over_the_kurtosis(values: list[int]) -> None:
    assert of(values) == pytest.approx(float(exact(values)))
    assert of([7 - 3 * value for value in values]) == pytest.approx(of(values))
    assert 0.99 <= of(values) <= len(values) + 1e-9


def test_by_hand() -> None:
    assert of([0, 1] * 10) == pytest.approx(20)
    assert of([0, 0, 0, 1]) == pytest.approx((3 / 4) ** 2 / (3 / 256 + 81 / 256))
    assert of([5, 5, 5]) == 0.0


def test_values_that_nothing_weighs_do_not_count() -> None:
    weights = np.array([0.5, 0.5, 0.0])
    assert carriers(np.array([0.0, 1e-200, 1.0]), weights, 30) == pytest.approx(30)


@pytest.mark.parametrize(
    ("over", "problems", "enough"), [("problems", 100, 4), ("problems", 12, 1), ("trials", 100, 5)]
)
def test_what_is_few_depends_on_how_many_problems_there_are(
    over: Over, problems: int, enough: float
) -> None:
    assert are_few(enough - 0.01, problems, over)
    assert not are_few(enough + 0.01, problems, over)


SIZES = np.array([1, 2, 3, 5, 8, 13, 21, 30] * 3)
CODES = np.repeat(np.arange(len(SIZES)), SIZES)


def codes_of(outcomes: Outcomes, metric: str = "avg") -> set[str]:
    return {note.code for note in estimate(outcomes, metric).notes}


def test_an_effect_tied_to_size_is_said_with_both_means() -> None:
    rates = np.clip(0.1 + 0.2 * np.log(SIZES), 0, 1)
    successes = np.random.default_rng(1).binomial(8, rates[CODES])
    found = estimate(Outcomes.from_counts(successes, 8, clusters=CODES), "pass@1")
    (note,) = [note for note in found.notes if note.code == "tied-to-size"]
    means = np.bincount(CODES, weights=successes / 8) / SIZES
    assert "larger clusters have higher values" in note.text
    assert f"{found.value:.3g} over problems and {means.mean():.3g} over clusters" in note.text
    graded = Outcomes.from_array((successes / 9)[:, None], clusters=CODES)
    assert "tied-to-size" in codes_of(graded)
    assert "tied-to-size" not in codes_of(Outcomes.from_counts(successes, 8))


def test_chance_is_not_taken_for_an_effect() -> None:
    rng = np.random.default_rng(2)
    said = 0
    for _ in range(200):
        effect = size_effect(
            rng.normal(size=len(SIZES))[CODES] + rng.normal(size=len(CODES)), CODES
        )
        assert effect is not None
        said += effect.p_value < 0.01
    assert said <= 8  # 2 expected


def test_clusters_of_precise_means_count_alike() -> None:
    means = np.random.default_rng(5).normal(size=len(SIZES))
    effect = size_effect(means[CODES], CODES)
    expected = pearsonr(means, np.log(SIZES))
    assert effect is not None
    assert effect.correlation == pytest.approx(expected.statistic)
    assert effect.p_value == pytest.approx(expected.pvalue)


def test_where_size_can_tell_nothing() -> None:
    assert size_effect(np.arange(6.0), np.repeat(np.arange(3), 2)) is None  # three clusters
    assert size_effect(np.arange(8.0), np.repeat(np.arange(4), 2)) is None  # of equal size
    assert size_effect(np.full(len(CODES), 0.3), CODES) is None


def test_unequal_clusters_count_by_their_effective_number() -> None:
    rng = np.random.default_rng(6)
    even = Outcomes.from_counts(rng.binomial(8, 0.5, 100), 8, clusters=np.repeat(range(20), 5))
    assert "few-clusters" not in codes_of(even)
    sizes = [24] + [4] * 19
    uneven = Outcomes.from_counts(
        rng.binomial(8, 0.5, 100), 8, clusters=np.repeat(range(20), sizes)
    )
    (note,) = [note for note in estimate(uneven, "avg").notes if note.code == "few-clusters"]
    assert "20 clusters of unequal size, worth 11 equal ones" in note.text


def test_clusters_are_those_of_problems_with_enough_trials() -> None:
    outcomes = Outcomes.from_counts([1, 1, 1, 1], [1, 2, 2, 2], clusters=list("abca"))
    assert clusters_of(outcomes, 1).tolist() == [0, 1, 2, 0]
    assert clusters_of(outcomes, 2).tolist() == [1, 2, 0]
    assert clusters_of(outcomes, 1).tolist() == [0, 1, 2, 0]


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
