"""Intervals for problems that come in clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes
from passband.stats.interval.default.clusters import cluster_sums, over_clusters
from passband.stats.interval.default.wilson import over_problems
from passband.stats.interval.request import mixture_of


def values(outcomes: Outcomes, k: int = 1) -> np.ndarray:
    lattice = mixture_of(outcomes, k).grid
    return lattice.successes / lattice.trials


def test_sums_of_clusters_by_hand() -> None:
    outcomes = Outcomes.from_counts([1, 4, 2, 0, 1], [4, 4, 4, 2, 1], clusters=list("babac"))
    mixture = mixture_of(outcomes, 2)
    sums, count = cluster_sums(outcomes, mixture, values(outcomes, 2), 2)
    assert count == 2  # the last problem has too few trials, and its cluster no other
    assert sums.tolist() == [1.0 + 0.0, 0.25 + 0.5]  # a, then b


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
