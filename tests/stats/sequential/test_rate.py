"""The exact test of one rate: its errors by enumeration, its interval, and what it refuses."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.stats.sequential.rate import RatePlan, operating, rate_interval

SMALL = RatePlan(0.6, 10, 0.1, 0.8)


def ending(plan: RatePlan, path: tuple[int, ...]) -> tuple[str, int, int]:
    """Return verdict, trials and successes where a path of 0 and 1 stops."""
    for n in range(1, len(path) + 1):
        verdict = plan.verdict(n, sum(path[:n]))
        if verdict != "undecided":
            return verdict, n, sum(path[:n])
    return "undecided", len(path), sum(path)


def enumerated(plan: RatePlan, rate: Fraction) -> dict[tuple[str, int, int], Fraction]:
    """Return the exact probability of every way in which a test can end."""
    result: dict[tuple[str, int, int], Fraction] = {}
    for path in product((0, 1), repeat=plan.trials):
        probability = rate ** sum(path) * (1 - rate) ** (plan.trials - sum(path))
        end = ending(plan, path)
        result[end] = result.get(end, Fraction(0)) + probability
    return result


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 5), Fraction(9, 10)])
def test_operating_characteristics_are_those_of_all_paths(rate: Fraction) -> None:
    ends = enumerated(SMALL, rate)
    shares = {
        verdict: float(sum(p for end, p in ends.items() if end[0] == verdict))
        for verdict in ("pass", "fail", "undecided")
    }
    trials = float(sum(p * end[1] for end, p in ends.items()))
    expected = (shares["pass"], shares["fail"], shares["undecided"], trials)
    assert operating(SMALL, float(rate)) == pytest.approx(expected)


def test_the_interval_covers_at_every_rate() -> None:
    for numerator in range(1, 20, 3):
        rate = Fraction(numerator, 20)
        covered = Fraction(0)
        for (_, trials, successes), probability in enumerated(SMALL, rate).items():
            low, high = rate_interval(SMALL, trials, successes)
            covered += probability if low <= rate <= high else 0
        assert covered >= Fraction(8, 10)


@given(
    st.floats(0.3, 0.97),
    st.floats(0.0, 0.1),
    st.integers(60, 150),
    st.floats(0.0, 1.0),
    st.integers(0, 2**31),
)
def test_errors_are_bounded_and_the_interval_agrees_with_the_verdict(
    at_least: float, tolerance: float, trials: int, rate: float, seed: int
) -> None:
    plan = RatePlan(at_least, 2 * trials, tolerance, 0.9)
    assert operating(plan, at_least).fails <= plan.alpha + 1e-9
    assert operating(plan, plan.lowest).passes <= plan.alpha + 1e-9
    path = tuple((np.random.default_rng(seed).random(plan.trials) < rate).astype(int).tolist())
    verdict, n, successes = ending(plan, path)
    low, high = rate_interval(plan, n, successes)
    assert low <= successes / n <= high
    assert (low >= plan.lowest - 1e-6) == (verdict == "pass")
    assert verdict != "fail" or high <= at_least + 1e-6


def test_a_single_look_is_the_test_of_a_binomial_count() -> None:
    """0.9^28 = 0.052 and 0.9^35 = 0.0250: 36 successes in a row show a rate above 0.9."""
    plan = RatePlan(0.9, 36, looks=(36,))
    assert plan.verdict(35, 35) == "undecided"
    assert plan.verdict(36, 36) == "pass"
    low, high = rate_interval(plan, 36, 36)
    assert (low, high) == (pytest.approx(0.025 ** (1 / 36), abs=1e-6), 1.0)


def test_a_rate_of_one_fails_at_the_first_failure() -> None:
    plan = RatePlan(1.0, 100, 0.1)
    assert plan.verdict(20, 19) == "fail"
    assert operating(plan, 1.0) == pytest.approx((1.0, 0.0, 0.0, 47.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.99, 100), "takes 368 successes in a row"),
        ((0.01, 100), "takes 368 failures in a row"),
        ((1.0, 100), "no number of trials can show a rate of 1"),
        ((0.9, 100, 0.9), "tolerance must be 0 or more, and below at_least"),
        ((1.1, 100), "at_least must be a number between 0 and 1"),
        ((0.9, 10**6), "trials must be at most"),
        ((0.9, 0), "trials must be"),
    ],
)
def test_plans_that_cannot_end_are_refused(arguments: tuple[float, int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        RatePlan(*arguments)


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no more successes than trials"):
        rate_interval(SMALL, 5, 6)
    for trials, successes in ((100, 0), (50, 50)):  # it would have stopped at 4, and at 47
        with pytest.raises(InvalidInput, match="would have stopped"):
            rate_interval(RatePlan(0.9), trials, successes)
