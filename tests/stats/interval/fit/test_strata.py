"""Strata of problems by their number of trials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.interval.fit.mixture import strata_of

sizes = st.dictionaries(st.integers(1, 200), st.integers(1, 9), min_size=1)


@pytest.mark.parametrize(
    ("problems", "expected"),
    [
        ({8: 3}, [[8]]),
        ({2: 50, 64: 50}, [[2], [64]]),
        ({2: 50, 64: 4}, [[2, 64]]),  # too few with 64 trials for a law of their own
        ({2: 4, 64: 50}, [[2, 64]]),
        ({1: 5, 2: 3, 3: 2, 4: 1, 7: 4, 8: 2}, [[1], [2, 3], [4, 7, 8]]),
    ],
)
def test_octaves_are_joined_until_they_have_five_problems(
    problems: dict[int, int], expected: list[list[int]]
) -> None:
    ns = list(problems)
    assert [ns[stratum] for stratum in strata_of(ns, list(problems.values()))] == expected


@given(problems=sizes)
def test_every_number_of_trials_is_in_one_stratum(problems: dict[int, int]) -> None:
    ns = sorted(problems)
    found = strata_of(ns, [problems[n] for n in ns])
    assert [n for stratum in found for n in ns[stratum]] == ns
    if len(found) > 1:
        assert all(sum(problems[n] for n in ns[stratum]) >= 5 for stratum in found)
