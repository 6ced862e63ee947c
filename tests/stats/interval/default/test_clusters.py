"""Intervals for problems that come in clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.notes import joined
from passband.stats.interval.default.clusters import cluster_values, over_clusters
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
