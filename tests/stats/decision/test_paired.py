"""Paired differences: one statistic for interval and p-value, clusters, uneven trials."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, compare
from passband.stats.decision.difference import permuted_moments
from passband.stats.decision.paired import Paired, Permuted
from passband.stats.metric.registry import parse_metric
from support.fuzz.properties import one_in

changes = st.lists(st.integers(-8, 8), min_size=2, max_size=14).map(lambda d: np.array(d) / 8)


# -- interval and p-value ------------------------------------------------------------------


@one_in(2)
@given(changes, st.sampled_from([0.5, 0.8, 0.95, 0.999]), st.floats(-0.9, 0.9))
def test_a_tail_is_below_half_of_1_minus_level_where_the_interval_excludes_the_border(
    change: np.ndarray, level: float, border: float
) -> None:
    paired = Paired(change, None, 2.0)
    ends, tail = paired.ends(level), paired.tail(border)
    assert ends is not None
    assert tail is not None
    if min(abs(ends[0] - border), abs(ends[1] - border)) > 1e-9:
        outside = not ends[0] <= border <= ends[1]
        assert outside == (tail < (1 - level) / 2)


@one_in(2)
@given(changes)
def test_the_p_value_turns_with_the_sides(change: np.ndarray) -> None:
    one, two = Paired(change, None, 1.0), Paired(-change, None, 1.0)
    assert one.p_value == pytest.approx(two.p_value)
    assert one.confidence == pytest.approx(1 - two.confidence)


def test_students_p_value_where_there_is_no_skewness() -> None:
    from scipy.special import stdtr

    d = np.array([-0.3, -0.1, 0.2, 0.5, 0.7])
    t = d.mean() / (d.std(ddof=1) / np.sqrt(5))
    assert Paired(d, None, 1.0).p_value == pytest.approx(2 * stdtr(4, -t))


def test_the_same_change_everywhere_has_the_p_value_of_the_bound() -> None:
    # The lower end is 1 - 2 (1 - tail**(1/10)): 0 at tail 2**-10, as by sign flips.
    found = Paired(np.ones(10), None, 1.0)
    assert found.p_value == pytest.approx(2**-9)
    assert found.tail(-0.5) == pytest.approx(0.25**10)


def test_no_p_value_is_surer_than_six_deviations() -> None:
    assert Paired(np.tile([0.9, 1.0], 500), None, 1.0).p_value == pytest.approx(1.97e-9, rel=0.01)


@pytest.mark.parametrize("changed", [0.265, 1 / 3])
def test_the_exact_size_with_one_trial_per_problem(changed: float) -> None:
    # Two models that are alike differ on a binomial number of 30 problems, by a coin each.
    size = 0.0
    for total in range(31):
        drawn = comb(30, total) * changed**total * (1 - changed) ** (30 - total)
        for up in range(total + 1):
            change = np.repeat([1.0, -1.0, 0.0], [up, total - up, 30 - total])
            p_value = Paired(change, None, 1.0).p_value
            assert p_value is not None
            size += drawn * comb(total, up) / 2**total * (p_value < 0.05)
    assert 0.03 < size < 0.05


# -- clusters of unequal size --------------------------------------------------------------


def test_one_large_cluster_counts_for_what_it_is() -> None:
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(20), [50] + [3] * 19)
    change = rng.normal(0, 1, 20)[unit] + rng.normal(0, 1, len(unit))
    found = Paired(change, unit, 10.0)
    (note,) = found.notes
    assert note.code == "few-clusters"
    assert "20 clusters of unequal size, worth 4 equal ones" in note.text
    equal = Paired(change, np.arange(len(unit)) % 20, 10.0)
    assert found.se is not None
    assert equal.se is not None
    assert found.se > 1.5 * equal.se


def test_clusters_hardly_narrow_an_interval() -> None:
    # Every cluster has the same sum: the variance left is half of that without clusters.
    change, unit = np.tile([-1.0, 0.5, 1.5], 6), np.repeat(np.arange(6), 3)
    with_them, alone = Paired(change, unit, 3.0).se, Paired(change, None, 3.0).se
    assert with_them == pytest.approx(np.sqrt(0.5) * alone)


def test_a_single_cluster_is_a_single_observation() -> None:
    names = ["x"] * 6
    a = Outcomes.from_counts([1, 2, 3, 4, 2, 2], 6, clusters=names)
    b = Outcomes.from_counts([2, 3, 5, 4, 3, 1], 6, clusters=names)
    found = compare(a, b, "pass@1")
    assert [note.code for note in found.notes] == ["one-cluster"]
    assert found.se is None
    assert found.low == pytest.approx(found.value - 0.975 * (1 + found.value))
    assert found.decision.verdict == "undecided"


@pytest.mark.parametrize("sizes", [[30] * 3 + [2] * 30, [10] * 20, [1] * 10 + [10] * 10])
def test_the_size_of_the_test_with_clusters(sizes: list[int]) -> None:
    # Each cluster has a shift of its own, with mean 0; a rate of 0.1 is 5 deviations off.
    rng = np.random.default_rng(len(sizes))
    unit = np.repeat(np.arange(len(sizes)), sizes)
    rejected = 0
    for _ in range(500):
        change = rng.normal(0, 0.5, len(sizes))[unit] + rng.normal(0, 1, len(unit))
        p_value = Paired(change, unit, 50.0).p_value
        assert p_value is not None
        rejected += p_value < 0.05
    assert 5 <= rejected <= 50


# -- different numbers of trials -----------------------------------------------------------


def dealt(n_a: int, n_b: int, successes: int, k: int) -> tuple[Fraction, Fraction]:
    """Return the moments of pass@k of b - a over all ways to deal the trials, exactly."""

    def value(n: int, c: int) -> Fraction:
        return 1 - Fraction(comb(n - c, k), comb(n, k))

    trials = [1] * successes + [0] * (n_a + n_b - successes)
    found = []
    for chosen in combinations(range(n_a + n_b), n_a):
        of_a = sum(trials[i] for i in chosen)
        found.append(value(n_b, successes - of_a) - value(n_a, of_a))
    assert sum(found) == 0
    return (
        sum((d**2 for d in found), Fraction()) / len(found),
        sum((d**3 for d in found), Fraction()) / len(found),
    )


@pytest.mark.parametrize("k", [1, 2])
def test_moments_of_trials_dealt_at_random(k: int) -> None:
    trials_a, trials_b = [2, 2, 2, 3, 3, 2], [5, 5, 5, 4, 4, 3]
    a = Outcomes.from_counts([0, 1, 2, 1, 3, 0], trials_a)
    b = Outcomes.from_counts([0, 2, 5, 3, 0, 3], trials_b)
    found = permuted_moments(a, b, parse_metric(f"pass@{k}"))
    rows = zip(trials_a, trials_b, [0, 3, 7, 4, 3, 3], strict=True)
    exact = [dealt(*row, k) for row in rows]
    assert found.second == pytest.approx([float(second) for second, _ in exact])
    assert found.third == pytest.approx([float(third) for _, third in exact])


def test_moments_of_dealt_trials_bound_the_error_from_below() -> None:
    change = np.array([0.01, -0.01, 0.02, 0.0])
    alone = Paired(change, None, 1.0)
    rough = Permuted(np.full(4, 0.25), np.full(4, 0.1))
    bounded = Paired(change, None, 1.0, permuted=rough)
    assert bounded.se == pytest.approx(0.25)  # sqrt(4 * 0.25) / 4
    smooth = Permuted(np.full(4, 1e-9), np.zeros(4))
    assert Paired(change, None, 1.0, permuted=smooth).ends(0.95) == alone.ends(0.95)


def test_leaving_problems_out_is_comparing_the_others() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 5, 12), rng.integers(0, 9, 12)
    names = [f"c{i % 5}" for i in range(12)]
    whole = [Outcomes.from_counts(c, n, clusters=names) for c, n in ((a, 4), (b, 8))]
    kept = [0, 1, 3, 4, 6, 7, 8, 9, 11]
    unit = np.unique(names, return_inverse=True)[1]
    paired = Paired(
        b / 8 - a / 4,
        unit,
        1.0,
        permuted=permuted_moments(*whole, parse_metric("pass@1")),  # type: ignore[arg-type, call-arg]
    )
    part = [side.take(np.array(kept)) for side in whole]
    found = compare(*part, "pass@1")  # type: ignore[arg-type]
    assert paired.without(np.array([2, 5, 10])).ends(0.95) == pytest.approx((found.low, found.high))
