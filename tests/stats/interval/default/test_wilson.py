"""The quadratic behind the intervals, and its two uses."""

import math
from itertools import combinations_with_replacement
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from passband import Outcomes, estimate
from passband.stats.interval.default.wilson import (
    Ends,
    between_ends,
    level_of,
    normal_quantile,
    over_problems,
    over_trials,
    roots,
    student_quantile,
)
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import fit_mixture
from passband.stats.metric.registry import parse_metric


def test_wilson_is_a_special_case() -> None:
    # 7 of 10 at 95 %: the interval of Wilson (1927) is 0.39678 to 0.89221
    p = np.asarray(0.7)
    low, high = roots(p, p * (1 - p), 1 - 2 * p, 1.0, NormalDist().inv_cdf(0.975), 10.0)
    assert (low, high) == pytest.approx((0.396778, 0.892209), abs=1e-6)


def test_without_tilt_and_bend_it_is_the_plain_interval() -> None:
    low, high = roots(np.asarray(0.4), np.asarray(0.09), np.asarray(0.0), 0.0, 2.0, 9.0)
    assert (low, high) == pytest.approx((0.2, 0.6))


@given(
    mean=st.floats(0, 1),
    variance=st.floats(1e-6, 0.25),
    tilt=st.floats(-2, 2),
    bend=st.floats(0, 1),
    q=st.floats(0.1, 5),
    m=st.floats(1, 1000),
)
def test_both_ends_solve_the_quadratic(
    mean: float, variance: float, tilt: float, bend: float, q: float, m: float
) -> None:
    found = roots(np.asarray(mean), np.asarray(variance), np.asarray(tilt), bend, q, m)
    assert found[0] < mean < found[1]
    for end in found:
        away = float(end) - mean
        right = q * q / m * (variance + tilt * away - bend * away**2)
        assert away**2 == pytest.approx(right, rel=1e-6, abs=1e-12)


def test_ends_between_ends() -> None:
    first, second = (np.asarray(0.2), np.asarray(0.7)), (np.asarray(0.1), np.asarray(0.8))
    assert between_ends(first, second, 1.0) == pytest.approx((0.1, 0.8))
    assert between_ends(first, second, 0.5) == pytest.approx((0.15, 0.75))


def test_ends_are_stretched_and_cut() -> None:
    ends = Ends(np.array([0.3, -0.2]), np.array([0.5, 1.7]), np.ones(2)).containing(
        np.array([0.6, 0.5])
    )
    assert ends.low.tolist() == [0.3, 0.0]
    assert ends.high.tolist() == [0.6, 1.0]


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.999, 1 - 1e-9])
def test_quantiles(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(norm.ppf((1 + level) / 2), rel=1e-6)
    assert level_of(normal_quantile(level)) == pytest.approx(level)
    for freedom in (1.0, 4.5, 100.0):
        assert student_quantile(level, freedom) == pytest.approx(
            t.ppf((1 + level) / 2, freedom), rel=1e-5
        )


def test_quantiles_next_to_certainty_are_finite() -> None:
    top = math.nextafter(1.0, 0.0)
    assert 8 < normal_quantile(top) < 9
    assert math.isfinite(student_quantile(top, 3.0))
    assert level_of(50.0) == top


def test_many_data_sets_at_once_are_each_alone() -> None:
    rng = np.random.default_rng(7)
    lattice = CountGrid((3, 6))
    counts = np.stack(
        [
            np.concatenate([rng.multinomial(10, [0.25] * 4), rng.multinomial(12, [1 / 7] * 7)])
            for _ in range(5)
        ]
    ).astype(float)
    values = np.concatenate([np.arange(4) / 3, np.arange(7) / 6])
    together = fit_mixture(lattice, counts)
    problems, trials = over_problems(together, values, 0.9), over_trials(together, values, 1, 0.9)
    for at, each in enumerate(counts):
        alone = fit_mixture(lattice, each)
        one, other = over_problems(alone, values, 0.9), over_trials(alone, values, 1, 0.9)
        assert problems.low[at] == pytest.approx(one.low)
        assert problems.high[at] == pytest.approx(one.high)
        assert trials.low[at] == pytest.approx(other.low)
        assert trials.se[at] == pytest.approx(other.se)


def test_a_larger_quantile_for_a_band_widens() -> None:
    mixture = fit_mixture(CountGrid((4,)), np.array([6.0, 2, 1, 4, 7]))
    values = np.arange(5) / 4
    for made in (
        lambda reach: over_problems(mixture, values, 0.95, reach, outer=1.0),
        lambda reach: over_trials(mixture, values, 1, 0.95, reach=reach),
    ):
        plain, wide = made(normal_quantile(0.95)), made(2.5)
        assert wide.low < plain.low
        assert wide.high > plain.high
    plain = over_trials(mixture, values, 1, 0.95)
    again = over_trials(mixture, values, 1, 0.95, reach=normal_quantile(0.95))
    assert again.low <= plain.low
    assert again.high >= plain.high  # the end towards which the variance vanishes moves out


def test_the_noise_is_also_measured_without_a_model() -> None:
    # two disjoint trials of a problem: the mean of x1 x2 is c(c-1)/n(n-1), unbiased for p^2
    n, m = 4, 10_000
    c = np.arange(n + 1)
    values, squares = c / n, c * (c - 1) / (n * (n - 1))
    p = np.random.default_rng(9).choice([0.05, 0.6], m)
    counts = np.bincount(np.random.default_rng(10).binomial(n, p), minlength=n + 1).astype(float)
    mixture = fit_mixture(CountGrid((n,)), counts)
    found = over_trials(mixture, values, 1, 0.95, squares=squares)
    assert found.se == pytest.approx(math.sqrt((p * (1 - p)).mean() / n / m), rel=0.03)
    few = fit_mixture(CountGrid((n,)), np.array([2.0, 1, 0, 1, 1]))
    with_model, mostly = (over_trials(few, values, 1, 0.95, squares=s) for s in (None, squares))
    assert mostly.se == pytest.approx(with_model.se, rel=0.1)  # five problems measure little


def test_the_model_keeps_a_part_when_the_measured_noise_vanishes() -> None:
    mixture = fit_mixture(CountGrid((4,)), np.array([50.0, 0, 0, 0, 50.0]))
    c = np.arange(5)
    found = over_trials(mixture, c / 4, 1, 0.95, squares=c * (c - 1) / 12)
    plain = over_trials(mixture, c / 4, 1, 0.95)
    assert 0.8 * plain.se < found.se <= plain.se


# -- the edge ------------------------------------------------------------------------------------


def high_end(counts: list[int], n: int, metric: str) -> float:
    return estimate(Outcomes.from_counts(counts, n), metric).high or 0.0


@pytest.mark.parametrize("metric", ["pass@1", "pass@2", "pass^2", "maj@3"])
@pytest.mark.parametrize(("problems", "n"), [(3, 3), (10, 8)])
def test_a_first_success_does_not_lower_the_upper_end(metric: str, problems: int, n: int) -> None:
    none = high_end([0] * problems, n, metric)
    assert none == pytest.approx(1 - 0.025 ** (1 / problems))
    for few in ([1], [2], [n], [2, n]):
        assert high_end(few + [0] * (problems - len(few)), n, metric) >= none - 1e-9


@pytest.mark.parametrize(("problems", "n", "metric"), [(4, 3, "pass@1"), (5, 2, "pass@2")])
def test_no_step_lowers_an_upper_end_by_much(problems: int, n: int, metric: str) -> None:
    # Alike problems are evidence against a spread, so the end may fall a little between.
    every = list(combinations_with_replacement(range(n + 1), problems))
    high = {counts: high_end(list(counts), n, metric) for counts in every}
    for counts, end in high.items():
        for at in range(problems):
            more = tuple(sorted((*counts[:at], counts[at] + 1, *counts[at + 1 :])))
            assert more not in high or high[more] > end - 0.035


def test_the_guard_ends_where_four_problems_show_the_spread() -> None:
    ends = [high_end([1] * few + [0] * (30 - few), 8, "pass@1") for few in (1, 2, 3, 4)]
    assert ends[0] == pytest.approx(1 - 0.025 ** (1 / 30))
    assert ends == sorted(ends, reverse=True)
    assert ends[3] < 0.06


# -- trials that do not show their noise -------------------------------------------------------


def ends_over_trials(c: list[int], n: int, name: str) -> tuple[float, float, float]:
    metric, grid = parse_metric(name), CountGrid((n,))
    values = metric.parts[0].at(grid.trials, grid.successes, metric.k)
    squares = metric.square_at(grid.trials, grid.successes)
    mixture = fit_mixture(grid, np.bincount(c, minlength=n + 1).astype(float))
    ends = over_trials(mixture, values, metric.k, 0.95, squares=squares)
    return float(ends.low), float(ends.high), float(values[c].mean())


@pytest.mark.parametrize(("name", "k"), [("pass@1", 1), ("pass@2", 2), ("pass^2", -2)])
def test_problems_without_noise_hide_what_so_many_trials_could_miss(name: str, k: int) -> None:
    low, high, value = ends_over_trials([0] * 6 + [4] * 3, 4, name)

    def moved(problems: int, k: int) -> float:
        rates = [(r, 1 - 0.025 ** (1 / (4 * r))) for r in range(1, problems + 1)]
        return max(r * (p**-k if k < 0 else 1 - (1 - p) ** k) for r, p in rates) / 9

    assert high == pytest.approx(value + moved(6, k), rel=0.01)
    assert low == pytest.approx(value - moved(3, {2: -2, -2: 2}.get(k, k)), rel=0.01)


def test_a_few_problems_that_show_it_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(noisy: int) -> tuple[float, float]:
        return ends_over_trials([0, 8] * 20 + [4] * noisy, 8, "pass@1")[:2]

    hidden = [ends(noisy) for noisy in range(6)]
    monkeypatch.setattr("passband.stats.interval.default.wilson._few", np.zeros_like)
    shown = [ends(noisy) for noisy in range(6)]
    for noisy, (wide, plain) in enumerate(zip(hidden, shown, strict=True)):
        assert wide[0] <= plain[0]
        assert wide[1] >= plain[1]
        assert (wide == plain) == (noisy >= 2)  # from then on the noise that is seen is more


@given(st.lists(st.sampled_from([0, 0, 0, 3, 3, 3, 1, 2]), min_size=2, max_size=20))
def test_hidden_noise_mirrors(c: list[int]) -> None:
    if len(set(c)) == 1:
        return
    low, high, value = ends_over_trials(c, 3, "pass@1")
    other = ends_over_trials([3 - each for each in c], 3, "pass@1")
    assert (low, high, value) == pytest.approx((1 - other[1], 1 - other[0], 1 - other[2]), abs=1e-6)
    assert 0.0 <= low <= value <= high <= 1.0
