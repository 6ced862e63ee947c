"""Designs: kept as they are where they can be, and similar numbers of trials joined."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.data.counts import Histogram
from passband.stats.interval.certify.simulation import SimulatedDesign


def histogram(trials: list[int]) -> Histogram:
    return Histogram.of_counts(np.array(trials), np.zeros(len(trials), dtype=int))


def test_few_numbers_are_kept() -> None:
    design = SimulatedDesign.of(histogram([2, 2, 8, 64]), 2)
    assert design == SimulatedDesign((2, 8, 64), (2, 1, 1))
    assert design.trials().tolist() == [2, 2, 8, 64]
    assert design.n_pairs == 3 + 9 + 65


def test_numbers_beyond_what_is_simulated_are_cut() -> None:
    assert SimulatedDesign.of(histogram([10, 5000]), 1).ns == (10, 256)
    assert SimulatedDesign.of(histogram([400, 5000]), 300).ns == (400, 600)


@given(st.lists(st.integers(2, 300), min_size=1, max_size=60), st.integers(1, 2))
def test_many_numbers_are_joined(trials: list[int], k: int) -> None:
    design = SimulatedDesign.of(histogram(trials), k)
    assert design.n_problems == len(trials)
    assert len(design.ns) <= 8
    below = sum(n < 2 * k for n in trials)
    joined = sum(m for n, m in zip(design.ns, design.problems, strict=True) if n < 2 * k)
    assert joined == below
    assert min(design.ns) >= min(*trials, 256)
    assert set(design.nearest(np.array(trials)).tolist()) <= set(design.ns)


def test_many_pairs_are_simulated_less_often() -> None:
    assert SimulatedDesign((16,), (200,)).affordable(500) == 500
    assert 100 <= SimulatedDesign((256, 255, 254), (1, 1, 1)).affordable(500) < 500
    assert SimulatedDesign((2000,), (9,)).affordable(40) == 40
