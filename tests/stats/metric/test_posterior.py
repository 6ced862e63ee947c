"""Posterior moments against integrals at 120 digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.data.counts import Histogram
from passband.stats.metric import credits, posterior
from passband.stats.metric.pmf import beta_binomial_pmf
from passband.stats.metric.posterior import (
    CategoryCounts,
    max_at_k,
    max_moments,
    mean_moments,
    observed_mean_moments,
    posterior_moments,
)
from support.samples import exact

TOLERANCE = 1e-9
PRIORS = [(1.0, 1.0), (0.5, 0.5), (0.3, 0.5), (50.0, 2.0)]

CREDITS = {
    "pass@": lambda k: credits.at_least(k, 1),
    "pass^": credits.all_of,
    "maj@": credits.majority,
    "mg-pass@": credits.mean_over_shares,
    "mg-pass-integral@": credits.mean_over_shares_integral,
    "auc@": credits.auc,
}


def pairs(*counts: tuple[int, int]) -> Histogram:
    trials, successes = np.array(counts).T
    return Histogram(trials, successes, np.ones(len(counts), dtype=np.int64))


def far_apart(found: float, wanted: mpmath.mpf) -> float:
    if wanted == 0:
        return abs(found)
    return float(abs(mpmath.mpf(found) / wanted - 1))


def grid(n: int) -> list[tuple[int, int]]:
    return [(n, c) for c in sorted({0, 1, n // 3, n // 2, n - 1, n}) if 0 <= c <= n]


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 2), (8, 8), (64, 5), (64, 24), (1000, 3)])
def test_moments_of_every_metric(n: int, k: int, prior: tuple[float, float]) -> None:
    twins = exact.latent_credits(k)
    assert twins.keys() == CREDITS.keys()
    found = posterior_moments(pairs(*grid(n)), [CREDITS[name](k) for name in twins], *prior)
    for row, (trials, successes) in enumerate(grid(n)):
        means, covariances = exact.beta_moments(trials, successes, *prior, *twins.values())
        for i, name in enumerate(twins):
            here = (name, trials, successes, k)
            assert far_apart(found.mean[row, i], means[i]) <= 1e-12, here
            assert far_apart(found.covariance[row, i, i], covariances[i][i]) <= TOLERANCE, here
            for j in range(len(twins)):
                scale = mpmath.sqrt(covariances[i][i] * covariances[j][j])
                wrong = abs(found.covariance[row, i, j] - covariances[i][j])
                assert wrong <= TOLERANCE * scale, (here, list(twins)[j])


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
def test_moments_with_many_more_draws_than_trials(prior: tuple[float, float]) -> None:
    k, pair = 200, [(4, 0), (4, 2), (4, 4)]
    ends = [exact.threshold_credit(k, 1), exact.threshold_credit(k, k)]
    found = posterior_moments(pairs(*pair), [credits.at_least(k, 1), credits.all_of(k)], *prior)
    for row, (n, c) in enumerate(pair):
        means, covariances = exact.beta_moments(n, c, *prior, *ends)
        for i in range(2):
            assert far_apart(found.mean[row, i], means[i]) <= 1e-11
            assert far_apart(found.covariance[row, i, i], covariances[i][i]) <= TOLERANCE


def test_one_draw_is_the_beta_distribution_itself() -> None:
    found = posterior_moments(pairs((5, 3)), [credits.share(1)], 1.0, 1.0)
    a, b = Fraction(4), Fraction(3)
    assert found.mean[0, 0] == pytest.approx(float(a / (a + b)), rel=1e-15)
    variance = a * b / (a + b) ** 2 / (a + b + 1)
    assert found.covariance[0, 0, 0] == pytest.approx(float(variance), rel=1e-13)


def test_a_constant_has_no_variance() -> None:
    found = posterior_moments(pairs((5, 3), (9, 0)), [np.full(4, 0.25)], 0.3, 2.0)
    np.testing.assert_allclose(found.mean, 0.25, rtol=1e-13)
    np.testing.assert_allclose(found.covariance, 0.0, atol=1e-15)


def test_rows_taken_in_pieces_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    histogram = pairs(*grid(30), *grid(12))
    vectors = [credits.majority(4), credits.auc(4)]
    whole = posterior_moments(histogram, vectors, 1.0, 1.0)
    monkeypatch.setattr(posterior, "_ENTRIES_AT_ONCE", 20)
    pieces = posterior_moments(histogram, vectors, 1.0, 1.0)
    np.testing.assert_allclose(pieces.mean, whole.mean, rtol=1e-14)
    np.testing.assert_allclose(pieces.covariance, whole.covariance, rtol=1e-11)


def test_average_over_problems() -> None:
    histogram = Histogram(np.array([5, 5]), np.array([1, 4]), np.array([3, 1]))
    each = posterior_moments(histogram, [credits.at_least(2, 1), credits.all_of(2)], 1.0, 1.0)
    whole = each.of_mean_over(histogram)
    np.testing.assert_allclose(whole.mean[0], (3 * each.mean[0] + each.mean[1]) / 4)
    wanted = (3 * each.covariance[0] + each.covariance[1]) / 16
    np.testing.assert_allclose(whole.covariance[0], wanted)


@given(
    n=st.integers(0, 300),
    share=st.floats(0, 1),
    k=st.integers(1, 40),
    alpha=st.floats(1e-6, 1e6),
    beta=st.floats(1e-6, 1e6),
)
def test_variances_are_never_negative(
    n: int, share: float, k: int, alpha: float, beta: float
) -> None:
    vectors = [make(k) for make in CREDITS.values()]
    found = posterior_moments(pairs((n, round(share * n))), vectors, alpha, beta)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.covariance).all()
    assert (np.diagonal(found.covariance, axis1=1, axis2=2) >= 0).all()
    tops = [vector.max() for vector in vectors]
    assert (found.mean >= 0).all()
    assert (found.mean <= np.array(tops) * (1 + 1e-12)).all()


@given(
    n=st.integers(0, 200),
    share=st.floats(0, 1),
    draws=st.integers(0, 200),
    alpha=st.floats(1e-3, 1e3),
    beta=st.floats(1e-3, 1e3),
)
def test_laws_of_new_draws_add_up_to_one(
    n: int, share: float, draws: int, alpha: float, beta: float
) -> None:
    law = beta_binomial_pmf(np.array([n]), np.array([round(share * n)]), draws, alpha, beta)
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1.0, rel=1e-12)


# -- categories --------------------------------------------------------------------------------

TABLES = [
    ([[3, 2]], [0.0, 1.0]),
    ([[0, 0, 5], [1, 3, 1]], [0.0, 0.5, 1.0]),
    ([[2, 1, 0, 4], [0, 0, 7, 0], [1, 1, 1, 4]], [-1.0, 3.0, 0.25, 0.25]),
    ([[60, 0, 4]], [1e-3, 2.0, -5e3]),
]


def counted(vectors: list[list[int]], problems: list[int] | None = None) -> CategoryCounts:
    return CategoryCounts(np.array(vectors), np.array(problems or [1] * len(vectors)))


@pytest.mark.parametrize(("vectors", "graded"), TABLES)
def test_mean_reward(vectors: list[list[int]], graded: list[float]) -> None:
    found = mean_moments(counted(vectors), np.array(graded))
    wanted = [exact.dirichlet_mean_moments(vector, graded) for vector in vectors]
    assert_average(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize(("vectors", "graded"), TABLES)
def test_best_reward(vectors: list[list[int]], graded: list[float], k: int) -> None:
    found = max_moments(counted(vectors), np.array(graded), k)
    wanted = [exact.dirichlet_max_moments(vector, graded, k) for vector in vectors]
    assert_average(found, wanted)


def assert_average(found, moments: list[tuple[mpmath.mpf, mpmath.mpf]]) -> None:
    means, variances = zip(*moments, strict=True)
    count = len(moments)
    assert far_apart(found.mean, mpmath.fsum(means) / count) <= 1e-11
    assert far_apart(found.sd, mpmath.sqrt(mpmath.fsum(variances)) / count) <= TOLERANCE


@pytest.mark.parametrize("vector", [[2, 1, 1], [0, 4, 0]])
def test_best_reward_by_drawing_from_the_posterior(vector: list[int]) -> None:
    graded, k = np.array([0.0, 0.25, 1.0]), 3
    chances = np.random.default_rng(3).dirichlet(np.array(vector) + 1, 200_000)
    at_most = chances.cumsum(axis=1)
    values = 1.0 - 0.75 * at_most[:, 1] ** k - 0.25 * at_most[:, 0] ** k
    found = max_moments(counted([vector]), graded, k)
    assert found.mean == pytest.approx(values.mean(), abs=4 * values.std() / math.sqrt(len(values)))
    assert found.sd == pytest.approx(values.std(), rel=0.01)


@pytest.mark.parametrize("k", [1, 2, 7, 30, 300])
@pytest.mark.parametrize("n", [1, 6, 64])
def test_best_of_right_and_wrong_is_pass(n: int, k: int) -> None:
    for _, c in grid(n):
        best = max_moments(counted([[n - c, c]]), np.array([0.0, 1.0]), k)
        passed = posterior_moments(pairs((n, c)), [credits.at_least(k, 1)], 1.0, 1.0)
        assert best.mean == pytest.approx(passed.mean[0, 0], rel=1e-12)
        assert best.sd == pytest.approx(math.sqrt(passed.covariance[0, 0, 0]), rel=TOLERANCE)


def test_best_of_one_is_the_mean() -> None:
    for vectors, graded in TABLES:
        one = max_moments(counted(vectors), np.array(graded), 1)
        mean = mean_moments(counted(vectors), np.array(graded))
        assert (one.mean, one.sd) == pytest.approx((mean.mean, mean.sd), rel=1e-10)


def test_observed_mean_is_the_plain_one() -> None:
    graded = np.array([0.0, 0.5, 1.0])
    found = observed_mean_moments(counted([[1, 2, 2], [3, 0, 2]], [2, 1]), graded)
    assert found.mean == pytest.approx((2 * 0.6 + 0.4) / 3, rel=1e-15)
    spread = mean_moments(counted([[1, 2, 2], [3, 0, 2]], [2, 1]), graded).sd
    assert found.sd == pytest.approx(spread * 8 / 5, rel=1e-14)


@given(
    rows=st.lists(
        st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any), min_size=1, max_size=4
    ),
    graded=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    k=st.integers(1, 50),
)
def test_best_reward_stays_among_the_rewards(
    rows: list[list[int]], graded: list[float], k: int
) -> None:
    found = max_moments(counted(rows), np.array(graded), k)
    slack = 1e-12 * max(map(abs, graded))
    assert min(graded) - slack <= found.mean <= max(graded) + slack
    assert 0 <= found.sd <= max(graded) - min(graded) + slack


def test_recorded_best_of_categories_by_hand() -> None:
    graded = np.array([2.0, -1.0, 0.5])
    vectors = [[1, 2, 1], [0, 0, 4], [3, 1, 0]]
    for k in (1, 2, 3, 4):
        wanted = [exact.max_at_by_hand(np.repeat(graded, vector).tolist(), k) for vector in vectors]
        found = max_at_k(counted(vectors, [1, 1, 2]), graded, k)
        assert found == pytest.approx(float((wanted[0] + wanted[1] + 2 * wanted[2]) / 4))


def test_extreme_rewards_do_not_overflow() -> None:
    graded = np.array([-1.7e308, 1.7e308])
    counts = counted([[2, 2]])
    assert max_at_k(counts, graded, 1) == 0.0
    assert abs(mean_moments(counts, graded).mean) <= 1e-15 * 1.7e308
    best = max_moments(counts, graded, 3)
    assert math.isfinite(best.mean)
    assert math.isfinite(best.sd)


@pytest.mark.parametrize("categories", [2, 3, 40])
def test_category_counts_of_a_matrix(categories: int) -> None:
    rng = np.random.default_rng(5)
    outcomes = rng.integers(0, categories, (200, 9))
    present = rng.random(outcomes.shape) < 0.7
    for mask in (None, present):
        counts = CategoryCounts.of_matrix(outcomes, categories, mask)
        rows = [
            np.bincount(row if mask is None else row[there], minlength=categories)
            for row, there in zip(outcomes, present, strict=True)
        ]
        wanted, problems = np.unique(rows, axis=0, return_counts=True)
        order = np.lexsort(counts.vectors.T[::-1])
        np.testing.assert_array_equal(counts.vectors[order], wanted)
        np.testing.assert_array_equal(counts.problems[order], problems)
        assert counts.n_problems == 200
