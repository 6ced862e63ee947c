"""Bootstrap intervals: against full enumeration, against others' recipes, and where they refuse."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, estimate
from passband.stats.data.evidence import COUNTS_FIXED
from passband.stats.interval.bootstrap.draws import Replicates, bootstrap_means, bootstrap_totals
from passband.stats.interval.bootstrap.eva_bootstrap import EVA_CLUSTERS, EVA_ZERO_WIDTH, eva_means
from passband.stats.interval.bootstrap.exact import (
    MeanDistribution,
    ValuePool,
    bootstrap_distribution,
    distribution_of_mean,
)
from passband.stats.interval.bootstrap.methods import EQUAL_RESAMPLES
from passband.stats.interval.bootstrap.units import units_of
from passband.stats.interval.notes import (
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM_NO_INTERVAL,
)
from passband.stats.interval.registry import methods
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric
from passband.types import Floats, Ints

OVER_PROBLEMS = ("percentile", "bca", "studentized", "two-level", "t")
WITH_CLUSTERS = ("percentile", "bca", "studentized", "t")
MIXED = Outcomes.from_counts([3, 0, 8, 5, 6, 1, 0, 7, 8, 2] * 3, 8)
SCORES = np.random.default_rng(5).gamma(2.0, 1.0, (12, 6))


# -- slow twins ----------------------------------------------------------------------------


def every_resample(values: Floats) -> Floats:
    """Return the mean of each of the M^M resamples of M values."""
    drawn = np.indices((len(values),) * len(values)).reshape(len(values), -1)
    return values[drawn].mean(axis=0)


def quantile_ends(means: Floats, tail: Fraction) -> tuple[float, float]:
    """Return the smallest mean with P(<=) >= tail, and the largest with P(>=) >= tail."""
    ordered = np.sort(means.round(12))
    rank = -(-len(ordered) * tail // 1)
    return float(ordered[int(rank) - 1]), float(ordered[-int(rank)])


def expanded(values: Floats) -> tuple[Floats, Ints]:
    found: tuple[Floats, Ints] = np.unique(values, return_counts=True)
    return found


def moments(law: MeanDistribution) -> tuple[float, float]:
    mean = float(law.masses @ law.points)
    return mean, float(law.masses @ (law.points - mean) ** 2) ** 0.5


# -- the exact law -------------------------------------------------------------------------


@pytest.mark.parametrize("problems", [2, 3, 4, 5, 6, 7])
def test_the_law_is_that_of_all_resamples(problems: int) -> None:
    successes = np.random.default_rng(problems).integers(0, 9, problems)
    successes[0] = 8 if (successes == successes[0]).all() else successes[0]
    outcomes = Outcomes.from_counts(successes, 8)
    means = every_resample(successes / 8)
    for level, tail in ((0.95, Fraction(1, 40)), (0.8, Fraction(1, 10))):
        found = estimate(outcomes, "pass@1", method="percentile", level=level)
        assert (found.low, found.high) == pytest.approx(quantile_ends(means, tail), abs=1e-12)
    assert found.se == pytest.approx(means.std(), rel=1e-12)
    assert found.value == pytest.approx(means.mean(), rel=1e-12)
    assert found.seed is None
    law = bootstrap_distribution(*expanded(successes / 8))
    points, counts = np.unique((means * 8 * problems).round().astype(int), return_counts=True)
    masses = dict(zip((law.points * 8 * problems).round().astype(int), law.masses, strict=True))
    assert [masses[point] for point in points] == pytest.approx(counts / len(means), abs=1e-13)


@pytest.mark.parametrize("values", [[0.0, 2**0.5 / 2, 1.0, 0.1234567], [-3.0, np.pi, np.e, 40.0]])
def test_values_without_a_lattice_of_their_own(values: list[float]) -> None:
    means = every_resample(np.array(values))
    law = bootstrap_distribution(*expanded(np.array(values)))
    assert moments(law) == pytest.approx((means.mean(), means.std()), rel=1e-9)
    assert law.sd == pytest.approx(means.std(), rel=1e-12)
    low, high = quantile_ends(means, Fraction(1, 40))
    assert law.lower(0.025) == pytest.approx(low, abs=1e-3 * law.sd)
    assert law.upper(0.025) == pytest.approx(high, abs=1e-3 * law.sd)


def test_two_values_on_a_grid_keep_both_ends() -> None:
    law = distribution_of_mean(
        [ValuePool(np.array([0.0, 1.0, np.pi]), np.array([0.5, 0.25, 0.25]), 1)], 1
    )
    assert [law.lower(0.1), law.upper(0.1)] == pytest.approx([0.0, np.pi], abs=1e-4)


@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(lambda found: len(set(found)) > 1)
)
def test_failures_mirror_successes(successes: list[int]) -> None:
    c = np.array(successes)
    ends = estimate(Outcomes.from_counts(c, 12), "pass@1", method="percentile", level=0.75)
    other = estimate(Outcomes.from_counts(12 - c, 12), "pass@1", method="percentile", level=0.75)
    assert (other.low, other.high) == pytest.approx((1 - ends.high, 1 - ends.low), abs=1e-9)


@pytest.mark.parametrize("problems", [30, 1000])
def test_the_window_loses_nothing(problems: int) -> None:
    rng = np.random.default_rng(problems)
    values, counts = expanded(rng.binomial(16, rng.beta(0.5, 0.5, problems)))  # type: ignore[arg-type]
    full = np.zeros(16 * problems + 1)
    full[:17] = np.bincount(values, counts / problems, 17)
    exact = np.fft.irfft(np.fft.rfft(full, 1 << 15) ** problems, 1 << 15)[: len(full)]
    law = bootstrap_distribution(values.astype(float), counts)
    cumulated = np.cumsum(exact)
    for tail in (1e-4, 0.025, 0.3):
        assert law.lower(tail) * problems == pytest.approx(np.searchsorted(cumulated, tail))
    assert moments(law) == pytest.approx((law.mean, law.sd), rel=1e-9)
    assert len(law.points) <= 16 * problems + 1


def test_direct_convolution_agrees() -> None:
    histogram = np.array([3, 0, 1, 4, 2]) / 10
    direct = np.ones(1)
    for _ in range(10):
        direct = np.convolve(direct, histogram)
    law = bootstrap_distribution(np.arange(5) / 4, np.array([3, 0, 1, 4, 2]))
    assert law.masses == pytest.approx(direct, abs=1e-14)
    assert law.points == pytest.approx(np.arange(41) / 40, abs=1e-14)


def test_a_grid_is_as_good_as_the_lattice() -> None:
    rng = np.random.default_rng(2)
    values, counts = expanded(rng.binomial(64, rng.beta(0.5, 0.5, 500)) / 64)
    own = bootstrap_distribution(values, counts)
    off = bootstrap_distribution(values + 1e-7 * np.sin(np.arange(len(values))), counts)
    assert len(off.points) != len(own.points)
    for tail in (0.005, 0.025, 0.16):
        assert off.lower(tail) == pytest.approx(own.lower(tail), abs=3e-3 * own.sd)
        assert off.upper(tail) == pytest.approx(own.upper(tail), abs=3e-3 * own.sd)


def test_sums_from_several_pools() -> None:
    pools = [ValuePool(np.array([0.0, 0.5, 1.0]), np.array([0.25, 0.5, 0.25]), 2)]
    pools += [
        ValuePool(np.array([1 / 3, 1.0]), np.array([0.9, 0.1]), 1),
        ValuePool(np.ones(1), np.ones(1), 3),
    ]
    sums: dict[float, float] = {}
    for a, b, c in itertools.product(range(3), range(3), range(2)):
        chance = np.prod([pools[0].shares[a], pools[0].shares[b], pools[1].shares[c]])
        value = round((pools[0].values[[a, b]].sum() + pools[1].values[c] + 3) / 6, 9)
        sums[value] = sums.get(value, 0.0) + float(chance)
    law = distribution_of_mean(pools, 6)
    kept = law.masses > 1e-12
    assert dict(zip(law.points[kept].round(9), law.masses[kept], strict=True)) == pytest.approx(
        sums
    )


def test_thirty_problems_with_64_trials() -> None:
    rng = np.random.default_rng(0)
    outcomes = Outcomes.from_counts(rng.binomial(64, rng.beta(0.5, 0.5, 30)), 64)
    found = estimate(outcomes, "pass@1", method="percentile")
    assert (found.low, found.high) == (0.4453125, 0.6921875)


# -- replicates ----------------------------------------------------------------------------


@pytest.mark.parametrize("problems", [np.array([400, 100, 300, 200]), np.array([1, 2, 1, 1])])
def test_drawn_means_follow_the_law(problems: Ints) -> None:
    values = np.array([0.0, 0.25, 0.5, 1.0])
    law = bootstrap_distribution(values, problems)
    means = Replicates(bootstrap_means(values, problems, 100_000, np.random.default_rng(1)))
    assert means.values.mean() == pytest.approx(law.mean, abs=5 * law.sd / 100_000**0.5)
    assert means.sd == pytest.approx(law.sd, rel=0.02)
    for x in (law.mean - law.sd, law.mean, law.mean + 1.5 * law.sd):
        assert means.below(x) == pytest.approx(law.below(x), abs=0.01)


def test_counts_and_single_draws_have_one_law() -> None:
    rows = np.array([[0.0, 1.0], [1.0, 3.0], [0.5, 2.0]])
    shares = np.array([0.5, 0.2, 0.3])
    for draws in (5, 50):  # below and above three draws per row
        totals = bootstrap_totals(rows, shares, draws, 50_000, np.random.default_rng(3))
        assert totals.mean(axis=0) / draws == pytest.approx(shares @ rows, abs=0.02)
        spread = np.cov(rows.T, aweights=shares, ddof=0)
        assert np.cov(totals.T) / draws == pytest.approx(spread, rel=0.05)


def test_the_standard_error_does_not_shrink_with_the_replicates() -> None:
    values, problems = np.array([0.0, 0.5, 1.0]), np.array([30, 20, 50])
    sds = [
        Replicates(bootstrap_means(values, problems, size, np.random.default_rng(4))).sd
        for size in (1000, 100_000)
    ]
    truth = bootstrap_distribution(values, problems).sd
    assert sds == pytest.approx([truth, truth], rel=0.1)


def test_memory_does_not_hold_all_replicates_at_once() -> None:
    import tracemalloc

    values, problems = np.arange(65) / 64, np.full(65, 1000)
    tracemalloc.start()
    bootstrap_means(values, problems, 40_000, np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8e6  # all counts at once would be 21 MB, all problems 21 GB


# -- EVA -----------------------------------------------------------------------------------


@pytest.mark.parametrize("problems", [1, 2, 3, 65, 333, 1001])
def test_eva_bit_for_bit(problems: int) -> None:
    values = np.random.default_rng(problems).random(problems)
    drawn = np.random.default_rng(99).integers(0, problems, size=(2000, problems))
    assert eva_means(values, 99).tobytes() == values[drawn].mean(axis=1).tobytes()


def test_eva_interval() -> None:
    c = np.random.default_rng(8).integers(0, 9, 200)
    c[100] = 0
    found = estimate(Outcomes.from_counts(c, 8), "pass@1", method="eva", seed="run-1")
    drawn = np.random.default_rng(found.seed).integers(0, 200, size=(2000, 200))
    low, high = np.percentile((c / 8)[drawn].mean(axis=1), [2.5, 97.5])
    assert (found.low, found.high) == (low, high)


def test_eva_takes_rewards_in_problem_order_and_leaves_short_problems_out() -> None:
    rows = [[0.5, 0.25, 1.0], [0.1], [0.9, 0.3], [0.2, 0.4, 0.6]]
    best = estimate(Outcomes.from_array(rows), "max@2", method="eva", seed=3)
    values = [estimate(Outcomes.from_array([row]), "max@2").value for row in rows if len(row) > 1]
    drawn = np.random.default_rng(3).integers(0, 3, size=(2000, 3))
    low, high = np.percentile(np.array(values)[drawn].mean(axis=1), [2.5, 97.5])
    assert (best.low, best.high, best.left_out) == (low, high, 1)


def test_eva_is_reproduced_even_where_it_says_nothing() -> None:
    same = estimate(Outcomes.from_counts([8] * 9, 8), "pass@1", method="eva", seed=0)
    assert (same.low, same.high, same.se, same.notes) == (1.0, 1.0, 0.0, (EVA_ZERO_WIDTH,))
    clustered = Outcomes.from_counts([1, 5, 3, 2], 8, clusters="aabb")
    assert EVA_CLUSTERS in estimate(clustered, "pass@1", method="eva", seed=0).notes


def test_eva_needs_a_seed_and_values_per_problem() -> None:
    with pytest.raises(InvalidInput, match="needs a seed"):
        estimate(MIXED, "pass@1", method="eva")
    with pytest.raises(InvalidInput, match="value per problem"):
        estimate(MIXED, "geom-ds@2", method="eva", seed=1)


# -- clusters ------------------------------------------------------------------------------


def clustered_means(sums: Floats, sizes: Floats) -> Floats:
    drawn = np.indices((len(sums),) * len(sums)).reshape(len(sums), -1)
    means: Floats = sums[drawn].sum(axis=0) / sizes[drawn].sum(axis=0)
    return means


def test_unequal_clusters_against_all_resamples() -> None:
    outcomes = Outcomes.from_counts([8, 7, 1, 0, 2, 4, 5, 3, 6], 8, clusters="aabbbcddd")
    means = clustered_means(np.array([15, 3, 4, 14]) / 8, np.array([2.0, 3.0, 1.0, 3.0]))
    found = estimate(outcomes, "pass@1", method="percentile", seed=11)
    assert found.se == pytest.approx(means.std())
    assert (found.low, found.high) == pytest.approx(quantile_ends(means, Fraction(1, 40)))
    assert found.seed is None  # all resamples were gone through
    assert "clusters" in " ".join(map(str, found.notes))


def test_more_clusters_than_can_be_gone_through_are_drawn() -> None:
    sizes = [1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 1, 2]
    names = np.repeat(range(12), sizes)
    counts = np.arange(len(names)) * 5 % 9
    for method in ("percentile", "bca"):
        few, many = (
            estimate(
                Outcomes.from_counts(counts[kept], 8, clusters=names[kept]),
                "pass@1",
                method=method,
                seed=11,
            )
            for kept in (names < 6, names < 12)
        )
        assert (few.seed, many.seed) == (None, 11)


def test_going_through_all_resamples_agrees_with_drawing_them() -> None:
    counts = [8, 7, 1, 0, 2, 4, 5, 3, 6, 1]
    outcomes = Outcomes.from_counts(counts, 8, clusters="aabbbcddde")
    for metric in ("pass@2", "geom-ds@2"):
        units = units_of(
            IntervalRequest(outcomes, parse_metric(metric), (), 0.0, "problems", 0.95, None)
        )
        values, masses = units.every_resample()
        drawn = units.replicates(200_000, np.random.default_rng(5))
        assert len(values) == 126
        assert masses @ values == pytest.approx(drawn.mean(), abs=0.002)
        assert masses @ (values < 0.4) == pytest.approx((drawn < 0.4).mean(), abs=0.005)


def test_equal_clusters_are_exact() -> None:
    outcomes = Outcomes.from_counts([8, 7, 1, 0, 2, 4, 5, 3], 8, clusters="aabbccdd")
    means = clustered_means(np.array([15, 1, 6, 8]) / 8, np.full(4, 2.0))
    found = estimate(outcomes, "pass@1", method="percentile")
    assert (found.low, found.high) == pytest.approx(quantile_ends(means, Fraction(1, 40)))
    assert (found.se, found.seed) == (pytest.approx(means.std()), None)


def test_clusters_of_one_are_problems() -> None:
    alone = Outcomes.from_counts(MIXED.successes, 8, clusters=range(30))
    for method in WITH_CLUSTERS:
        first, second = (estimate(o, "pass@1", method=method, seed=1) for o in (MIXED, alone))
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_clusters_of_copies_count_once() -> None:
    c = np.asarray(MIXED.successes)
    copies = Outcomes.from_counts(np.repeat(c, 4), 8, clusters=np.repeat(range(30), 4))
    for method in WITH_CLUSTERS:
        first, second = (estimate(o, "pass@1", method=method, seed=1) for o in (MIXED, copies))
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_rewards_in_clusters() -> None:
    outcomes = Outcomes.from_array(SCORES, clusters="aaabbbccdddd")
    shuffled = np.random.default_rng(0).permutation(12)
    other = Outcomes.from_array(SCORES[shuffled], clusters=np.array(list("aaabbbccdddd"))[shuffled])
    for method in WITH_CLUSTERS:
        found = estimate(outcomes, "max@2", method=method)
        assert found.low < found.value < found.high
        again = estimate(other, "max@2", method=method)
        assert (again.low, again.high) == pytest.approx((found.low, found.high), rel=1e-9)


# -- BCa, studentized, t --------------------------------------------------------------------


def test_bca_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array([0.1, 0.9, 2.5, 0.3, 0.2, 1.1, 5.0, 0.7, 0.4, 0.05, 3.1, 1.7])
    found = estimate(Outcomes.from_array(values[:, None]), "avg", method="bca")
    rival = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=100_000,
        method="BCa",
        random_state=np.random.default_rng(0),
    )
    assert found.low == pytest.approx(rival.confidence_interval.low, abs=0.02 * found.se)
    assert found.high == pytest.approx(rival.confidence_interval.high, abs=0.03 * found.se)
    assert found.se == pytest.approx(rival.standard_error, rel=0.02)


def test_bca_without_skewness_is_the_percentile_interval() -> None:
    even = Outcomes.from_counts([0, 2, 4, 6, 8] * 8, 8)
    plain, corrected = (estimate(even, "pass@1", method=m) for m in ("percentile", "bca"))
    assert (corrected.low, corrected.high) == pytest.approx((plain.low, plain.high), abs=1 / 320)


def test_student_t_is_the_textbook() -> None:
    special = pytest.importorskip("scipy.special")
    values = np.asarray(MIXED.successes) / 8
    se = values.std(ddof=1) / 30**0.5
    found = estimate(MIXED, "pass@1", method="t")
    assert found.se == pytest.approx(se)
    assert found.high - found.value == pytest.approx(special.stdtrit(29, 0.975) * se)


def test_student_t_with_clusters() -> None:
    outcomes = Outcomes.from_counts([8, 7, 1, 0, 2, 4, 5, 3, 6], 8, clusters="aabbbcddd")
    found = estimate(outcomes, "pass@1", method="t")
    residuals = np.array([15, 3, 4, 14]) / 8 - found.value * np.array([2, 3, 1, 3])
    assert found.se == pytest.approx((4 / 3 * (residuals**2).sum()) ** 0.5 / 9)


def test_student_t_of_a_blend_is_the_delta_method() -> None:
    found = estimate(MIXED, "geom-ds@2", method="t")
    jackknife = []
    for at in range(30):
        rest = Outcomes.from_counts(np.delete(np.asarray(MIXED.successes), at), 8)
        jackknife.append(estimate(rest, "geom-ds@2").value)
    assert found.se == pytest.approx((29**2 / 30 * np.var(jackknife, ddof=1)) ** 0.5, rel=0.02)


def test_studentized_against_drawing_problems() -> None:
    values = np.asarray(MIXED.successes) / 8
    drawn = values[np.random.default_rng(6).integers(0, 30, (100_000, 30))]
    away = (drawn.mean(axis=1) - values.mean()) / drawn.std(axis=1, ddof=1)
    low, high = values.mean() - values.std(ddof=1) * np.quantile(away, [0.975, 0.025])
    found = estimate(MIXED, "pass@1", method="studentized")
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.08 * found.se)


def test_studentized_where_many_resamples_have_no_spread() -> None:
    found = estimate(Outcomes.from_counts([0, 8, 8], 8), "pass@1", method="studentized")
    assert (found.low, found.high) == (0.0, 1.0)
    assert "no spread" in " ".join(map(str, found.notes))
    found = estimate(Outcomes.from_array([[0.1], [0.7], [0.7]]), "avg", method="studentized")
    assert (found.low, found.high) == (0.0, 1.0)  # scores within [0, 1] are bounded by it
    found = estimate(Outcomes.from_array([[0.1], [1.7], [1.7]]), "avg", method="studentized")
    assert (found.low, found.high) == (None, None)


# -- trials, two levels, blends --------------------------------------------------------------


def binomial_law(n: int, c: int) -> list[Fraction]:
    from math import comb

    p = Fraction(c, n)
    return [comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]


def redrawn(
    counts: list[tuple[int, int]], value: Callable[[int, int], Fraction]
) -> dict[Fraction, Fraction]:
    """Return the exact law of the mean value, every c of n becoming Binomial(n, c/n)."""
    law = {Fraction(0): Fraction(1)}
    for n, c in counts:
        grown: dict[Fraction, Fraction] = {}
        for (total, chance), (j, weight) in itertools.product(
            law.items(), enumerate(binomial_law(n, c))
        ):
            key = total + value(n, j) / len(counts)
            grown[key] = grown.get(key, Fraction(0)) + chance * weight
        law = {total: chance for total, chance in grown.items() if chance}
    return law


def exact_ends(law: dict[Fraction, Fraction], tail: Fraction) -> tuple[float, float]:
    points = sorted(law)
    below = itertools.accumulate(law[x] for x in points)
    above = itertools.accumulate(law[x] for x in reversed(points))
    low = next(x for x, mass in zip(points, below, strict=True) if mass >= tail)
    high = next(x for x, mass in zip(reversed(points), above, strict=True) if mass >= tail)
    return float(low), float(high)


@pytest.mark.parametrize("metric", ["pass@1", "pass^2"])
def test_trials_redrawn_against_exact_fractions(metric: str) -> None:
    counts = [(6, 2), (6, 5), (4, 4), (4, 1), (6, 0)]
    share = {
        "pass@1": lambda n, j: Fraction(j, n),
        "pass^2": lambda n, j: Fraction(j * (j - 1), n * (n - 1)),
    }[metric]
    law = redrawn(counts, share)
    outcomes = Outcomes.from_counts([c for _, c in counts], [n for n, _ in counts])
    found = estimate(outcomes, metric, over="trials", method="percentile")
    mean = sum(x * w for x, w in law.items())
    assert found.se == pytest.approx(float(sum(w * (x - mean) ** 2 for x, w in law.items())) ** 0.5)
    low, high = exact_ends(law, Fraction(1, 40))
    assert found.low == pytest.approx(min(low, found.value), abs=1e-9)
    assert found.high == pytest.approx(max(high, found.value), abs=1e-9)
    assert found.seed is None


def test_a_blend_over_trials_is_drawn() -> None:
    found = estimate(MIXED, "geom-ds@2", over="trials", method="percentile")
    rng = np.random.default_rng(0)
    n, c = 8, rng.binomial(8, np.asarray(MIXED.successes) / 8, (20_000, 30))
    at_least = 1 - (n - c) * (n - c - 1) / (n * (n - 1))
    both = c * (c - 1) / (n * (n - 1))
    values = (at_least.mean(axis=1) * both.mean(axis=1)) ** 0.5
    assert found.se == pytest.approx(values.std(), rel=0.05)
    assert found.low == pytest.approx(np.quantile(values, 0.025), abs=0.15 * found.se)
    assert found.seed is not None


def test_a_blend_over_problems_is_drawn_jointly() -> None:
    found = estimate(MIXED, "geom-ds@2", method="percentile")
    n, c = 8, np.asarray(MIXED.successes)
    parts = np.stack([1 - (n - c) * (n - c - 1) / (n * (n - 1)), c * (c - 1) / (n * (n - 1))])
    drawn = parts[:, np.random.default_rng(0).integers(0, 30, (50_000, 30))].mean(axis=2)
    values = (drawn[0] * drawn[1]) ** 0.5
    assert found.se == pytest.approx(values.std(), rel=0.05)
    ends = np.quantile(values, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=0.15 * found.se)


@pytest.mark.parametrize("metric", ["pass@1", "geom-ds@2"])
def test_two_levels_against_drawing_both(metric: str) -> None:
    found = estimate(MIXED, metric, method="two-level")
    rng = np.random.default_rng(0)
    picked = np.asarray(MIXED.successes)[rng.integers(0, 30, (50_000, 30))]
    n, c = 8, rng.binomial(8, picked / 8)
    values = c.mean(axis=1) / 8
    if metric == "geom-ds@2":
        at_least = 1 - (n - c) * (n - c - 1) / (n * (n - 1))
        values = (at_least.mean(axis=1) * (c * (c - 1) / (n * (n - 1))).mean(axis=1)) ** 0.5
    assert found.se == pytest.approx(values.std(), rel=0.03)
    ends = np.quantile(values, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=0.15 * found.se)
    assert found.se > estimate(MIXED, metric, method="percentile").se


def test_two_levels_refuse_clusters() -> None:
    clustered = Outcomes.from_counts([1, 5, 3, 2], 8, clusters="aabb")
    with pytest.raises(InvalidInput, match="clusters"):
        estimate(clustered, "pass@1", method="two-level")


# -- graded and ragged problems -------------------------------------------------------------


def test_rewards_over_problems_and_over_trials() -> None:
    outcomes = Outcomes.from_array(SCORES)
    found = estimate(outcomes, "avg", method="percentile")
    assert found.se == pytest.approx(SCORES.mean(axis=1).std() / 12**0.5)
    within = estimate(outcomes, "avg", over="trials", method="percentile")
    assert within.se == pytest.approx((SCORES.var(axis=1) / 6).sum() ** 0.5 / 12, rel=0.03)
    both = estimate(outcomes, "avg", method="two-level")
    assert both.se == pytest.approx((found.se**2 + within.se**2) ** 0.5, rel=0.03)
    for one in (found, within, both):
        assert one.low < one.value < one.high


def test_the_best_of_redrawn_scores() -> None:
    from passband.stats.data.graded import best_weights

    found = estimate(Outcomes.from_array(SCORES), "max@3", over="trials", method="percentile")
    rng = np.random.default_rng(0)
    drawn = np.sort(SCORES[np.arange(12)[:, None], rng.integers(0, 6, (5000, 12, 6))], axis=2)
    values = (drawn @ best_weights(6, 3)).mean(axis=1)
    assert found.se == pytest.approx(values.std(), rel=0.05)
    assert found.low == pytest.approx(np.quantile(values, 0.025), abs=0.15 * found.se)


def test_ragged_rewards() -> None:
    rows = [[0.5, 0.25, 1.0], [0.1], [0.9, 0.3], [0.2, 0.4, 0.6], [0.7, 0.8]]
    outcomes = Outcomes.from_array(rows)
    means = np.array([np.mean(row) for row in rows])
    found = estimate(outcomes, "avg", method="percentile")
    assert found.se == pytest.approx(means.std() / 5**0.5)
    within = estimate(outcomes, "avg", over="trials", method="percentile")
    noise = sum(np.var(row) / len(row) for row in rows) ** 0.5 / 5
    assert within.se == pytest.approx(noise, rel=0.03)
    assert estimate(outcomes, "max@2", method="two-level").left_out == 1


@pytest.mark.parametrize("method", OVER_PROBLEMS)
@pytest.mark.parametrize("metric", ["pass@1", "pass@3", "pass^2", "geom-ds@2", "maj@3", "bayes"])
def test_ragged_counts(method: str, metric: str) -> None:
    n = np.array([8, 8, 5, 3, 1, 8, 6, 4, 2, 8, 7, 5])
    c = np.array([3, 8, 0, 2, 1, 7, 6, 1, 0, 5, 4, 3])
    found = estimate(Outcomes.from_counts(c, n), metric, method=method)
    assert 0.0 <= found.low < found.value < found.high <= 1.0
    assert found.se > 0
    assert (
        found.n_problems
        == (n >= {"pass@3": 3, "maj@3": 3}.get(metric, 2 if "2" in metric else 1)).sum()
    )


def test_many_distinct_pairs_over_trials() -> None:
    n = np.arange(2, 402)
    outcomes = Outcomes.from_counts(n // 2, n).accepting(COUNTS_FIXED)
    found = estimate(outcomes, "pass@1", over="trials", method="percentile")
    p = (n // 2) / n
    assert found.se == pytest.approx((p * (1 - p) / n).sum() ** 0.5 / 400, rel=1e-9)
    assert found.seed is None  # summed from the characteristic function, not drawn


# -- seeds ---------------------------------------------------------------------------------

SHOW = """
import numpy as np
from passband import Outcomes, estimate
counts = Outcomes.from_counts([3, 0, 8, 5, 6, 1], [8, 8, 8, 7, 6, 8], clusters="aabbcb")
scores = Outcomes.from_array([[0.5, 0.25, 1.0], [0.1, 0.3, 0.2], [0.9, 0.3, 0.8]])
for found in (
    estimate(counts, "geom-ds@2", method="percentile"),
    estimate(counts, "pass@2", method="studentized"),
    estimate(counts, "geom-ds@2", over="trials", method="percentile"),
    estimate(scores, "max@2", method="two-level"),
):
    print(found.low.hex(), found.high.hex(), found.se.hex(), found.seed)
"""


@pytest.mark.process
def test_the_same_bytes_in_every_process() -> None:
    shown = {
        subprocess.run(
            [sys.executable, "-c", SHOW],
            env=os.environ | {"PYTHONHASHSEED": hashing},
            check=True,
            capture_output=True,
            timeout=60,
        ).stdout
        for hashing in ("0", "1", "random")
    }
    assert len(shown) == 1
    assert shown.pop().count(b"None") == 1  # clusters so few that nothing is drawn


def test_the_data_and_the_metric_make_the_seed() -> None:
    first = estimate(MIXED, "geom-ds@2", method="percentile")
    again = estimate(MIXED, "geom-ds@2", method="percentile", level=0.8)
    turned = Outcomes.from_counts(np.asarray(MIXED.successes)[::-1], 8)
    assert first.seed == again.seed == estimate(turned, "geom-ds@2", method="percentile").seed
    assert first.seed != estimate(MIXED, "geom-ds@3", method="percentile").seed
    more = Outcomes.from_counts([*np.asarray(MIXED.successes), 3], 8)
    assert first.seed != estimate(more, "geom-ds@2", method="percentile").seed
    named = estimate(MIXED, "geom-ds@2", method="percentile", seed=17)
    assert named.seed == 17
    assert named.low != first.low


# -- where resampling sees nothing -----------------------------------------------------------


@pytest.mark.parametrize("method", OVER_PROBLEMS)
def test_no_spread_is_no_interval(method: str) -> None:
    for outcomes, reason in (
        (Outcomes.from_counts([3], 8), ONE_PROBLEM_NO_INTERVAL),
        (Outcomes.from_counts([0] * 9, 8), NO_SPREAD),
        (Outcomes.from_counts([8] * 9, 8), NO_SPREAD),
        (Outcomes.from_counts([4, 2, 1], [8, 4, 2]), NO_SPREAD),
        (Outcomes.from_array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3]]), NO_SPREAD),
    ):
        metric = "pass@1" if outcomes.is_binary else "avg"
        found = estimate(outcomes, metric, method=method)
        assert (found.low, found.high, found.se, found.notes) == (None, None, None, (reason,))


@pytest.mark.parametrize("method", WITH_CLUSTERS)
def test_one_cluster_is_no_interval(method: str) -> None:
    outcomes = Outcomes.from_counts([1, 5, 3], 8, clusters="aaa")
    found = estimate(outcomes, "pass@1", method=method)
    assert (found.low, found.high, found.notes) == (None, None, (ONE_CLUSTER,))


@pytest.mark.parametrize("method", OVER_PROBLEMS)
def test_a_blend_that_is_always_zero_has_no_interval(method: str) -> None:
    found = estimate(Outcomes.from_counts([0, 1, 1, 0], 8), "geom-ds@8", method=method)
    assert (found.value, found.low, found.high) == (0.0, None, None)
    assert EQUAL_RESAMPLES in found.notes


@pytest.mark.parametrize("scores", [[[1], [0], [1]], [[1, 1], [0, 0]], [[0.5], [0.25]]])
def test_trials_that_do_not_differ_have_no_interval(scores: list[list[float]]) -> None:
    found = estimate(Outcomes.from_array(scores), "avg", over="trials", method="percentile")
    assert (found.low, found.high, found.se, found.notes) == (None, None, None, (NO_TRIAL_NOISE,))


@given(st.data())
def test_every_interval_contains_its_estimate(data: st.DataObject) -> None:
    n = data.draw(st.lists(st.integers(2, 6), min_size=2, max_size=8))
    c = [data.draw(st.integers(0, most)) for most in n]
    metric = data.draw(st.sampled_from(["pass@1", "pass@2", "pass^2", "geom@2", "geom-ds@2"]))
    method = data.draw(st.sampled_from(OVER_PROBLEMS))
    over = data.draw(st.sampled_from(methods.get(method).over))
    found = estimate(Outcomes.from_counts(c, n), metric, over=over, method=method)
    if found.low is None or found.high is None:
        assert found.notes
    else:
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0
        assert found.high > found.low
