"""Pairs that read a table of levels, next to those that search with the intervals themselves."""

from typing import Any

import numpy as np
import pytest

from passband import Outcomes
from passband.stats.decision.difference import Independent
from passband.stats.decision.ranking.cached_sides import (
    CachedIndependent,
    EndCurve,
    SideTables,
    crossing,
)
from passband.stats.metric.registry import parse_metric


def curve(function: Any) -> EndCurve:
    return EndCurve(np.array([function(0.25 * node) for node in range(25)]), function)


def test_a_smooth_crossing_is_exact_to_eight_digits() -> None:
    one, two = curve(lambda z: 0.1 * z + 0.01 * z**2), curve(lambda z: np.sinh(z / 5) / 9)
    for z in (0.1, 0.9, 2.4, 3.33, 5.9):
        distance = np.hypot(one.exact(z), two.exact(z))
        assert crossing(distance, one, two) == pytest.approx(z, abs=1e-8)


@pytest.mark.parametrize("kink", [1.0, 1.1, 1.26, 5.99])
def test_a_crossing_next_to_a_kink_is_searched(kink: float) -> None:
    one, two = curve(lambda z: min(0.3 * z, 0.3 * kink)), curve(lambda z: 0.05 * z)
    for z in (0.5, kink - 0.02, kink + 0.01):
        distance = np.hypot(one.exact(z), two.exact(z))
        assert crossing(distance, one, two) == pytest.approx(z, abs=1e-6)


def test_a_crossing_beyond_the_table_or_before_it() -> None:
    one, two = curve(lambda z: 0.1 * z + 0.01), curve(lambda z: 0.1 * z)
    assert crossing(2.0, one, two) == 6.0
    assert crossing(0.001, one, two) is None
    wave = curve(lambda z: np.sin(z))
    assert crossing(0.5, wave, wave) is None


@pytest.mark.parametrize(
    ("problems", "n", "metric"), [(60, 8, "pass@1"), (12, 4, "pass@2"), (5, 3, "pass@1")]
)
def test_pairs_of_a_table_have_the_numbers_of_a_search(problems: int, n: int, metric: str) -> None:
    rng = np.random.default_rng(problems)
    p = rng.beta(0.6, 0.5, problems)
    sides = [
        Outcomes.from_counts(rng.binomial(n, np.clip(p + shift, 0, 1)), n)
        for shift in (0.0, 0.1, 0.4)
    ]
    tables: SideTables = {}
    for i, j in ((0, 1), (2, 0)):
        both = sides[i], sides[j], parse_metric(metric), "trials"
        fast, plain = CachedIndependent(*both, tables=tables), Independent(*both)  # type: ignore[arg-type]
        assert fast.ends(0.97) == plain.ends(0.97)
        assert (fast.value, fast.se, fast.notes) == (plain.value, plain.se, plain.notes)
        assert fast.p_value == pytest.approx(plain.p_value, abs=1e-6)
        assert fast.tail(0.05) == pytest.approx(plain.tail(0.05), abs=1e-6)
