"""The noise of the trials of these very problems."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from passband.stats.interval.default.trial_noise import (
    _widened,
    pooled_variance,
    principal_laws,
    trial_noise,
)
from passband.stats.interval.default.wilson import over_trials
from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.fit.mixture import Law, Mixing, Mixture, fit_mixture
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

RAGGED = CountGrid((2, 3, 8, 20))


def pass_at(grid: CountGrid, k: int) -> Floats:
    pairs = zip(grid.trials.tolist(), grid.successes.tolist(), strict=True)
    return np.array([1 - math.comb(n - c, k) / math.comb(n, k) for n, c in pairs])


def drawn(grid: CountGrid, problems: int, seed: int = 0) -> Mixture:
    rng = np.random.default_rng(seed)
    tallies = [
        np.bincount(rng.binomial(n, rng.beta(0.6, 0.9, problems)), minlength=n + 1) for n in grid.ns
    ]
    return fit_mixture(grid, np.concatenate(tallies).astype(float))


def moments(law: Mixing, n: int, values: Floats) -> tuple[float, float, Floats]:
    """Return mean variance, covariance with the value, and expected variance given each c."""
    p = points()
    table = np.array(
        [[math.comb(n, c) * q**c * (1 - q) ** (n - c) for c in range(n + 1)] for q in p]
    )
    centre = table @ values
    within = table @ values**2 - centre**2
    given_c = (law.weights * within) @ table / (law.weights @ table)
    covariance = law.weights @ (table @ (given_c * values) - (table @ given_c) * centre)
    return float(law.weights @ within), float(covariance), given_c


def largest(law: Mixing, n: int, values: Floats) -> float:
    """Return the largest variance of all laws with the same counts, by linear programming."""
    p = np.concatenate([points(), np.linspace(0, 1, 801)])
    table = np.array(
        [[math.comb(n, c) * q**c * (1 - q) ** (n - c) for c in range(n + 1)] for q in p]
    )
    counts = law.weights @ table[: len(points())]
    found = linprog((table @ values) ** 2, A_eq=table.T, b_eq=counts, bounds=(0, None))
    return float(counts @ values**2 - found.fun)


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_noise_is_that_of_the_definition(k: int) -> None:
    grid = CountGrid(tuple(n for n in RAGGED.ns if n >= k))
    mixture, values = drawn(grid, 12), pass_at(grid, k)
    law_of: dict[int, Law] = {n: s.law for s in mixture.strata for n in grid.ns[s.ns]}
    each = 1 / len(grid.ns)
    variance = tilt = lean = 0.0
    for n, start in zip(grid.ns, grid.starts.tolist(), strict=True):
        at = values[start : start + n + 1]
        law = law_of[n]
        mean, covariance, _ = moments(law.near if n >= 2 * k else law.close, n, at)
        if n < 2 * k:
            fitted = max(mean, moments(law.sharp, n, at)[0])
            share = 0.6 if n == 2 else 1.0
            wider = fitted + share * max(largest(law.sharp, n, at) - fitted, 0.0)
            mean, covariance = wider, covariance * wider / fitted
        variance += each * mean
        tilt += each * covariance
        lean += each * covariance * (2 if n >= 2 * k else 3)
    found = trial_noise(mixture, values, k, None)
    assert found.variance == pytest.approx(variance, rel=1e-4)
    assert found.tilt == pytest.approx(tilt / variance, rel=1e-4)
    assert found.lean == pytest.approx(lean / variance, rel=1e-4)


def test_measured_noise_counts_by_the_number_of_problems() -> None:
    grid = CountGrid((8,))
    mixture, values = drawn(grid, 40), pass_at(grid, 1)
    squares = parse_metric("pass@1").square_at(grid.trials, grid.successes)
    assert squares is not None
    fitted = float(trial_noise(mixture, values, 1, None).variance)
    measured = float(mixture.counts @ (values**2 - squares)) / 40
    found = trial_noise(mixture, values, 1, squares).variance
    assert found == pytest.approx(max((50 * fitted + 40 * measured) / 90, 0.85 * fitted))


@pytest.mark.parametrize("n", [2, 8, 32])
def test_the_noise_of_the_mean_is_binomial(n: int) -> None:
    p = np.random.default_rng(5).beta(1, 1, 4000)
    successes = np.random.default_rng(6).binomial(n, p)
    counts = np.bincount(successes, minlength=n + 1).astype(float)
    found = trial_noise(fit_mixture(CountGrid((n,)), counts), np.arange(n + 1) / n, 1, None)
    assert found.variance == pytest.approx((p * (1 - p)).mean() / n, rel=0.1)


@pytest.mark.parametrize("name", ["pass@3", "pass^3", "maj@4", "pass@6"])
@pytest.mark.parametrize("n", [6, 3, 5])
def test_what_counts_leave_open_only_widens(
    name: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric, grid = parse_metric(name), CountGrid((n,))
    if n < metric.k:
        pytest.skip("k > n")
    values = metric.parts[0].at(grid.trials, grid.successes, metric.k)
    mixture = drawn(grid, 60, seed=n)
    wide = over_trials(mixture, values, metric.k, 0.95)
    monkeypatch.setattr("passband.stats.interval.default.trial_noise._MOST_LEVELS", 1)
    narrow = over_trials(mixture, values, metric.k, 0.95)
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12
    if 2 * metric.k <= n:
        assert (wide.low, wide.high) == (narrow.low, narrow.high)


def test_the_largest_noise_of_two_trials_by_hand() -> None:
    # With p = 1/2 throughout there is one law, and 0.6 of the way is from no noise to all of it.
    values = np.array([0.0, 1.0, 1.0])  # pass@2
    law = Mixing(np.zeros(61), np.ones(3))
    law.weights[30] = 1.0  # p = 1/2
    assert _widened(CountGrid((2,)), law, values, np.zeros(1)) == pytest.approx(
        0.6 * (0.75 - (1 - 1 / 4) ** 2)
    )
    law.weights[[0, 30, 60]] = [0.25, 0.5, 0.25]  # E[q] = 1/2, E[q^2] = 3/8: q = 3/4 with 2/3
    square = 1 - 2 * (3 / 8) + (2 / 3) * (3 / 4) ** 4
    assert _widened(CountGrid((2,)), law, values, np.zeros(1)) == pytest.approx(
        0.6 * (5 / 8 - square)
    )


def test_carriers_are_the_problems_that_are_noisy() -> None:
    grid = CountGrid((16,))
    alike = np.zeros(17)
    alike[8] = 40
    assert trial_noise(fit_mixture(grid, alike), pass_at(grid, 1), 1, None).freedom > 8 * 38
    few = np.zeros(17)
    few[[0, 8]] = [36, 4]
    found = trial_noise(fit_mixture(grid, few), pass_at(grid, 1), 1, None)
    assert 8 * 3 <= found.freedom < 8 * 10


def test_hard_problems_with_few_trials_are_noisier_than_the_pooled_fit_says() -> None:
    rng = np.random.default_rng(8)
    few = np.bincount(rng.binomial(2, 0.5, 100), minlength=3)
    many = np.bincount(rng.binomial(64, rng.choice([0.01, 0.99], 100)), minlength=65)
    grid = CountGrid((2, 64))
    mixture = fit_mixture(grid, np.concatenate([few, many]).astype(float))
    values = pass_at(grid, 1)
    truth = (0.25 / 2 + 0.0099 / 64) / 2
    found = float(trial_noise(mixture, values, 1, None).variance)
    assert found == pytest.approx(truth, rel=0.15)
    assert pooled_variance(mixture, values, 1, None) < 0.8 * found


POINTS = np.sin(np.pi * np.arange(61) / 120) ** 2


def weights_of(seed: int, kept: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(61, 0.3)) * (rng.random(61) < kept)
    weights[30] += 1e-3
    return weights / weights.sum()


def test_radau_s_rules_of_two_moments_by_hand() -> None:
    # E[p] = 1/4 and E[p^2] = 1/8: nodes 0 and m2 / m1, and 1 and (m1 - m2) / (1 - m1)
    low, high = principal_laws(np.array([0.0, 0.5]), np.array([0.5, 0.5]), 2)
    assert low.points.tolist() == pytest.approx([0, 0.5], abs=1e-12)
    assert low.weights.tolist() == pytest.approx([0.5, 0.5])
    assert high.points.tolist() == pytest.approx([float(Fraction(1, 8) / Fraction(3, 4)), 1])
    assert high.weights.tolist() == pytest.approx([0.9, 0.1])


@given(seed=st.integers(0, 10**6), n=st.integers(2, 32), kept=st.sampled_from([1.0, 0.2, 0.03]))
def test_moments_are_kept_with_few_levels(seed: int, n: int, kept: float) -> None:
    weights = weights_of(seed, kept)
    laws = principal_laws(POINTS, weights, n)
    assert len(laws) == 2 - n % 2
    for law in laws:
        assert len(law.points) == n // 2 + 1
        assert (law.weights >= 0).all()
        assert ((law.points >= 0) & (law.points <= 1)).all()
        for power in range(n + 1):
            own, wanted = law.weights @ law.points**power, weights @ POINTS**power
            assert own == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("kept", [1.0, 0.1])
def test_no_law_with_these_moments_has_a_smaller_mean_of_a_higher_power(
    n: int, kept: float
) -> None:
    weights = weights_of(n, kept)
    laws = principal_laws(POINTS, weights, n)
    p = np.concatenate([POINTS, np.linspace(0, 1, 801)])
    moments = (2 * p - 1) ** np.arange(n + 1)[:, None]
    for k in range(n // 2 + 1, n + 1):
        for flip in (False, True):
            goal = (1 - p if flip else p) ** (2 * k)
            least = linprog(
                goal, A_eq=moments, b_eq=moments[:, :61] @ weights, bounds=(0, None)
            ).fun
            own = [
                law.weights @ (1 - law.points if flip else law.points) ** (2 * k) for law in laws
            ]
            assert min(own) == pytest.approx(least, abs=2e-6)
            assert min(own) <= weights @ goal[:61] + 1e-12


def test_many_laws_at_once_are_one_by_one() -> None:
    weights = np.stack([weights_of(seed, 0.2) for seed in range(6)])
    for n in (4, 5):
        together = principal_laws(POINTS, weights, n)
        for index, each in enumerate(weights):
            for law, own in zip(together, principal_laws(POINTS, each, n), strict=True):
                assert law.points[index] == pytest.approx(own.points, abs=1e-9)
                assert law.weights[index] == pytest.approx(own.weights, abs=1e-9)
